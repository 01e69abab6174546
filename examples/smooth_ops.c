/* A library of ops: the moving average of a signal, with its gradient, and where a signal crosses zero.

   gcc -O2 -shared -fPIC -I"$(python -c 'import alloy; print(alloy.OpLibrary.include)')" smooth_ops.c -o smooth_ops.so

   In Python: ops = al.load_op_library("smooth_ops.so"), then ops.smooth(x, width). */
#include <alloy/op_library.h>
#include <stdio.h>
#include <string.h>

static int64_t length_of(const AlloyTensor* x) { return x->extents[x->axes - 1]; }

static int64_t rows_of(const AlloyTensor* x) {
  int64_t rows = 1;
  for (int32_t i = 0; i + 1 < x->axes; ++i) rows *= x->extents[i];
  return rows;
}

/* A signal float32 (..., length), and how many neighbours to each side, int32 (). */
static int smooth_rule(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  if (inputs[0].type != ALLOY_FLOAT32 || inputs[0].axes == 0) {
    snprintf(message, ALLOY_MESSAGE_SIZE, "Expected signals of float32 along the last axis");
    return 1;
  }
  if (inputs[1].type != ALLOY_INT32 || (inputs[1].axes != 0 && inputs[1].axes != ALLOY_UNKNOWN)) {
    snprintf(message, ALLOY_MESSAGE_SIZE, "Expected a width of int32 and without axes");
    return 1;
  }
  results[0] = inputs[0]; /* the type and all that is known of the shape */
  return 0;
}

static int width_of(const AlloyTensor* width, int64_t* out, char* message) {
  *out = *(const int32_t*)width->data;
  if (*out >= 0) return 0;
  snprintf(message, ALLOY_MESSAGE_SIZE, "Expected a width of 0 or more, got %d", (int)*out);
  return 1;
}

/* Element i is the mean of those from i - width to i + width that are there. With the sums of the transposed, where
   each element is given its share of every mean that it is in, this is its own gradient. */
static void average(const float* x, float* y, int64_t n, int64_t width, int is_gradient) {
  if (is_gradient) memset(y, 0, (size_t)n * sizeof *y);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t first = i - width < 0 ? 0 : i - width, last = i + width >= n ? n - 1 : i + width;
    const float share = 1.0f / (float)(last - first + 1);
    float sum = 0;
    for (int64_t j = first; j <= last; ++j) {
      if (is_gradient) y[j] += x[i] * share;
      else sum += x[j] * share;
    }
    if (!is_gradient) y[i] = sum;
  }
}

static int smooth(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  int64_t width;
  if (width_of(&inputs[1], &width, message) != 0) return 1;
  const int64_t n = length_of(&inputs[0]), rows = rows_of(&inputs[0]);
  for (int64_t r = 0; r < rows; ++r) {
    average((const float*)inputs[0].data + r * n, (float*)results[0].data + r * n, n, width, 0);
  }
  return 0;
}

/* Signal, width, result, and the gradient that comes back to the result: the gradient of the signal. */
static int smooth_gradient_rule(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  (void)message;
  results[0] = inputs[0];
  return 0;
}

static int smooth_gradient(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  int64_t width;
  if (width_of(&inputs[1], &width, message) != 0) return 1;
  const int64_t n = length_of(&inputs[0]), rows = rows_of(&inputs[0]);
  for (int64_t r = 0; r < rows; ++r) {
    average((const float*)inputs[3].data + r * n, (float*)results[0].data + r * n, n, width, 1);
  }
  return 0;
}

/* Of a signal: 1 where it has another sign than the element before, and how often that is, int32. */
static int crossings_rule(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  if (smooth_rule((const AlloyTensor[]){inputs[0], {.type = ALLOY_INT32}}, results, message) != 0) return 1;
  results[0].type = ALLOY_BOOL;
  results[1] = inputs[0];
  results[1].type = ALLOY_INT32;
  if (inputs[0].axes != ALLOY_UNKNOWN) results[1].axes = inputs[0].axes - 1;
  return 0;
}

static int crossings(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  (void)message;
  const int64_t n = length_of(&inputs[0]), rows = rows_of(&inputs[0]);
  for (int64_t r = 0; r < rows; ++r) {
    const float* x = (const float*)inputs[0].data + r * n;
    uint8_t* crosses = (uint8_t*)results[0].data + r * n;
    int32_t* count = (int32_t*)results[1].data + r;
    *count = 0;
    for (int64_t i = 0; i < n; ++i) *count += crosses[i] = i > 0 && (x[i] < 0) != (x[i - 1] < 0);
  }
  return 0;
}

static const AlloyOp ops[] = {
    {"smooth", "The mean over some neighbours on each side: of (..., length), float32; their number, int32.", 2, 1,
     smooth_rule, smooth, "smooth_gradient"},
    {"smooth_gradient", "The gradient of smooth.", 4, 1, smooth_gradient_rule, smooth_gradient, NULL},
    {"crossings", "Where the sign changes, bool (..., length), and how often, int32 (...).", 1, 2, crossings_rule,
     crossings, NULL},
};

static const AlloyOpLibrary library = {ALLOY_OP_LIBRARY_VERSION, 3, "smooth_ops", ops};

const AlloyOpLibrary* alloy_op_library(void) { return &library; }
