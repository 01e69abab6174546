#include "cuda/codegen/small_product.h"

namespace alloy::cuda {
const char* const kSmallProduct = R"cuda(
// The thread's elements of 16 lines and 16 terms as sums of two TF32 numbers (Halves); zeros outside the matrix. A
// thread of a warp has lines 2 g + i and terms 4 t + j, where g is its number divided by 4 and t the rest.
template <class M>
struct SmallFactor {
  float high[2][4], low[2][4];

  // From a line and a term on, of which there are so many more.
  __device__ void read(const M& matrix, int of_matrix, int first, int lines, int begin, int terms) {
    const int kLines = M::kAlong || M::kWidth < 2 ? 1 : 2, kTerms = M::kAlong && M::kWidth >= 4 ? 4 : 1;
#pragma unroll
    for (int i = 0; i < 2; i += kLines) {
      const int line = threadIdx.x % 32 / 4 * 2 + i, term = threadIdx.x % 4 * 4;
      const typename M::Line of_line = matrix.line(of_matrix, line < lines ? first + line : 0);
#pragma unroll
      for (int j = 0; j < 4; j += kTerms) {
        bool is_there = line < lines && term + j < terms;
        const auto* const from = matrix.at(of_line, matrix.term(is_there ? begin + term + j : 0), is_there);
        Adjacent<typename M::Element, kLines * kTerms> all = {};
        if (is_there) all = *(const decltype(all)*)from;
#pragma unroll
        for (int n = 0; n < kLines * kTerms; ++n) high[i + n % kLines][j + n / kLines] = number(all.x[n]);
      }
    }
  }
  __device__ void halve() {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float x = high[i / 4][i % 4];
      high[i / 4][i % 4] = upper_half(x);
      low[i / 4][i % 4] = x - upper_half(x);
    }
  }
};

// Where multiply() has sums[i][k] and its neighbour sums[i][2 + k], as lines are numbered here.
__device__ inline int row_of_sums(int i) { return threadIdx.x % 32 / 4 * 2 + i; }
__device__ inline int column_of_sums(int k) { return threadIdx.x % 4 * 4 + 2 * k; }

// A block computes 16 x 16 elements at a time: each warp sums every eighth 16 terms, and then each thread adds the
// warps' sums of one element.
template <class A, class B, class Places, class Read, class Write>
__device__ inline void small_product(const A& left_matrix, const B& right_matrix, const Places& places,
                                     const Read& read, const Write& write, const ProductSize& size, unsigned later) {
  const int kWarps = 8, kAtOnce = 2;
  float* const sums_of_warps = (float*)shared_memory<kWarps * 256 * sizeof(float)>();
  const int rows = size.rows, columns = size.columns;
  const unsigned across = (columns + 15) / 16, tiles = across * ((rows + 15) / 16), all = tiles * (int)size.matrices;
  const int warp = threadIdx.x / 32;
  for (unsigned block = first_part(later); block < all; block += gridDim.x) {
    const unsigned matrix = block / tiles, tile = block % tiles;
    const int first_row = 16 * (tile / across), first_column = 16 * (tile % across);
    const int row = first_row + threadIdx.x / 16, column = first_column + threadIdx.x % 16;
    const bool is_inside = row < rows && column < columns;
    const i64 at = is_inside ? places.row(matrix, row) + places.column(matrix, column) : 0;
    const auto got = read(at);
    const Terms terms =
        terms_in_rows(left_matrix, first_row, first_row + 16 < rows ? first_row + 15 : rows - 1, size.inner);
    const A a = with_terms(left_matrix, terms);
    const B b = with_terms(right_matrix, terms);
    const int inner = (int)terms.count;
    float sums[2][4] = {};
    for (int k = 0; k < inner; k += kAtOnce * kWarps * 16) {
      SmallFactor<A> left[kAtOnce];
      SmallFactor<B> right[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int begin = k + 16 * (kWarps * i + warp);
        if (k + 16 * kWarps * i >= inner) break;
        left[i].read(a, matrix, first_row, rows - first_row, begin, inner - begin);
        right[i].read(b, matrix, first_column, columns - first_column, begin, inner - begin);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (k + 16 * kWarps * i >= inner) break;
        left[i].halve();
        right[i].halve();
        float few[2][4] = {};
        multiply(few, left[i].high, right[i].low);
        multiply(few, left[i].low, right[i].high);
        multiply(few, left[i].high, right[i].high);
#pragma unroll
        for (int j = 0; j < 8; ++j) sums[j / 4][j % 4] += few[j / 4][j % 4];
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float* const to = sums_of_warps + 256 * warp + 16 * row_of_sums(i / 2) + column_of_sums(i % 2);
      *(float2*)to = make_float2(sums[i / 2][i % 2], sums[i / 2][2 + i % 2]);
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kWarps; ++i) sum += sums_of_warps[256 * i + threadIdx.x];
    // Halves lose infinities and NaN.
    if (is_inside && !(fabsf(sum) < infinity())) {
      const typename A::Line of_row = a.line(matrix, row);
      const typename B::Line of_column = b.line(matrix, column);
      sum = 0;
      for (int k = 0; k < inner; ++k) {
        bool left_is_there = true, right_is_there = true;
        const auto* const x = a.at(of_row, a.term(k), left_is_there);
        const auto* const y = b.at(of_column, b.term(k), right_is_there);
        sum += (left_is_there ? load(x, 0) : 0) * (right_is_there ? load(y, 0) : 0);
      }
    }
    if (is_inside) write(at, got, sum);
  }
}
)cuda";

}  // namespace alloy::cuda
