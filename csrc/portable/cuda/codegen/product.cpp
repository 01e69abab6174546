#include "cuda/codegen/product.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "cuda/codegen/families.h"
#include "cuda/codegen/small_product.h"
#include "ir/rounding.h"

namespace alloy::cuda {

using ir::Op;

const char* const kProduct = R"cuda(
// Rows and columns of the results, terms of each sum, and results. The terms are divided into parts of a length, the
// tiles of a result into bands of a height, the last of which may be lower. Then reciprocals of numbers of tiles: of a
// result, of a band, and of the heights of the others and of the last one; and the blocks of the products before.
struct ProductSize {
  i64 rows, columns, inner, matrices, parts, length, height, by_tiles, by_band, by_height, by_last_height, before;
};
// The numbers of that of COUNT products that this block has a tile of: each has so many, the first ones are its size.
template <int COUNT, int NUMBERS>
__device__ inline const i64* numbers_of_product(const i64* n) {
  int own = 0;
#pragma unroll
  for (int i = 1; i < COUNT; ++i) {
    if ((i64)blockIdx.x >= ((const ProductSize*)(n + i * NUMBERS))->before) own = i * NUMBERS;
  }
  return n + own;
}

// A left matrix M has types Element, Line and Term and functions line(matrix, row), term(k) and at(line, term,
// is_there), the address of an element, which unsets is_there if the element is 0; of a right matrix, a line is a
// column. advance(term, by) goes on by as many terms as `by` is from the first. If M::kAlong, neighbours in memory are
// terms, else lines. Each M::kWidth of them from a multiple of that on are aligned, and all of them are 0 if the first
// one is. If M::kRuns, elements may lie at a distance from those that are so many terms before: run(term, terms) tells
// for how many steps of so many terms they do, distance(terms) how far, and skip(term, by) goes on by so many terms of
// such a run. If M::kSkips, terms(first, last) of a left matrix are those of rows first to last that may not be 0, and
// `some` are the terms that a matrix has.
// The places of results have row(matrix, row), the index of a row's first element, and column(matrix, column), the
// distance from there; kRowsFirst if neighbours in memory are in neighbouring rows. read(index) reads what write(index,
// read, x) needs to take an element of the result, or kWidth neighbours. Of several all is read first: the compiler
// cannot know that writing one does not change what is read for the next.

// So many terms: along three axes those from the first on.
struct Terms {
  i64 count;
  int first[3], counts[3];
};
template <class A>
__device__ inline Terms terms_in_rows(const A& a, i64 first, i64 last, i64 count) {
  if constexpr (A::kSkips) return a.terms(first, last);
  else return Terms{count};
}
template <class M>
__device__ inline M with_terms(const M& matrix, const Terms& terms) {
  M own = matrix;
  if constexpr (M::kSkips) own.some = terms;
  return own;
}

// ---- what needs instructions of its own ----

// Of 32 lines and 16 terms, a thread of a warp has lines 4 g + i and terms 4 t + j, in x[i][j], where g is its number
// divided by 4 and t the rest.
struct Fragment { float x[4][4]; };
// Of 32 lines and 32 terms of two bytes each, a thread has lines 8 i + g and terms 8 k + 2 t and 8 k + 2 t + 1, in the
// order in which an instruction takes them: of a right matrix in x[i][k], of a left matrix in
// x[k / 2 * 2 + i / 2][k % 2 * 2 + i % 2].
struct Pairs { unsigned x[4][4]; };

#ifdef __CUDACC__
// In shared memory, in bytes.
typedef unsigned Address;
__device__ inline Address address_of(const char* shared) {
  Address address = (Address)__cvta_generic_to_shared(shared);
  asm volatile("" : "+r"(address));  // the compiler shall keep it, not make it again
  return address;
}
__device__ inline float4 read_four(Address from) {
  float4 four;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
               : "r"(from)
               : "memory");
  return four;
}
// Reads four matrices of 8 x 8 elements of two bytes: thread 8 j + i has the address of row i of matrix j, and gets
// elements 2 t and 2 t + 1 of row g of each; if ACROSS, of column g.
template <bool ACROSS>
__device__ inline void read_matrices(unsigned (&x)[4], Address from) {
  if (ACROSS) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(from)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(from)
                 : "memory");
  }
}
__device__ inline void write_four(Address to, const unsigned (&x)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
               : "memory");
}
// Copies 4, 8 or 16 bytes while the thread goes on; zeros if nothing is there.
template <int BYTES>
__device__ inline void copy_later(Address to, const void* from, bool is_there) {
  if (BYTES == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(is_there ? 16 : 0)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(BYTES),
                 "r"(is_there ? BYTES : 0)
                 : "memory");
  }
}
// Ends a group of copies, which may be empty.
__device__ inline void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for all groups but the last ones.
template <int BUT>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(BUT) : "memory");
}
// Adds the products of 16 rows, 8 terms and 8 columns, as the instruction has them. The tensor cores take the upper 19
// bits of each number, which is TF32.
__device__ inline void multiply(float& y0, float& y1, float& y2, float& y3, float a0, float a1, float a2, float a3,
                                float b0, float b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(y0), "+f"(y1), "+f"(y2), "+f"(y3)
      : "r"(__float_as_uint(a0)), "r"(__float_as_uint(a1)), "r"(__float_as_uint(a2)), "r"(__float_as_uint(a3)),
        "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}
// Adds the products of 32 rows and 32 columns, of which a thread has rows 4 g + i and columns 8 t + j, in sums[i][j].
// An instruction's 16 rows, 8 terms and 8 columns are numbered so that each thread reads and writes neighbours.
__device__ inline void multiply(float (&sums)[4][8], const Fragment& a, const Fragment& b) {
#pragma unroll
  for (int k = 0; k < 4; k += 2) {
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        multiply(sums[i][j], sums[i][4 + j], sums[i + 1][j], sums[i + 1][4 + j], a.x[i][k], a.x[i + 1][k],
                 a.x[i][k + 1], a.x[i + 1][k + 1], b.x[j][k], b.x[j][k + 1]);
      }
    }
  }
}
// The same of 16 rows, 8 columns and 8 terms: a thread has rows g and g + 8, column g and terms 2 t + j, in a[i][j] and
// b[j]; its sums are of rows g + 8 i and columns 2 t + j, in sums[i][j].
__device__ inline void multiply(float (&sums)[2][2], const float (&a)[2][2], const float (&b)[2]) {
  multiply(sums[0][0], sums[0][1], sums[1][0], sums[1][1], a[0][0], a[1][0], a[0][1], a[1][1], b[0], b[1]);
}
// The same of 32 terms of two bytes: a thread has rows 8 i + g and columns 8 j + 2 t and 8 j + 2 t + 1, in sums[i][2 j]
// and sums[i][2 j + 1].
#define ALLOY_MULTIPLY(T, type)                                                                               \
  __device__ inline void multiply(float (&sums)[4][8], const Pairs& a, const Pairs& b, T) {                   \
    _Pragma("unroll") for (int k = 0; k < 4; k += 2) {                                                        \
      _Pragma("unroll") for (int i = 0; i < 4; i += 2) {                                                      \
        const unsigned(&x)[4] = a.x[k + i / 2];                                                               \
        _Pragma("unroll") for (int j = 0; j < 4; ++j) {                                                       \
          asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, "                \
              "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                                 \
              : "+f"(sums[i][2 * j]), "+f"(sums[i][2 * j + 1]), "+f"(sums[i + 1][2 * j]),                     \
                "+f"(sums[i + 1][2 * j + 1])                                                                  \
              : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(b.x[j][k]), "r"(b.x[j][k + 1]));              \
        }                                                                                                     \
      }                                                                                                       \
    }                                                                                                         \
  }
