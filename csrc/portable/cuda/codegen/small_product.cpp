#include "cuda/codegen/small_product.h"

namespace alloy::cuda {
const char* const kSmallProduct = R"cuda(
// The thread's elements of a tile of 16 lines and 64 terms; zeros outside the matrix.
template <class M>
struct SmallTile {
  float elements[4];

  __device__ static int line_of(int i) { return M::kAlong ? (threadIdx.x + 256 * i) / 64 : threadIdx.x % 16; }
  __device__ static int term_of(int i) { return M::kAlong ? threadIdx.x % 64 : threadIdx.x / 16 + 16 * i; }
  __device__ void read(const M& matrix, i64 number, i64 first, i64 lines, i64 begin, i64 terms) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const i64 line = first + line_of(i), k = begin + term_of(i);
      bool is_there = line < lines && k < terms;
      const float* const from =
          matrix.at(matrix.line(number, is_there ? line : 0), matrix.term(is_there ? k : 0), is_there);
      elements[i] = is_there ? *from : 0;
    }
  }
  __device__ void write(float (*tile)[65]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) tile[line_of(i)][term_of(i)] = elements[i];
  }
};

// A block computes 16 x 16 elements at a time, a thread one of them.
template <class A, class B, class Places, class Read, class Write>
__device__ inline void small_product(const A& a, const B& b, const Places& places, const Read& read, const Write& write,
                                     const ProductSize& size) {
  float(*const left)[65] = (float(*)[65])shared_memory<2 * 16 * 65 * sizeof(float)>();
  float(*const right)[65] = left + 16;
  const i64 across = (size.columns + 15) / 16, tiles = across * ((size.rows + 15) / 16);
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  for (i64 block = blockIdx.x; block < tiles * size.matrices; block += gridDim.x) {
    const i64 matrix = quotient(block, tiles), tile = block - matrix * tiles, down = quotient(tile, across);
    const i64 first_row = 16 * down, first_column = 16 * (tile - down * across);
    SmallTile<A> next_left;
    SmallTile<B> next_right;
    next_left.read(a, matrix, first_row, size.rows, 0, size.inner);
    next_right.read(b, matrix, first_column, size.columns, 0, size.inner);
    float sum = 0;
    for (i64 k = 0; k < size.inner; k += 64) {
      __syncthreads();
      next_left.write(left);
      next_right.write(right);
      __syncthreads();
      if (k + 64 < size.inner) {
        next_left.read(a, matrix, first_row, size.rows, k + 64, size.inner);
        next_right.read(b, matrix, first_column, size.columns, k + 64, size.inner);
      }
#pragma unroll 16
      for (int i = 0; i < 64; ++i) sum += left[y][i] * right[x][i];
    }
    const i64 row = first_row + y, column = first_column + x;
    if (row < size.rows && column < size.columns) {
      const i64 at = places.row(matrix, row) + places.column(matrix, column);
      write(at, read(at), sum);
    }
  }
}
)cuda";

}  // namespace alloy::cuda
