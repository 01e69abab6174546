#include "cuda/codegen/small_product.h"

namespace alloy::cuda {
const char* const kSmallProduct = R"cuda(
// The thread's elements of a tile of 16 lines and 64 terms; zeros outside the matrix.
template <class M>
struct SmallTile {
  typedef typename M::Element T;
  static const bool kFours = M::kWidth >= 4;
  float elements[4];

  // Threads have fours of neighbours in memory if the matrix has them.
  __device__ static int line_of(int i) {
    if (M::kAlong) return kFours ? threadIdx.x / 16 : threadIdx.x / 64 + 4 * i;
    return kFours ? threadIdx.x % 4 * 4 + i : threadIdx.x % 16;
  }
  __device__ static int term_of(int i) {
    if (M::kAlong) return kFours ? threadIdx.x % 16 * 4 + i : threadIdx.x % 64;
    return kFours ? threadIdx.x / 4 : threadIdx.x / 16 + 16 * i;
  }
  // From a line and a term on, of which there are so many more.
  __device__ void read(const M& matrix, int number, int first, int lines, int begin, int terms) {
#pragma unroll
    for (int i = 0; i < (kFours ? 1 : 4); ++i) {
      const int line = line_of(i), k = term_of(i);
      bool is_there = line < lines && k < terms;
      const T* const from =
          matrix.at(matrix.line(number, is_there ? first + line : 0), matrix.term(is_there ? begin + k : 0), is_there);
      if (!kFours) {
        elements[i] = is_there ? load(from, 0) : 0;
      } else if constexpr (sizeof(T) == 4) {
        const float4 four = is_there ? *(const float4*)from : make_float4(0, 0, 0, 0);
        elements[0] = four.x, elements[1] = four.y, elements[2] = four.z, elements[3] = four.w;
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j) elements[j] = is_there ? load(from, j) : 0;
      }
    }
  }
  __device__ void write(float (*tile)[68]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) tile[line_of(i)][term_of(i)] = elements[i];
  }
};

// A block computes 16 x 16 elements at a time, a thread one of them.
template <class A, class B, class Places, class Read, class Write>
__device__ inline void small_product(const A& a, const B& b, const Places& places, const Read& read, const Write& write,
                                     const ProductSize& size) {
  float(*const left)[68] = (float(*)[68])shared_memory<2 * 16 * 68 * sizeof(float)>();
  float(*const right)[68] = left + 16;
  const int rows = size.rows, columns = size.columns, inner = size.inner;
  const unsigned across = (columns + 15) / 16, tiles = across * ((rows + 15) / 16), all = tiles * (int)size.matrices;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  for (unsigned block = blockIdx.x; block < all; block += gridDim.x) {
    const unsigned matrix = block / tiles, tile = block % tiles;
    const int first_row = 16 * (tile / across), first_column = 16 * (tile % across);
    SmallTile<A> next_left;
    SmallTile<B> next_right;
    next_left.read(a, matrix, first_row, rows - first_row, 0, inner);
    next_right.read(b, matrix, first_column, columns - first_column, 0, inner);
    const int row = first_row + y, column = first_column + x;
    const bool is_inside = row < rows && column < columns;
    const i64 at = is_inside ? places.row(matrix, row) + places.column(matrix, column) : 0;
    decltype(read(0)) got;
    if (is_inside) got = read(at);
    float4 sums = make_float4(0, 0, 0, 0);
    for (int k = 0; k < inner; k += 64) {
      const int rest = inner - k;
      __syncthreads();
      next_left.write(left);
      next_right.write(right);
      __syncthreads();
      if (rest > 64) {
        next_left.read(a, matrix, first_row, rows - first_row, k + 64, rest - 64);
        next_right.read(b, matrix, first_column, columns - first_column, k + 64, rest - 64);
      }
#pragma unroll 8
      for (int i = 0; i < (rest < 64 ? rest : 64); i += 4) {
        const float4 of_row = *(const float4*)(left[y] + i), of_column = *(const float4*)(right[x] + i);
        sums.x += of_row.x * of_column.x;
        sums.y += of_row.y * of_column.y;
        sums.z += of_row.z * of_column.z;
        sums.w += of_row.w * of_column.w;
      }
    }
    if (is_inside) write(at, got, (sums.x + sums.y) + (sums.z + sums.w));
  }
}
)cuda";

}  // namespace alloy::cuda