ALLOY_MULTIPLY(Half, "f16")
ALLOY_MULTIPLY(BFloat, "bf16")
#endif

// ---- tiles in shared memory, whose lines have 64 bytes ----

// Where an element lies in a tile, so that threads that read or write at once use different banks.
template <class T, bool ALONG, int LINES>
__device__ inline int in_tile(int line, int term) {
  if (sizeof(T) == 2) {
    return ALONG ? line * 32 + (term ^ (line >> 1 & 3) * 8) : term * LINES + (line ^ (term & 7) * 8);
  }
  return ALONG ? (line ^ (line >> 2 & 1)) * 16 + term : term * LINES + (line ^ (term >> 2 & 3) * 8);
}

// What a thread copies of each tile: neighbours of 16 bytes together.
template <class M, int LINES, int THREADS>
struct TileLoader {
  typedef typename M::Element T;
  static const int kTerms = 64 / sizeof(T), kNeighbours = 16 / sizeof(T), kCopies = kNeighbours / M::kWidth;
  static const int kGroups = LINES * 4 / THREADS, kAcross = M::kAlong ? 4 : LINES / kNeighbours;
  static const int kStep = THREADS / kAcross, kLines = M::kAlong ? kGroups : kCopies;
  static const int kBytes = M::kWidth * sizeof(T);  // that are copied at once
  static const bool kKeeps = M::kRuns && kCopies == 1;
  const M& matrix;
  typename M::Line lines[kLines];
  bool inside[kLines];
  typename M::Term term, few, next;
  int rest;  // terms from there on
  // If kKeeps, the addresses of the next tile, and for how many tiles they need not be found anew.
  const T* kept[kGroups];
  bool there[kGroups];
  int run = 0;

