#include "cuda/codegen/small_product.h"

namespace alloy::cuda {
const char* const kSmallProduct = R"cuda(
// The thread's elements of 8 LINES lines and 4 TERMS terms as sums of two TF32 numbers (Halves); zeros outside the
// matrix. A thread of a warp has lines LINES g + i and terms TERMS t + j, where g is its number divided by 4 and t the
// rest.
template <class M, int LINES, int TERMS>
struct SmallFactor {
  float high[LINES][TERMS], low[LINES][TERMS];

  // From a line and a term on, of which there are so many more.
  __device__ void read(const M& matrix, int of_matrix, int first, int lines, int begin, int terms) {
    const int kLines = M::kAlong || M::kWidth < LINES ? 1 : LINES, kTerms = M::kAlong && M::kWidth >= TERMS ? TERMS : 1;
#pragma unroll
    for (int i = 0; i < LINES; i += kLines) {
      const int line = threadIdx.x % 32 / 4 * LINES + i, term = threadIdx.x % 4 * TERMS;
      const typename M::Line of_line = matrix.line(of_matrix, line < lines ? first + line : 0);
#pragma unroll
      for (int j = 0; j < TERMS; j += kTerms) {
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
    for (int i = 0; i < LINES * TERMS; ++i) {
      const float x = high[i / TERMS][i % TERMS];
      high[i / TERMS][i % TERMS] = upper_half(x);
      low[i / TERMS][i % TERMS] = x - upper_half(x);
    }
  }
};

// Adds the products of 16 rows, 8 COLUMNS columns and 4 TERMS terms: of rows 2 g + i and columns COLUMNS (2 t + j) + k,
// in sums[k][i][j].
template <int COLUMNS, int TERMS>
__device__ inline void add_products(float (&sums)[COLUMNS][2][2], const float (&a)[2][TERMS],
                                    const float (&b)[COLUMNS][TERMS]) {
#pragma unroll
  for (int j = 0; j < TERMS; j += 2) {
    const float own[2][2] = {{a[0][j], a[0][j + 1]}, {a[1][j], a[1][j + 1]}};
#pragma unroll
    for (int k = 0; k < COLUMNS; ++k) {
      const float of_column[2] = {b[k][j], b[k][j + 1]};
      multiply(sums[k], own, of_column);
    }
  }
}

// A block computes 16 x 16 elements at a time: each warp sums every eighth 16 terms of all of them, or if there are few
// terms, every fourth 8 terms of 8 columns. Then each thread adds the warps' sums of one element.
template <bool HAS_FEW_TERMS, class A, class B, class Places, class Read, class Write>
__device__ inline void small_product(const A& left_matrix, const B& right_matrix, const Places& places,
                                     const Read& read, const Write& write, const ProductSize& size, unsigned later) {
  const int kColumns = HAS_FEW_TERMS ? 1 : 2, kTerms = HAS_FEW_TERMS ? 2 : 4, kSums = 4 * kColumns, kAtOnce = 2;
  float* const all_sums = (float*)shared_memory<kSums * 256 * sizeof(float)>();
  const int rows = size.rows, columns = size.columns;
  const unsigned across = (columns + 15) / 16, tiles = across * ((rows + 15) / 16), all = tiles * (int)size.matrices;
  const int own = threadIdx.x / 32 % kSums, first_own = threadIdx.x / 32 / kSums * 8;  // the warp's terms and columns
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
    const int inner = (int)terms.count, together = 4 * kTerms * kSums, own_column = first_column + first_own;
    float sums[kColumns][2][2] = {};
    for (int k = 0; k < inner; k += kAtOnce * together) {
      SmallFactor<A, 2, kTerms> left[kAtOnce];
      SmallFactor<B, kColumns, kTerms> right[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int begin = k + together * i + 4 * kTerms * own;
        if (k + together * i >= inner) break;
        left[i].read(a, matrix, first_row, rows - first_row, begin, inner - begin);
        right[i].read(b, matrix, own_column, columns - own_column, begin, inner - begin);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (k + together * i >= inner) break;
        left[i].halve();
        right[i].halve();
        float few[3][kColumns][2][2] = {};  // none waits for another
        add_products(few[0], left[i].high, right[i].low);
        add_products(few[1], left[i].low, right[i].high);
        add_products(few[2], left[i].high, right[i].high);
#pragma unroll
        for (int j = 0; j < 4 * kColumns; ++j) {
          const int at_column = j / 4, at_row = j / 2 % 2, next = j % 2;
          sums[at_column][at_row][next] +=
              few[0][at_column][at_row][next] + few[1][at_column][at_row][next] + few[2][at_column][at_row][next];
        }
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      Adjacent<float, 2 * kColumns> of_row;
#pragma unroll
      for (int j = 0; j < 2 * kColumns; ++j) of_row.x[j] = sums[j % kColumns][i][j / kColumns];
      float* const to = all_sums + 256 * own + 16 * (threadIdx.x % 32 / 4 * 2 + i) + first_own;
      *(Adjacent<float, 2 * kColumns>*)(to + threadIdx.x % 4 * 2 * kColumns) = of_row;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kSums; ++i) sum += all_sums[256 * i + threadIdx.x];
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
