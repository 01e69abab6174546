// Products and inverses of matrices, and Fourier transforms.
#include <algorithm>
#include <cmath>

#include "cuda/codegen/families.h"
#include "cuda/codegen/product.h"

namespace alloy::cuda {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;

// Stacks of matrices: the steps from line to line and from term to term, and along R axes to other matrices.
constexpr char kStacks[] = R"cuda(
template <int R, class T, bool ALONG, int WIDTH>
struct StackedMatrix {
  static const bool kAlong = ALONG, kRuns = true, kSkips = false;
  static const int kWidth = WIDTH;
  typedef T Element;
  typedef const T* Line;
  typedef i64 Term;
  const T* from;
  i64 line_step, term_step;
  const i64 *lengths, *steps;
  __device__ Line line(i64 matrix, i64 i) const { return from + place<R>(matrix, lengths, steps) + i * line_step; }
  __device__ Term term(i64 k) const { return k * term_step; }
  __device__ void advance(Term& term, Term by) const { term += by; }
  __device__ const T* at(Line line, Term term, bool&) const { return line + term; }
  __device__ int run(Term, int) const { return 1 << 24; }
  __device__ i64 distance(int terms) const { return terms * (ALONG ? 1 : term_step); }
  __device__ void skip(Term& term, int by) const { term += by * term_step; }
};

template <int WIDTH>
struct PackedPlaces {
  static const bool kRowsFirst = false;
  static const int kWidth = WIDTH;
  i64 rows, columns;
  __device__ i64 row(i64 matrix, i64 i) const { return (matrix * rows + i) * columns; }
  __device__ i64 column(i64, i64 i) const { return i; }
};
)cuda";

constexpr char kMatrices[] = R"cuda(
// A block eliminates [x | identity] to [identity | inverse], with the greatest pivot first.
__device__ inline void invert(const float* x, float* y, double* scratch, i64 matrices, i64 size) {
  __shared__ double factors[1];
  __shared__ i64 pivots[1];
  const i64 wide = 2 * size;
  for (i64 matrix = blockIdx.x; matrix < matrices; matrix += gridDim.x) {
    double* const both = scratch + matrix * size * wide;
    for (i64 i = threadIdx.x; i < size * wide; i += blockDim.x) {
      const i64 row = i / wide, column = i % wide;
      both[i] = column < size ? (double)x[(matrix * size + row) * size + column] : column - size == row ? 1.0 : 0.0;
    }
    __syncthreads();
    for (i64 k = 0; k < size; ++k) {
      if (threadIdx.x == 0) {
        i64 pivot = k;
        for (i64 i = k; i < size; ++i) {
          if (fabs(both[i * wide + k]) > fabs(both[pivot * wide + k])) pivot = i;
        }
        pivots[0] = pivot;
        factors[0] = both[pivot * wide + k];
      }
      __syncthreads();
      const i64 pivot = pivots[0];
      for (i64 j = threadIdx.x; j < wide; j += blockDim.x) {
        const double from_pivot = both[pivot * wide + j];
        both[pivot * wide + j] = both[k * wide + j];
        both[k * wide + j] = from_pivot / factors[0];
      }
      __syncthreads();
      // Column k is read by all, so it is cleared last.
      for (i64 i = threadIdx.x; i < size * wide; i += blockDim.x) {
        const i64 row = i / wide, column = i % wide;
        if (row != k && column != k) both[i] -= both[row * wide + k] * both[k * wide + column];
      }
      __syncthreads();
      for (i64 row = threadIdx.x; row < size; row += blockDim.x) {
        if (row != k) both[row * wide + k] = 0;
      }
      __syncthreads();
    }
    for (i64 i = threadIdx.x; i < size * size; i += blockDim.x) {
      y[matrix * size * size + i] = (float)both[i / size * wide + size + i % size];
    }
  }
}

// One axis of `length` complex numbers at distance `step`, by the definition.
__device__ inline void transform(const float* x, float* y, i64 count, i64 length, i64 step, double sign, double scale) {
  for (i64 i = first_index(); i < count; i += index_step()) {
    const i64 row = quotient(i, step), line = quotient(row, length), to = row - line * length;
    const float* const from = x + 2 * (line * length * step + (i - row * step));
    double re = 0, im = 0;
    for (i64 k = 0; k < length; ++k) {
      double s, c;
      sincospi(sign * 2 * (double)(k * to % length) / (double)length, &s, &c);
      const double a = from[2 * k * step], b = from[2 * k * step + 1];
      re += a * c - b * s;
      im += a * s + b * c;
    }
    y[2 * i] = (float)(scale * re);
    y[2 * i + 1] = (float)(scale * im);
  }
}
)cuda";

}  // namespace

