/* Ops for tests/python/ops/test_op_library.py; with macros, libraries that are not as they should be. */
#include <alloy/op_library.h>
#include <stdio.h>
#include <string.h>

#ifndef VERSION
#define VERSION ALLOY_OP_LIBRARY_VERSION
#endif
#ifndef NAME
#define NAME "trial"
#endif

static int64_t count_of(const AlloyTensor* x) {
  int64_t count = 1;
  for (int32_t i = 0; i < x->axes; ++i) count *= x->extents[i];
  return count;
}

static int64_t width_of(const AlloyTensor* x) {
  switch (x->type) {
    case ALLOY_BOOL:
    case ALLOY_INT8:
    case ALLOY_UINT8: return 1;
    case ALLOY_INT16:
    case ALLOY_UINT16:
    case ALLOY_FLOAT16:
    case ALLOY_BFLOAT16: return 2;
    case ALLOY_INT64:
    case ALLOY_UINT64: return 8;
    default: return 4;
  }
}

/* Results like the inputs of those numbers. */
static int like_first(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  (void)message;
  results[0] = inputs[0];
  return 0;
}

static int like_both(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  (void)message;
  results[0] = inputs[0];
  results[1] = inputs[1];
  return 0;
}

/* -x of any float, by its sign's bit. */
static void negate_array(const AlloyTensor* x, AlloyTensor* y) {
  const int64_t count = count_of(x);
  for (int64_t i = 0; i < count; ++i) {
    if (width_of(x) == 2) ((uint16_t*)y->data)[i] = ((const uint16_t*)x->data)[i] ^ 0x8000u;
    else ((uint32_t*)y->data)[i] = ((const uint32_t*)x->data)[i] ^ 0x80000000u;
  }
}

static int negate(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  (void)message;
  negate_array(&inputs[0], &results[0]);
  return 0;
}

static int negate_gradient(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  (void)message;
  negate_array(&inputs[2], &results[0]);
  return 0;
}

/* Any array as it is. */
static int copied(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  (void)message;
  memcpy(results[0].data, inputs[0].data, (size_t)(count_of(&inputs[0]) * width_of(&inputs[0])));
  return 0;
}

/* Of vectors a and b of float32 and of integers n: a b, the whole numbers n + 1, and the sum of a. */
static int mixed_rule(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  if (inputs[0].type != ALLOY_FLOAT32 || inputs[1].type != ALLOY_FLOAT32 || inputs[2].type != ALLOY_INT32) {
    snprintf(message, ALLOY_MESSAGE_SIZE, "Expected float32, float32 and int32.\n");
    return 7;
  }
  results[0] = inputs[0];
  results[1] = inputs[2];
  results[2] = inputs[0];
  results[2].axes = 0;
  return 0;
}

static int mixed(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  (void)message;
  const float *a = inputs[0].data, *b = inputs[1].data;
  float sum = 0;
  for (int64_t i = 0; i < count_of(&inputs[0]); ++i) {
    ((float*)results[0].data)[i] = a[i] * b[i];
    sum += a[i];
  }
  for (int64_t i = 0; i < count_of(&inputs[2]); ++i) {
    ((int32_t*)results[1].data)[i] = ((const int32_t*)inputs[2].data)[i] + 1;
  }
  *(float*)results[2].data = sum;
  return 0;
}

/* Inputs a, b, n, the results, and the gradients of the first and the third one. */
static int mixed_gradient(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  (void)message;
  const float *a = inputs[0].data, *b = inputs[1].data, *g = inputs[6].data, of_sum = *(const float*)inputs[7].data;
  for (int64_t i = 0; i < count_of(&inputs[0]); ++i) {
    ((float*)results[0].data)[i] = g[i] * b[i] + of_sum;
    ((float*)results[1].data)[i] = g[i] * a[i];
  }
  return 0;
}

