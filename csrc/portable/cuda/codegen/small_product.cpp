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

// The value of the thread of this warp whose number differs in this bit.
__device__ inline float from_partner(float own, int bit) {
  return __uint_as_float(__shfl_sync(0xffffffffu, __float_as_uint(own), (int)threadIdx.x % 32 ^ bit));
}

// A block computes 16 x 16 elements at a time. Four neighbouring threads have the same 2 x 2 of them, and each sums
// four of 16 terms, since reading shared memory takes longest; then each adds the sums of one element.
template <class A, class B, class Places, class Read, class Write>
__device__ inline void small_product(const A& a, const B& b, const Places& places, const Read& read, const Write& write,
                                     const ProductSize& size) {
  float(*const left)[68] = (float(*)[68])shared_memory<2 * 16 * 68 * sizeof(float)>();
  float(*const right)[68] = left + 16;
  const int rows = size.rows, columns = size.columns, inner = size.inner;
  const unsigned across = (columns + 15) / 16, tiles = across * ((rows + 15) / 16), all = tiles * (int)size.matrices;
  // Fours of terms, and columns, in an order in which threads that read at once read different banks.
  const int part = threadIdx.x % 4, x = threadIdx.x / 8 % 4 + threadIdx.x / 4 % 2 * 4, y = threadIdx.x / 32;
  const bool is_right = part % 2 == 1, is_low = part / 2 == 1;
  // Functions of one block beside this one in a merged launch have the first block.
  const unsigned first = all > 1 ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  for (unsigned block = first; block < all; block += gridDim.x) {
    const unsigned matrix = block / tiles, tile = block % tiles;
    const int first_row = 16 * (tile / across), first_column = 16 * (tile % across);
    SmallTile<A> next_left;
    SmallTile<B> next_right;
    next_left.read(a, matrix, first_row, rows - first_row, 0, inner);
    next_right.read(b, matrix, first_column, columns - first_column, 0, inner);
    const int row = first_row + y + (is_low ? 8 : 0), column = first_column + x + (is_right ? 8 : 0);
    const bool is_inside = row < rows && column < columns;
    const i64 at = is_inside ? places.row(matrix, row) + places.column(matrix, column) : 0;
    decltype(read(0)) got;
    if (is_inside) got = read(at);
    float sums[2][2] = {};
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
#pragma unroll 4
      for (int i = 0; i < (rest < 64 ? rest : 64); i += 16) {
        float4 of_row[2], of_column[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          of_row[half] = *(const float4*)(left[y + 8 * half] + i + 4 * part);
          of_column[half] = *(const float4*)(right[x + 8 * half] + i + 4 * part);
        }
#pragma unroll
        for (int r = 0; r < 2; ++r) {
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            sums[r][c] += of_row[r].x * of_column[c].x;
            sums[r][c] += of_row[r].y * of_column[c].y;
            sums[r][c] += of_row[r].z * of_column[c].z;
            sums[r][c] += of_row[r].w * of_column[c].w;
          }
        }
      }
    }
    const float upper = (is_right ? sums[0][1] : sums[0][0]) + from_partner(is_right ? sums[0][0] : sums[0][1], 1);
    const float lower = (is_right ? sums[1][1] : sums[1][0]) + from_partner(is_right ? sums[1][0] : sums[1][1], 1);
    const float sum = (is_low ? lower : upper) + from_partner(is_low ? upper : lower, 2);
    if (is_inside) write(at, got, sum);
  }
}
)cuda";

}  // namespace alloy::cuda