  __device__ TileLoader(const M& m, i64 number, i64 first, i64 count, i64 begin, i64 end) : matrix(m) {
#pragma unroll
    for (int j = 0; j < kLines; ++j) {
      const i64 line = first + (M::kAlong ? line_of(j) : line_of(0) + M::kWidth * j);
      inside[j] = line < count;
      lines[j] = m.line(number, inside[j] ? line : 0);
    }
    term = m.term(begin + term_of(0));
    few = m.term(M::kWidth);
    next = m.term(M::kAlong ? kCopies == 1 ? kTerms : kTerms - kNeighbours : kStep);
    rest = (int)(end - begin) - term_of(0);
  }
  // Of the first element of a group.
  __device__ static int line_of(int group) {
    return M::kAlong ? threadIdx.x / kAcross + kStep * group : threadIdx.x % kAcross * kNeighbours;
  }
  __device__ static int term_of(int group) {
    return M::kAlong ? threadIdx.x % kAcross * kNeighbours : threadIdx.x / kAcross + kStep * group;
  }
  __device__ static Address place_of(Address tile, int group) {
    return tile + (unsigned)sizeof(T) * in_tile<T, M::kAlong, LINES>(line_of(group), term_of(group));
  }
  __device__ void find() {
    typename M::Term own = term;
#pragma unroll
    for (int j = 0; j < kGroups; ++j) {
      there[j] = inside[M::kAlong ? j : 0];
      kept[j] = matrix.at(lines[M::kAlong ? j : 0], own, there[j]);
      if (!M::kAlong) matrix.advance(own, next);
    }
    run = matrix.run(term, kTerms);
    if (run > 1) matrix.skip(term, run * kTerms);
    else if (M::kAlong) matrix.advance(term, next);
    else term = own;
  }
  // Calls use(group, copy, address, is_there) for all copies, and goes on to the next tile.
  template <class Use>
  __device__ void each(const Use& use) {
    if constexpr (kKeeps) {
      if (run == 0) find();
#pragma unroll
      for (int j = 0; j < kGroups; ++j) {
        use(j, 0, kept[j], there[j] && rest > (M::kAlong ? 0 : kStep * j));
        kept[j] += matrix.distance(kTerms);
      }
      --run;
    } else if (M::kAlong) {
#pragma unroll
      for (int i = 0; i < kCopies; ++i) {
#pragma unroll
        for (int j = 0; j < kGroups; ++j) {
          bool is_there = rest > M::kWidth * i && inside[j];
          const T* const from = matrix.at(lines[j], term, is_there);
          use(j, i, from, is_there);
        }
        if (kCopies > 1) matrix.advance(term, few);
      }
      matrix.advance(term, next);
    } else {
#pragma unroll
      for (int j = 0; j < kGroups; ++j) {
#pragma unroll
        for (int i = 0; i < kCopies; ++i) {
          bool is_there = rest > kStep * j && inside[i];
          const T* const from = matrix.at(lines[i], term, is_there);
          use(j, i, from, is_there);
        }
        matrix.advance(term, next);
      }
    }
    rest -= kTerms;
  }
  // Begins to copy the next tile. Two bytes cannot be copied by themselves while the thread goes on.
  __device__ void load(Address tile) {
    if constexpr (kBytes == 2) {
      unsigned read[kGroups][4] = {};
      each([&](int j, int i, const T* from, bool is_there) {
        if (is_there) read[j][i / 2] |= (unsigned)from->bits << 16 * (i % 2);
      });
#pragma unroll
      for (int j = 0; j < kGroups; ++j) write_four(place_of(tile, j), read[j]);
    } else {
      each([&](int j, int i, const T* from, bool is_there) {
        copy_later<kBytes>(place_of(tile, j) + kBytes * i, from, is_there);
      });
    }
  }
};

// What a warp reads of each tile, from a line on that is a multiple of 64, or of 32 if it has no more.
template <class T, bool LEFT, bool ALONG, int LINES>
struct TileReader {
  Address from;
  __device__ TileReader(Address tile, int first) {
    // Of the four matrices that are read at once, the second one has the next lines if LEFT, else the next terms.
    const int in_matrix = threadIdx.x % 8, matrix = threadIdx.x % 32 / 8;
    const int line = first + (LEFT ? matrix % 2 * 8 : 0), term = (LEFT ? matrix / 2 : matrix) * 8;
    from = tile + 2 * (ALONG ? in_tile<T, ALONG, LINES>(line + in_matrix, term)
                             : in_tile<T, ALONG, LINES>(line, term + in_matrix));
  }
  // The distances are those of the tile, and of the lines, a multiple of 32.
  __device__ Pairs read(unsigned bytes, int line) const {
    Pairs pairs;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned own = line + (LEFT ? i % 2 * 16 : i * 8), term = LEFT ? i / 2 * 16 : 0;
      read_matrices<!ALONG>(pairs.x[i], ALONG ? ((from + bytes) ^ (2 * term)) + 64 * own
                                              : ((from + bytes) ^ (2 * own)) + 2 * LINES * term);
    }
    return pairs;
  }
};
template <bool LEFT, bool ALONG, int LINES>
struct TileReader<float, LEFT, ALONG, LINES> {
  Address even, odd;
  __device__ TileReader(Address tile, int first) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    even = tile + 4 * in_tile<float, ALONG, LINES>(first + 4 * g, 4 * t);
    odd = tile + 4 * in_tile<float, ALONG, LINES>(first + 4 * g + 1, 4 * t);
  }
  __device__ Fragment read(unsigned bytes, int line) const {
    Fragment fragment;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float4 four = read_four(ALONG ? (i % 2 == 0 ? even : odd) + bytes + 64 * (line + i / 2 * 2)
                                         : even + bytes + 4 * (line + i * LINES));
      const float x[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int j = 0; j < 4; ++j) (ALONG ? fragment.x[i][j] : fragment.x[j][i]) = x[j];
    }
    return fragment;
  }
};

// ---- what the tensor cores multiply ----

// Factors of two bytes. Their products are exact, and the tensor cores sum them.
template <class T>
struct Narrow {
  typedef Pairs Read;
  static const bool kLosesInfinities = false;
  Pairs x;
  __device__ Narrow() {}
  __device__ explicit Narrow(const Pairs& pairs) : x(pairs) {}
  __device__ static void add_product(float (&sums)[4][8], const Narrow& a, const Narrow& b) {
    multiply(sums, a.x, b.x, T{});
  }
  // Writes the thread's sums to an array with rows of PITCH numbers.
  template <int PITCH>
  __device__ static void write(float* to, const float (&sums)[4][8]) {
    float* const own = to + threadIdx.x % 32 / 4 * PITCH + threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        *(float2*)(own + 8 * i * PITCH + 8 * j) = make_float2(sums[i][2 * j], sums[i][2 * j + 1]);
      }
    }
  }
};

// What both ways to multiply floats have in common.
struct OfFloats {
  typedef Fragment Read;
  static const bool kLosesInfinities = true;
  __device__ static int row(int i) { return threadIdx.x % 32 / 4 * 4 + i; }
  __device__ static int column(int j) { return threadIdx.x % 4 * 8 + j; }
  template <int PITCH>
  __device__ static void write(float* to, const float (&sums)[4][8]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float4* const own = (float4*)(to + row(i) * PITCH + column(0));
      const float(&x)[8] = sums[i];
      own[0] = make_float4(x[0], x[1], x[2], x[3]);
      own[1] = make_float4(x[4], x[5], x[6], x[7]);
    }
  }
};

