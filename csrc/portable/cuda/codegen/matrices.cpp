// Products and inverses of matrices, and Fourier transforms.
#include <algorithm>
#include <cmath>

#include "cuda/codegen/families.h"

namespace alloy::cuda {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;

constexpr char kMatrices[] = R"cuda(
// A block computes 64 x 64 elements of the result, a thread 4 x 4 of them. Each operand has a step along its rows and
// one along its columns, so it may be transposed.
template <int R>
__device__ inline void matmul(const float* a, const float* b, float* y, const i64* n) {
  __shared__ float left[16][68], right[16][68];
  const i64 rows = n[0], columns = n[1], inner = n[2], a_row = n[3], a_inner = n[4], b_inner = n[5], b_column = n[6];
  const i64 tiles_across = (columns + 63) / 64, tiles = tiles_across * ((rows + 63) / 64);
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  for (i64 block = blockIdx.x; block < tiles * n[7]; block += gridDim.x) {
    const i64 matrix = quotient(block, tiles), tile = block - matrix * tiles;
    const i64 first_row = quotient(tile, tiles_across) * 64, first_column = (tile % tiles_across) * 64;
    const float* const from_a = a + place<R>(matrix, n + 8, n + 8 + R);
    const float* const from_b = b + place<R>(matrix, n + 8, n + 8 + 2 * R);
    float sums[4][4] = {};
    for (i64 k0 = 0; k0 < inner; k0 += 16) {
      __syncthreads();
      // Neighbouring threads read along the axis whose elements are neighbours.
      for (int i = threadIdx.x; i < 1024; i += 256) {
        const int k = a_inner == 1 ? i % 16 : i / 64, m = a_inner == 1 ? i / 16 : i % 64;
        const bool inside = first_row + m < rows && k0 + k < inner;
        left[k][m] = inside ? from_a[(first_row + m) * a_row + (k0 + k) * a_inner] : 0;
      }
      for (int i = threadIdx.x; i < 1024; i += 256) {
        const int k = b_inner == 1 ? i % 16 : i / 64, m = b_inner == 1 ? i / 16 : i % 64;
        const bool inside = first_column + m < columns && k0 + k < inner;
        right[k][m] = inside ? from_b[(first_column + m) * b_column + (k0 + k) * b_inner] : 0;
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < 16; ++k) {
        float of_a[4], of_b[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) of_a[i] = left[k][ty * 4 + i];
#pragma unroll
        for (int j = 0; j < 4; ++j) of_b[j] = right[k][tx * 4 + j];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int j = 0; j < 4; ++j) sums[i][j] += of_a[i] * of_b[j];
        }
      }
    }
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        const i64 row = first_row + ty * 4 + i, column = first_column + tx * 4 + j;
        if (row < rows && column < columns) y[(matrix * rows + row) * columns + column] = sums[i][j];
      }
    }
  }
}

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

Code code_of_matmul(const Op& op) {
  require_float(op);
  const bool ta = op.attributes.flag(Attr::kTransposeA), tb = op.attributes.flag(Attr::kTransposeB);
  const Dims &a = op.operands[0].shape().dims(), &b = op.operands[1].shape().dims(), &y = op.results[0].shape.dims();
  const int64_t rows = y[y.size() - 2], columns = y.back(), inner = a[a.size() - (ta ? 2 : 1)];
  const Dims stack(y.begin(), y.end() - 2), of_a(a.begin(), a.end() - 2), of_b(b.begin(), b.end() - 2);
  Axes axes{stack, {steps_of(of_a, stack), steps_of(of_b, stack)}};
  for (int64_t& step : axes.steps[0]) step *= rows * inner;
  for (int64_t& step : axes.steps[1]) step *= inner * columns;
  axes = joined(axes);
  std::vector<int64_t> numbers{rows,          columns,          inner,          ta ? 1 : inner,
                               ta ? rows : 1, tb ? 1 : columns, tb ? inner : 1, axes.count()};
  axes.append_to(numbers);
  Code code;
  if (count_of(y) == 0) return code;
  const int64_t tiles = (rows + 63) / 64 * ((columns + 63) / 64) * axes.count();
  Launch launch{
      kMatrices,
      filled("  matmul<@>((const float*)p[0], (const float*)p[1], (float*)p[2], n);\n", {std::to_string(axes.rank())}),
      {operand(0), operand(1), result(0)},
      std::move(numbers)};
  launch.blocks = static_cast<unsigned>(std::min<int64_t>(tiles, 1 << 30));
  code.launches.push_back(std::move(launch));
  return code;
}

Code code_of_inverse(const Op& op) {
  require_float(op);
  const int64_t size = op.operands[0].shape().dims().back(), count = op.operands[0].shape().element_count();
  Code code;
  if (count == 0) return code;
  const int64_t matrices = count / (size * size);
  Launch launch{kMatrices,
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
        launch_for(count, kMatrices,
                   filled("  transform((const float*)p[0], (float*)p[1], n[0], n[1], n[2], @, @);\n",
                          {op.attributes.flag(Attr::kInverse) ? "1.0" : "-1.0", scale}),
                   {from, to}, {count, length, count_of(dims, axis + 1, dims.size() - 1)}));
    from = to;
  }
  return code;
}

}  // namespace alloy::cuda
