// Softmax, its logarithm, and the cross entropy. A block computes a row.
#include <algorithm>

#include "cuda/codegen/families.h"

namespace alloy::cuda {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;

constexpr char kSoftmax[] = R"cuda(
struct Greatest { float value; i64 at; };

// A row of `length` elements at distance `step`, of which the greatest adds 1 to the sum of exponentials: that is kept
// apart, because it would hide a small sum of the others.
struct Row {
  const float* x;
  i64 length, step;
  Greatest greatest;
  double others;

  __device__ Row(const float* from, i64 row, const i64* n) : length(n[1]), step(n[2]) {
    __shared__ Greatest all_greatest[256];
    double* const sums = (double*)shared_memory<256 * sizeof(double)>();
    const i64 outer = quotient(row, step);
    x = from + outer * length * step + (row - outer * step);
    Greatest own = {0, -1};
    for (i64 i = threadIdx.x; i < length; i += blockDim.x) {
      const float value = x[i * step];
      if (value == value && (own.at < 0 || value > own.value)) own = Greatest{value, i};
    }
    greatest = merged_in_block(own, all_greatest, [](Greatest a, Greatest b) {
      if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
      return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a;
    });
    double sum = 0;
    for (i64 i = threadIdx.x; i < length; i += blockDim.x) {
      if (i != greatest.at) sum += expf(x[i * step] - greatest.value);
    }
    others = merged_in_block(sum, sums, [](double a, double b) { return a + b; });
  }
  __device__ i64 place(const float* from, i64 i) const { return x - from + i * step; }
};

__device__ inline void softmax(const float* x, float* y, const i64* n) {
  for (i64 r = blockIdx.x; r < n[0]; r += gridDim.x) {
    const Row row(x, r, n);
    const float factor = (float)(1 / (1 + row.others));
    for (i64 i = threadIdx.x; i < row.length; i += blockDim.x) {
      y[row.place(x, i)] = expf(row.x[i * row.step] - row.greatest.value) * factor;
    }
  }
}

__device__ inline void log_softmax(const float* x, float* y, const i64* n) {
  for (i64 r = blockIdx.x; r < n[0]; r += gridDim.x) {
    const Row row(x, r, n);
    const float log_sum = (float)log1p(row.others);
    for (i64 i = threadIdx.x; i < row.length; i += blockDim.x) {
      y[row.place(x, i)] = row.x[i * row.step] - row.greatest.value - log_sum;
    }
  }
}

template <class R>
__device__ inline void cross_entropy(const float* x, const float* labels, R* losses, const i64* n) {
  double* const sums = (double*)shared_memory<256 * sizeof(double)>();
  for (i64 r = blockIdx.x; r < n[0]; r += gridDim.x) {
    const Row row(x, r, n);
    const double log_sum = log1p(row.others);
    double loss = 0;
    for (i64 i = threadIdx.x; i < row.length; i += blockDim.x) {
      const float label = labels[row.place(x, i)];
      if (label != 0) loss -= label * ((double)(row.x[i * row.step] - row.greatest.value) - log_sum);
    }
    loss = merged_in_block(loss, sums, [](double a, double b) { return a + b; });
    if (threadIdx.x == 0) losses[r] = (R)loss;
  }
}

// One block computes it.
__device__ inline void sum_losses(const double* losses, float* to, i64 count, i64 divisor) {
  if (blockIdx.x > 0) return;
  double* const sums = (double*)shared_memory<256 * sizeof(double)>();
  double sum = 0;
  for (i64 i = threadIdx.x; i < count; i += blockDim.x) sum += losses[i];
  sum = merged_in_block(sum, sums, [](double a, double b) { return a + b; });
  if (threadIdx.x == 0) to[0] = (float)(sum / (double)divisor);
}
)cuda";

Launch rows_of(const Op& op, const std::string& body, std::vector<Pointer> pointers) {
  require_float(op);
  const Dims& dims = op.operands[0].shape().dims();
  const int64_t axis = axis_of(op), length = dims[axis], step = count_of(dims, axis + 1, dims.size());
  const int64_t rows = count_of(dims, 0, axis) * step;
  Launch launch{{kSoftmax}, body, std::move(pointers), {rows, length, step}};
  launch.blocks = static_cast<unsigned>(std::clamp<int64_t>(rows, 1, 1 << 16));
  launch.threads = length <= 64 ? 32 : length <= 256 ? 64 : 256;
  return launch;
}

Code code_of_softmax_rows(const Op& op, const std::string& function) {
  Code code;
  if (op.results[0].shape.element_count() > 0) {
    code.launches.push_back(
        rows_of(op, "  " + function + "((const float*)p[0], (float*)p[1], n);\n", {operand(0), result(0)}));
  }
  return code;
}

}  // namespace

Code code_of_softmax(const Op& op) { return code_of_softmax_rows(op, "softmax"); }
Code code_of_log_softmax(const Op& op) { return code_of_softmax_rows(op, "log_softmax"); }

Code code_of_softmax_cross_entropy(const Op& op) {
  const std::string& reduction = op.attributes.word(Attr::kReduction);
  const bool keeps = reduction == "none";
  Code code;
  Launch rows = rows_of(
      op,
      filled("  cross_entropy((const float*)p[0], (const float*)p[1], (@*)p[2], n);\n", {keeps ? "float" : "double"}),
      {operand(0), operand(1), keeps ? result(0) : scratch(0)});
  const int64_t count = rows.numbers[0];
  if (count > 0) code.launches.push_back(std::move(rows));
  if (keeps) return code;
  code.scratch = static_cast<size_t>(count) * 8;
  Launch sum{{kSoftmax}, "  sum_losses((const double*)p[0], (float*)p[1], n[0], n[1]);\n", {scratch(0), result(0)}, {}};
  sum.numbers = {count, reduction == "mean" ? count : 1};
  code.launches.push_back(std::move(sum));
  return code;
}

}  // namespace alloy::cuda