// Factors rounded to TF32, with 10 bits behind the point. The tensor cores drop the rest: numbers whose logarithms are
// spread evenly become smaller by 0.25 / ln 2 parts of 1024 on average. So a multiplication makes them larger by as
// much before. That is less than the last bit, so TF32 numbers stay what they are, as infinities and NaN do, and no
// other is further off than 0.73 of that bit. To the nearest number it would be 0.5, in twice as many instructions.
struct Rounded : OfFloats {
  Fragment x;
  __device__ Rounded() {}
  __device__ explicit Rounded(const Fragment& fragment) {
    const float kLarger = 1 + 0.36067f / 1024;
#pragma unroll
    for (int i = 0; i < 16; ++i) x.x[i / 4][i % 4] = fragment.x[i / 4][i % 4] * kLarger;
  }
  __device__ static void add_product(float (&sums)[4][8], const Rounded& a, const Rounded& b) {
    multiply(sums, a.x, b.x);
  }
};

// The nearest TF32 number.
__device__ inline float upper_half(float x) {
  return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}
// Factors as sums of two TF32 numbers, whose error is as small as that of a float32. Of their four products, that of
// the lower halves is left out. The tensor cores do not round sums to the nearest number, so they sum only a few terms.
// The lower half of a number that is not finite, or rounds to infinity, is NaN or infinite, and so is each sum with it.
struct Halves : OfFloats {
  Fragment high, low;
  __device__ Halves() {}
  __device__ explicit Halves(const Fragment& fragment) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const float x = fragment.x[i / 4][i % 4];
      high.x[i / 4][i % 4] = upper_half(x);
      low.x[i / 4][i % 4] = x - upper_half(x);
    }
  }
  __device__ static void add_product(float (&sums)[4][8], const Halves& a, const Halves& b) {
    float few[4][8] = {};
    multiply(few, a.high, b.low);
    multiply(few, a.low, b.high);
    multiply(few, a.high, b.high);
#pragma unroll
    for (int i = 0; i < 32; ++i) sums[i / 8][i % 8] += few[i / 8][i % 8];
  }
};

template <class T, bool TF32> struct FactorsOf { typedef Narrow<T> Type; };
template <> struct FactorsOf<float, false> { typedef Halves Type; };
template <> struct FactorsOf<float, true> { typedef Rounded Type; };

// ---- products ----

// Reads at the same place in the shared memory of another block of the cluster.
__device__ inline float read_of_block(const float* own, unsigned block) {
  float x = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n.reg .b32 place;\nmapa.shared::cluster.u32 place, %1, %2;\nld.shared::cluster.f32 %0, [place];\n}"
               : "=f"(x)
               : "r"((Address)__cvta_generic_to_shared(own)), "r"(block)
               : "memory");
#endif
  return x;
}
__device__ inline float4 read_four_of_block(const float* own, unsigned block) {
  float4 x = make_float4(0, 0, 0, 0);
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n.reg .b32 place;\nmapa.shared::cluster.u32 place, %4, %5;\n"
               "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [place];\n}"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
               : "r"((Address)__cvta_generic_to_shared(own)), "r"(block)
               : "memory");
#endif
  return x;
}

// The sums of numbers at the same place in all BLOCKS blocks of a cluster, of which there are 1, 2, 4 or 8.
template <int BLOCKS>
__device__ inline float sum_of_blocks(const float* own) {
  if (BLOCKS == 1) return *own;
  float x[BLOCKS];
#pragma unroll
  for (int i = 0; i < BLOCKS; ++i) x[i] = read_of_block(own, i);
#pragma unroll
  for (int by = 1; by < BLOCKS; by *= 2) {
#pragma unroll
    for (int i = 0; i < BLOCKS; i += 2 * by) x[i] += x[i + by];
  }
  return x[0];
}
template <int BLOCKS>
__device__ inline Four<float> four_sums_of_blocks(const float* own) {
  float4 x[BLOCKS];
#pragma unroll
  for (int i = 0; i < BLOCKS; ++i) x[i] = BLOCKS == 1 ? *(const float4*)own : read_four_of_block(own, i);
#pragma unroll
  for (int by = 1; by < BLOCKS; by *= 2) {
#pragma unroll
    for (int i = 0; i < BLOCKS; i += 2 * by) {
      x[i].x += x[i + by].x, x[i].y += x[i + by].y, x[i].z += x[i + by].z, x[i].w += x[i + by].w;
    }
  }
  return Four<float>{x[0].x, x[0].y, x[0].z, x[0].w};
}

// Keeps a thread's sums of a part of a tile, and is true in the block that comes last to the tile: there they become
// those of all parts, which lie one behind the other from `parts` on.
template <int THREADS, int ROWS, int COLUMNS>
__device__ inline bool sum_parts(float (&sums)[ROWS][COLUMNS][4][8], float4* parts, unsigned* counter, i64 count) {
  const int kPart = 8 * ROWS * COLUMNS * THREADS;
#pragma unroll
  for (int i = 0; i < ROWS * COLUMNS; ++i) {
    float4* const to = parts + blockIdx.y * kPart + 8 * i * THREADS + threadIdx.x;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float* const x = sums[i / COLUMNS][i % COLUMNS][j / 2] + j % 2 * 4;
      to[j * THREADS] = make_float4(x[0], x[1], x[2], x[3]);
    }
  }
  if (!comes_last(counter, (unsigned)count)) return false;