/* x, unless an element is below 0. */
static int positive(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  const float* x = inputs[0].data;
  for (int64_t i = 0; i < count_of(&inputs[0]); ++i) {
    if (x[i] >= 0) continue;
    snprintf(message, ALLOY_MESSAGE_SIZE, "Expected numbers of 0 or more, got %g", x[i]);
    return 1;
  }
  return copied(inputs, results, message);
}

static int fails(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  (void)inputs, (void)results, (void)message;
  return 1;
}

static int fails_at_length(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  (void)inputs, (void)results;
  memset(message, 'x', ALLOY_MESSAGE_SIZE);
  return 1;
}

#define NONSENSE(name, what)                                                        \
  static int name(const AlloyTensor* inputs, AlloyTensor* results, char* message) { \
    (void)message;                                                                  \
    results[0] = inputs[0];                                                         \
    what;                                                                           \
    return 0;                                                                       \
  }
NONSENSE(no_type, results[0].type = 99)
NONSENSE(many_axes, results[0].axes = 17)
NONSENSE(few_axes, results[0].axes = -2)
NONSENSE(negative, results[0].extents[0] = -5)
NONSENSE(unknown, results[0].extents[0] = ALLOY_UNKNOWN)
NONSENSE(huge, results[0].extents[0] = INT64_C(1) << 60)
NONSENSE(empty, results[0].extents[0] = 0)
NONSENSE(shorter, results[0].extents[0] = inputs[0].extents[0] - 1)
static int nothing(const AlloyTensor* inputs, AlloyTensor* results, char* message) {
  (void)inputs, (void)results, (void)message;
  return 0;
}

static const AlloyOp ops[] = {{"negate", "-x.", 1, 1, like_first, negate, "negate_gradient"},
                              {"negate_gradient", NULL, 3, 1, like_first, negate_gradient, "twice_gradient"},
                              /* of x, y, g, -g and the gradient of -g: those of x, y and g */
                              {"twice_gradient", NULL, 5, 3, fails, fails, NULL},
                              {"copy", NULL, 1, 1, like_first, copied, NULL},
                              {"mixed", "a b, n + 1, and the sum of a.", 3, 3, mixed_rule, mixed, "mixed_gradient"},
                              {"mixed_gradient", NULL, 8, 2, like_both, mixed_gradient, NULL},
                              {"positive", NULL, 1, 1, like_first, positive, "positive_gradient"},
                              {"positive_gradient", NULL, 3, 1, like_first, positive, NULL},
                              {"fails", NULL, 1, 1, like_first, fails, NULL},
                              {"fails_at_length", NULL, 1, 1, like_first, fails_at_length, NULL},
                              {"rule_fails", NULL, 1, 1, fails, copied, NULL},
                              {"no_type", NULL, 1, 1, no_type, copied, NULL},
                              {"many_axes", NULL, 1, 1, many_axes, copied, NULL},
                              {"few_axes", NULL, 1, 1, few_axes, copied, NULL},
                              {"negative", NULL, 1, 1, negative, copied, NULL},
                              {"unknown", NULL, 1, 1, unknown, copied, NULL},
                              {"huge", NULL, 1, 1, huge, copied, NULL},
                              {"empty", NULL, 1, 1, empty, copied, NULL},
                              {"nothing", NULL, 1, 1, nothing, copied, NULL},
                              {"steep", NULL, 1, 1, like_first, copied, "steep_gradient"},
                              {"steep_gradient", NULL, 3, 1, shorter, copied, NULL},
#ifdef MORE
                              MORE
#endif
};

static const AlloyOpLibrary library = {VERSION, sizeof ops / sizeof *ops, NAME, ops};

#ifdef NO_TABLE
const AlloyOpLibrary* alloy_op_library(void) { return library.count < 0 ? &library : NULL; }
#elif !defined(NO_ENTRY)
const AlloyOpLibrary* alloy_op_library(void) { return &library; }
#else
const void* other(void) { return &library; }
#endif