Product product_of_matrices(const Op& op, const Sides& sides, Factor left, Factor right, const Axes& stack) {
  const std::string rank = std::to_string(stack.rank());
  // Neighbours in memory are terms of a sum, unless the matrix is transposed.
  const auto matrix = [&](Factor factor, size_t number, bool along, int64_t neighbours) {
    const ir::DType dtype = op.operands[factor.operand].dtype();
    const size_t first = Product::kOwn + 2 * number, lengths = Product::kOwn + 4;
    return filled("StackedMatrix<@, @, @, @>{(const @*)p[@], n[@], n[@], n + @, n + @ + @ * @}",
                  {rank, element_of(dtype), along ? "true" : "false", width_of(neighbours, dtype), element_of(dtype),
                   std::to_string(factor.operand), std::to_string(first), std::to_string(first + 1),
                   std::to_string(lengths), std::to_string(lengths), std::to_string(number + 1), rank});
  };
  const auto [rows, inner, columns] = sides;
  std::vector<int64_t> numbers{left.turned ? 1 : inner, left.turned ? rows : 1, right.turned ? inner : 1,
                               right.turned ? 1 : columns};
  stack.append_to(numbers);
  return Product{{kStacks},
                 matrix(left, 0, !left.turned, left.turned ? rows : inner),
                 matrix(right, 1, right.turned, right.turned ? inner : columns),
                 "PackedPlaces<@>{n[0], n[1]}",
                 columns % 4 == 0 ? 4 : 1,
                 columns,
                 stack.count(),
                 {{std::move(numbers), rows, inner}}};
}

std::optional<Product> product_of_matmul(const Op& op) {
  const bool ta = op.attributes.flag(Attr::kTransposeA), tb = op.attributes.flag(Attr::kTransposeB);
  const Dims &a = op.operands[0].shape().dims(), &b = op.operands[1].shape().dims(), &y = op.results[0].shape.dims();
  const Sides sides{y[y.size() - 2], a[a.size() - (ta ? 2 : 1)], y.back()};
  const Dims stack(y.begin(), y.end() - 2), of_a(a.begin(), a.end() - 2), of_b(b.begin(), b.end() - 2);
  Axes axes{stack, {steps_of(of_a, stack), steps_of(of_b, stack)}};
  for (int64_t& step : axes.steps[0]) step *= sides.rows * sides.inner;
  for (int64_t& step : axes.steps[1]) step *= sides.inner * sides.columns;
  return product_of_matrices(op, sides, {0, ta}, {1, tb}, joined(axes));
}

Code code_of_matmul(const Op& op) {
  if (!multiplies(op.operands[0].dtype())) throw Lacking();
  return product_of(op) ? code_of_product(op, storing(op)) : Code{};
}

Code code_of_inverse(const Op& op) {
  require_float(op);
  const int64_t size = op.operands[0].shape().dims().back(), count = op.operands[0].shape().element_count();
  Code code;
  if (count == 0) return code;
  const int64_t matrices = count / (size * size);
  Launch launch{{kMatrices},
                "  invert((const float*)p[0], (float*)p[1], (double*)p[2], n[0], n[1]);\n",
                {operand(0), result(0), scratch(0)},
                {matrices, size}};
  launch.blocks = static_cast<unsigned>(std::min<int64_t>(matrices, 1 << 16));
  code.launches.push_back(std::move(launch));
  code.scratch = static_cast<size_t>(2 * count) * sizeof(double);
  return code;
}

Code code_of_fourier_transform(const Op& op) {
  require_float(op);
  const std::string& scaling = op.attributes.word(Attr::kScaling);
  const Dims &dims = op.operands[0].shape().dims(), &axes = op.attributes.ints(Attr::kAxes);
  const int64_t count = count_of(dims) / 2, bytes = count * 8;
  Code code;
  if (count == 0) return code;
  if (axes.empty()) return code_of_copy(op);
  code.scratch = static_cast<size_t>(std::min<int64_t>(axes.size() - 1, 2) * bytes);
  Pointer from = operand(0);
  for (int64_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = *ir::normalize_axis(axes[i], dims.size() - 1), length = dims[axis];
    // Between the axes, two arrays take turns.
    const Pointer to = i + 1 == axes.size() ? result(0) : scratch(static_cast<size_t>(i % 2 * bytes));
    const std::string scale = scaling == "none" ? "1.0" : scaling == "size" ? "1.0 / n[1]" : "1.0 / sqrt((double)n[1])";
    code.launches.push_back(
        launch_for(count, {kMatrices},
                   filled("  transform((const float*)p[0], (float*)p[1], n[0], n[1], n[2], @, @);\n",
                          {op.attributes.flag(Attr::kInverse) ? "1.0" : "-1.0", scale}),
                   {from, to}, {count, length, count_of(dims, axis + 1, dims.size() - 1)}));
    from = to;
  }
  return code;
}

}  // namespace alloy::cuda