#pragma unroll
  for (int i = 0; i < ROWS * COLUMNS; ++i) {
    double all[32] = {};
    const float4* from = parts + 8 * i * THREADS + threadIdx.x;
#pragma unroll 2
    for (i64 part = 0; part < count; ++part, from += kPart) {
      float4 fours[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) fours[j] = from[j * THREADS];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        all[4 * j] += fours[j].x, all[4 * j + 1] += fours[j].y;
        all[4 * j + 2] += fours[j].z, all[4 * j + 3] += fours[j].w;
      }
    }
#pragma unroll
    for (int j = 0; j < 32; ++j) sums[i / COLUMNS][i % COLUMNS][j / 8][j % 8] = (float)all[j];
  }
  return true;
}

// A block of DOWN x ACROSS warps computes a tile of the result, each warp 32 ROWS x 32 COLUMNS elements of it. If TF32,
// factors are rounded to that. CLUSTER blocks compute a part of each sum, and then a part of the results; if it is 1,
// parts of sums are kept at `parts` until the last one is there. A thread reads what AT_ONCE results, or fours of
// neighbours, need before it writes the first.
template <int ROWS, int COLUMNS, int DOWN, int ACROSS, bool TF32, int CLUSTER, int AT_ONCE, class A, class B,
          class Places, class Read, class Write>
__device__ inline void product(const A& left_matrix, const B& right_matrix, const Places& places, const Read& read,
                               const Write& write, const ProductSize& size, float4* parts, unsigned* counters) {
  const int kRows = 32 * ROWS * DOWN, kColumns = 32 * COLUMNS * ACROSS, kThreads = 32 * DOWN * ACROSS;
  // As many tiles as fit into the memory that a block has anyway, for those that are on their way.
  const int kStages = kRows + kColumns > 192 ? 3 : 4;
  typedef typename A::Element T;
  typedef typename FactorsOf<T, TF32>::Type Factors;
  const int kTerms = 64 / sizeof(T);
  const unsigned kBytes = 64 * (kRows + kColumns);
  __shared__ __align__(128) char tiles[kStages * kBytes];
  const Address of_left = address_of(tiles), of_right = of_left + 64 * kRows;
  const int down = (size.rows + kRows - 1) / kRows, across = (size.columns + kColumns - 1) / kColumns;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int own_row = warp / ACROSS * 32 * ROWS, own_column = warp % ACROSS * 32 * COLUMNS;
  const TileReader<T, true, A::kAlong, kRows> read_left(of_left, own_row);
  const TileReader<T, false, B::kAlong, kColumns> read_right(of_right, own_column);
  const int block = blockIdx.x - (int)size.before;
  // Blocks that run at once compute tiles of a few rows, so that they read the same lines of both matrices.
  const int matrix = divided(block, size.by_tiles), tile = block - matrix * down * across;
  const int first_down = divided(tile, size.by_band) * (int)size.height, in_band = tile - first_down * across;
  const bool is_last = down - first_down <= size.height;
  const int height = is_last ? down - first_down : (int)size.height;
  const int tile_column = divided(in_band, is_last ? size.by_last_height : size.by_height);
  const i64 first_row = (i64)(first_down + in_band - tile_column * height) * kRows,
            first_column = (i64)tile_column * kColumns;
  const i64 behind_rows = first_row + kRows < size.rows ? first_row + kRows : size.rows;
  const Terms terms = terms_in_rows(left_matrix, first_row, behind_rows - 1, size.inner);
  const A a = with_terms(left_matrix, terms);
  const B b = with_terms(right_matrix, terms);
  i64 length = size.length;
  if (A::kSkips) length = (((int)terms.count + (int)size.parts - 1) / (int)size.parts + kTerms - 1) / kTerms * kTerms;
  const i64 begin = blockIdx.y * length, end = begin + length < terms.count ? begin + length : terms.count;
  const int steps = end <= begin ? 0 : (int)((end - begin + kTerms - 1) / kTerms);
  float sums[ROWS][COLUMNS][4][8] = {};
  {
    TileLoader<A, kRows, kThreads> left(a, matrix, first_row, size.rows, begin, end);
    TileLoader<B, kColumns, kThreads> right(b, matrix, first_column, size.columns, begin, end);
    begin_launch();
#pragma unroll 1
    for (int i = 0; i < kStages - 1; ++i) {
      if (i < steps) {
        left.load(of_left + i * kBytes);
        right.load(of_right + i * kBytes);
      }
      end_copies();
    }
    unsigned used = 0, unused = (kStages - 1) * kBytes;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      wait_for_copies<kStages - 2>();
      __syncthreads();
      Factors of_columns[COLUMNS];
#pragma unroll
      for (int j = 0; j < COLUMNS; ++j) of_columns[j] = Factors(read_right.read(used, 32 * j));
      typename Factors::Read next = read_left.read(used, 0);
      left.load(of_left + unused);
      right.load(of_right + unused);
      end_copies();
#pragma unroll
      for (int i = 0; i < ROWS; ++i) {
        const Factors of_row(next);
        if (i + 1 < ROWS) next = read_left.read(used, 32 * (i + 1));
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) Factors::add_product(sums[i][j], of_row, of_columns[j]);
      }
      used = used + kBytes < kStages * kBytes ? used + kBytes : 0;
      unused = unused + kBytes < kStages * kBytes ? unused + kBytes : 0;
    }
  }
  bool is_finite = true;
  if constexpr (Factors::kLosesInfinities) {
#pragma unroll
    for (int i = 0; i < ROWS * COLUMNS * 32; ++i) {
      is_finite = is_finite && fabsf(sums[i / 32 / COLUMNS][i / 32 % COLUMNS][i / 8 % 4][i % 8]) < infinity();
    }
  }
  wait_for_copies<0>();
  const bool all_finite = !__syncthreads_or(!is_finite);
  // Such factors cannot be told from the sums, so all is summed again without tensor cores.
  if constexpr (Factors::kLosesInfinities) if (!all_finite) {
    TileLoader<A, kRows, kThreads> left(a, matrix, first_row, size.rows, begin, end);
    TileLoader<B, kColumns, kThreads> right(b, matrix, first_column, size.columns, begin, end);
#pragma unroll
    for (int i = 0; i < ROWS * COLUMNS * 32; ++i) sums[i / 32 / COLUMNS][i / 32 % COLUMNS][i / 8 % 4][i % 8] = 0;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      left.load(of_left);
      right.load(of_right);
      end_copies();
      wait_for_copies<0>();
      __syncthreads();
#pragma unroll 1
      for (int k = 0; k < kTerms; ++k) {
#pragma unroll
        for (int i = 0; i < ROWS * COLUMNS * 32; ++i) {
          const int row = own_row + i / 32 / COLUMNS * 32 + Factors::row(i / 8 % 4);
          const int column = own_column + i / 32 % COLUMNS * 32 + Factors::column(i % 8);
          sums[i / 32 / COLUMNS][i / 32 % COLUMNS][i / 8 % 4][i % 8] +=
              ((const T*)tiles)[in_tile<T, A::kAlong, kRows>(row, k)] *
              ((const T*)(tiles + 64 * kRows))[in_tile<T, B::kAlong, kColumns>(column, k)];
        }
      }
      __syncthreads();
    }
  }
  const int kBlocks = kHasClusters ? CLUSTER : 1;
  if (kBlocks == 1 && size.parts > 1) {
    float4* const of_tile = parts + blockIdx.x * size.parts * (kRows * kColumns / 4);
    if (!sum_parts<kThreads>(sums, of_tile, counters + blockIdx.x, size.parts)) return;
  }
  // Each warp brings its elements into the order of memory, 32 x 32 at a time.
  const int kPitch = 36;
  static_assert(DOWN * ACROSS * 128 * (kPitch + 2) <= kStages * kBytes, "too little shared memory");
  float* const own = (float*)tiles + warp * 32 * (kPitch + 2);
  i64* const others = (i64*)(own + 32 * kPitch);
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
      Factors::template write<kPitch>(own, sums[i][j]);
      const int of_lane = Places::kWidth == 4 ? lane % 8 * 4 : lane;
      const i64 row = first_row + own_row + 32 * i + lane, column = first_column + own_column + 32 * j + of_lane;
      const i64 of_row = row < size.rows ? places.row(matrix, row) : -1;
      const i64 of_column = column < size.columns ? places.column(matrix, column) : -1;
      const i64 from = Places::kRowsFirst ? of_row : of_column;
      others[lane] = Places::kRowsFirst ? of_column : of_row;
      if (kBlocks > 1) cluster_barrier();
      else __syncwarp();
      // A group is a row, or four rows in one of which a thread has neighbours. The blocks of a cluster share the
      // groups. For results outside, a thread reads what the first result needs: branches would part the reads.
      const int kGroups = Places::kWidth == 4 ? 8 : 32, kOwn = kGroups / kBlocks;
      const int kAtOnce = AT_ONCE < kOwn ? AT_ONCE : kOwn;
#pragma unroll 1
      for (int k = kBlocks == 1 ? 0 : blockIdx.y; k < kGroups; k += kAtOnce * kBlocks) {
        i64 at[kAtOnce];
        decltype(read(0)) got[kAtOnce];
#pragma unroll
        for (int e = 0; e < kAtOnce; ++e) {
          const int group = k + e * kBlocks;
          const i64 to = others[Places::kWidth == 4 ? 4 * group + lane / 8 : group];
          at[e] = from < 0 || to < 0 ? -1 : from + to;
          got[e] = read(at[e] < 0 ? 0 : at[e]);
        }
#pragma unroll
        for (int e = 0; e < kAtOnce; ++e) {
          const int group = k + e * kBlocks;
          if (at[e] < 0) continue;
          if constexpr (Places::kWidth == 4) {
            write(at[e], got[e], four_sums_of_blocks<kBlocks>(own + (4 * group + lane / 8) * kPitch + of_lane));
          } else {
            const float* const x = own + (Places::kRowsFirst ? lane * kPitch + group : group * kPitch + lane);
            write(at[e], got[e], sum_of_blocks<kBlocks>(x));
          }
        }
      }
      if (kBlocks > 1) wait_for_cluster();
      else __syncwarp();
    }
  }
}
)cuda";

namespace {

// A tile that a block computes, as parameters of the text's `product`.
struct Tile {
  const char* text;
  int64_t rows, columns;
  unsigned threads, resident;
  double cost;   // of a term of an element, next to that of the largest tile of floats
  double array;  // the time for an array of its elements, in such terms: the more threads there are, the less
};
// A warp of each of the larger tiles computes 64 x 32 elements, or with TF32 and two bytes 64 x 64: it reads less for
// each product then, and the products of a float32's halves leave no registers for that. The cost was measured on an
// H100.
constexpr Tile kFloatTiles[] = {{"2, 1, 2, 4", 128, 128, 256, 1, 1, 60},
                                {"2, 1, 2, 2", 128, 64, 128, 1, 1, 60},
                                {"1, 1, 2, 2", 64, 64, 128, 3, 1.15, 45}};
constexpr Tile kTf32Tiles[] = {{"2, 2, 2, 2", 128, 128, 128, 1, 0.42, 90},
                               {"2, 1, 2, 2", 128, 64, 128, 1, 0.5, 60},
                               {"1, 1, 2, 2", 64, 64, 128, 4, 0.6, 45}};
constexpr Tile kNarrowTiles[] = {{"2, 2, 2, 2", 128, 128, 128, 1, 0.2, 90},
                                 {"2, 1, 2, 2", 128, 64, 128, 1, 0.24, 60},
                                 {"1, 1, 2, 2", 64, 64, 128, 4, 0.3, 45}};

std::span<const Tile> tiles_of(const Product& product) {
  if (product.is_narrow) return kNarrowTiles;
  if (product.is_tf32) return kTf32Tiles;
  return kFloatTiles;
}

// True if the blocks of so many parts are a cluster on GPUs that have clusters, which is quicker than scratch memory.
bool forms_cluster(int64_t parts) { return parts == 2 || parts == 4 || parts == 8; }

struct Division {
  const Tile* tile;
  int64_t parts;
};

int64_t blocks_of(const Product& product, const Product::Share& share, const Tile& tile) {
  return (share.rows + tile.rows - 1) / tile.rows * ((product.columns + tile.columns - 1) / tile.columns) *
         product.matrices;
}

// Large tiles read less, small ones divide the work among more processors; so do parts of the sums. The function that
// gets the results uses so many arrays.
Division division_of(const Product& product, const Product::Share& share, size_t arrays) {
  constexpr int64_t kProcessors = 132, kLeastTerms = 64, kMostParts = 64;
  // The blocks of a cluster lie in one of several groups of processors. Those that are left over in each group only
  // matter where a processor has no room for more than one or two blocks.
  constexpr int64_t kProcessorsOfClusters = 112;
  // The time for beginning and ending a tile, and for reading an element of a part that another block wrote, in terms;
  // and for waiting for the other blocks, or those of a cluster, in terms of elements.
  constexpr double kTermsOfTile = 32, kTermsOfPart = 25, kWaiting = 5e5, kWaitingInCluster = 1e5;
  // A processor that has a single block of few threads waits for memory.
  constexpr double kAlone = 1.4;
  const int64_t least_parts = 1 + share.inner / (1 << 30);  // of which a tile's numbers have 32 bits
  Division best{};
  double least = 0;
  for (const Tile& tile : tiles_of(product)) {
    const int64_t blocks = blocks_of(product, share, tile);
    const int64_t most_parts = std::max(least_parts, std::min(share.inner / kLeastTerms, kMostParts));
    for (int64_t parts = least_parts; parts <= most_parts; ++parts) {
      const bool is_tight = forms_cluster(parts) && tile.resident == 1;
      const int64_t processors = is_tight ? kProcessorsOfClusters : kProcessors;
      const int64_t rounds = (blocks * parts + processors - 1) / processors;
      const double time_of_rounds =
          static_cast<double>(rounds) + (rounds % 2 == 1 && tile.threads == 128 ? kAlone - 1 : 0);
      const auto terms = static_cast<double>((share.inner + parts - 1) / parts), all = static_cast<double>(arrays);
      const auto elements = static_cast<double>(tile.rows * tile.columns);
      const double finish = tile.array * all;
      double time = time_of_rounds * elements * (terms * tile.cost + kTermsOfTile + (parts == 1 ? finish : 0));
      if (parts > 1) {
        if (forms_cluster(parts)) {
          time += kWaitingInCluster +
                  static_cast<double>(rounds) * elements * (kTermsOfPart + finish / static_cast<double>(parts));
        } else {
          const auto rounds_of_last = static_cast<double>((blocks + kProcessors - 1) / kProcessors);
          time += kWaiting + rounds_of_last * elements * (kTermsOfPart * static_cast<double>(parts) + finish);
        }
      }
      if (best.tile != nullptr && time >= least) continue;
      best = {&tile, parts};
      least = time;
    }
  }
  return best;
}

// The text's ProductSize, behind so many blocks of other products.
std::vector<int64_t> size_of(const Product& product, const Product::Share& share, const Division& division,
                             int64_t before) {
  constexpr int64_t kHighestBand = 8;
  const Tile& tile = *division.tile;
  const int64_t down = (share.rows + tile.rows - 1) / tile.rows;
  const int64_t across = (product.columns + tile.columns - 1) / tile.columns;
  const int64_t terms = product.is_narrow ? 32 : 16;  // of a tile in shared memory
  const int64_t length = ir::round_up((share.inner + division.parts - 1) / division.parts, terms);
  const int64_t height = std::min(down, kHighestBand), rest = down % height;
  return {share.rows,
          product.columns,
          share.inner,
          product.matrices,
          division.parts,
          length,
          height,
          reciprocal_of(down * across),
          reciprocal_of(height * across),
          reciprocal_of(height),
          reciprocal_of(rest == 0 ? height : rest),
          before};
}

// The tiles of small_product().
int64_t small_tiles(const Product& product, const Product::Share& share) {
  return (share.rows + 15) / 16 * ((product.columns + 15) / 16) * product.matrices;
}
// Products with at most so many tiles, of at most so many terms, take less time than beginning a launch.
constexpr int64_t kMostSmallTiles = 32, kMostSmallTerms = 1024;
// With at most so many terms, the warps of small_product() divide the columns, too.
constexpr int64_t kMostFewTerms = 64;

}  // namespace

bool multiplies(ir::DType dtype) { return ir::kind(dtype) == ir::DTypeKind::kFloating; }

std::string width_of(int64_t neighbours, ir::DType dtype) {
  return std::to_string(std::gcd(neighbours, 16 / static_cast<int64_t>(size_of(dtype))));
}

std::optional<Product> product_of(const Op& op) {
  if (!op.info().facts.products || !multiplies(op.operands[0].dtype())) return std::nullopt;
  if (op.results[0].shape.element_count() == 0) return std::nullopt;
  std::optional<Product> product = op.code == ir::OpCode::matmul ? product_of_matmul(op) : product_of_convolution(op);
  if (!product) return std::nullopt;
  product->is_narrow = op.operands[0].dtype() != ir::DType::float32;
  if (!product->is_narrow && op.attributes.has(ir::Attr::kPrecision)) {
    product->is_tf32 = op.attributes.word(ir::Attr::kPrecision) == "tf32";
  }
  return product;
}

Code code_of_product(const Op& op, const Maker& finish) {
  const Product product = *product_of(op);
  std::vector<const char*> libraries{kProduct};
  libraries.insert(libraries.end(), product.libraries.begin(), product.libraries.end());
  const std::string of_matrices = "(" + product.left + ", " + product.right + ", ";
  const Functions needs = finish(0, 0, 1);
  Code code;
  const auto add_small = [&](const Product::Share& share) {
    std::vector<int64_t> numbers = size_of(product, share, {tiles_of(product).data(), 1}, 0);
    numbers.insert(numbers.end(), share.numbers.begin(), share.numbers.end());
    Launch launch{libraries, "", {operand(0), operand(1)}, std::move(numbers)};
    launch.libraries.push_back(kSmallProduct);
    launch.blocks = static_cast<unsigned>(small_tiles(product, share));
    const std::string to = add(launch, finish);
    launch.first_block = launch.numbers.size();
    launch.body = filled("  small_product<@>@@, @, *(const ProductSize*)n, n[@]);\n",
                         {share.inner <= kMostFewTerms ? "true" : "false", of_matrices, filled(product.places, {"1"}),
                          to, std::to_string(*launch.first_block)});
    launch.numbers.push_back(0);
    code.launches.push_back(std::move(launch));
  };
  // One launch of several shares, which are divided like the largest one.
  const auto add_tiles = [&](std::span<const Product::Share> shares) {
    const Product::Share& largest =
        *std::max_element(shares.begin(), shares.end(), [](const Product::Share& a, const Product::Share& b) {
          return a.rows * (a.inner + 1) < b.rows * (b.inner + 1);
        });
    const Division division = division_of(product, largest, needs.pointers.size());
    int64_t blocks = 0;
    const auto [tile, parts] = division;
    Launch launch{libraries, "", {operand(0), operand(1), scratch(0), counters()}};
    launch.takes_any_grid = false;
    launch.waits_itself = true;
    launch.rows = static_cast<unsigned>(parts);
    launch.threads = tile->threads;
    launch.resident = tile->resident;
    launch.has_clusters = forms_cluster(parts);
    std::string to;
    std::vector<int64_t> of_finish;
    for (const Product::Share& share : shares) {
      const std::vector<int64_t> size = size_of(product, share, division, blocks);
      launch.numbers.insert(launch.numbers.end(), size.begin(), size.end());
      launch.numbers.insert(launch.numbers.end(), share.numbers.begin(), share.numbers.end());
      if (blocks == 0) {
        const size_t begin = launch.numbers.size();
        to = add(launch, finish, product.width);
        of_finish.assign(launch.numbers.begin() + static_cast<ptrdiff_t>(begin), launch.numbers.end());
      } else {
        launch.numbers.insert(launch.numbers.end(), of_finish.begin(), of_finish.end());
      }
      blocks += blocks_of(product, share, *tile);
    }
    launch.blocks = static_cast<unsigned>(blocks);
    if (parts > 1) {
      const int64_t elements = blocks * parts * tile->rows * tile->columns;
      code.scratch = std::max(code.scratch, static_cast<size_t>(elements) * sizeof(float));
      code.counters = std::max(code.counters, static_cast<size_t>(blocks));
    }
    // Fours of several arrays need many registers, of which the threads of more blocks have fewer.
    const bool is_tight = product.width == 4 && needs.reads > (tile->resident == 4 ? 2 : 3);
    const std::string own = filled("numbers_of_product<@, @>", {std::to_string(shares.size()),
                                                                std::to_string(launch.numbers.size() / shares.size())});
    launch.body =
        filled("@  product<@, @, @, @>@@, @, *(const ProductSize*)n, (float4*)p[2], (unsigned*)p[3]);\n@",
               {shares.size() > 1 ? "  const i64* const all = n;\n  {\n  const i64* const n = " + own + "(all);\n" : "",
                tile->text, product.is_tf32 ? "true" : "false", std::to_string(launch.has_clusters ? parts : 1),
                is_tight ? "4" : "8", of_matrices, filled(product.places, {std::to_string(product.width)}), to,
                shares.size() > 1 ? "  }\n" : ""});
    code.launches.push_back(std::move(launch));
  };
  const auto is_small = [&](const Product::Share& share) {
    return small_tiles(product, share) <= kMostSmallTiles && share.inner <= kMostSmallTerms;
  };
  // More numbers than those of four shares would not fit into a function's arguments.
  constexpr size_t kMostTogether = 4, kMostNumbers = 100;
  const std::vector<Product::Share>& shares = product.shares;
  const size_t numbers = Product::kOwn + shares[0].numbers.size() + needs.numbers.size();
  if (shares.size() <= kMostTogether && numbers <= kMostNumbers &&
      std::none_of(shares.begin(), shares.end(), is_small)) {
    add_tiles(shares);
  } else {
    for (const Product::Share& share : shares) {
      if (is_small(share)) add_small(share);
      else add_tiles({&share, 1});
    }
  }
  return code;
}

}  // namespace alloy::cuda
