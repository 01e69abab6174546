#include "cuda/codegen/product.h"

#include <algorithm>
#include <utility>

#include "cuda/codegen/families.h"

namespace alloy::cuda {

using ir::Op;

const char* const kProduct = R"cuda(
// Rows and columns of the results, terms of each sum, and results; the terms are divided into parts.
struct ProductSize { i64 rows, columns, inner, matrices, parts; };

// A left matrix M has types Line and Term and functions line(matrix, row), term(k) and at(line, term), the address of an
// element, or null for 0; of a right matrix a line is a column. advance(term, by) goes on by as many terms as `by` is
// from the first. If M::kAlong, neighbouring terms are neighbours in memory, else neighbouring lines. M::kWide says that
// this is so for each four of them, from a multiple of 4 on: all are 0 if the first one is.
// The places of results have row(matrix, row), the index of a row's first element, and column(matrix, column), the
// distance from there; kRowsFirst if rows are nearer to each other. read(index) reads what write(index, read, x) needs
// to take an element of the result. Of several elements all is read first: the compiler cannot know that writing one
// does not change what is read for the next.

// ---- what needs instructions of their own ----

// Of 32 lines and 16 terms, a thread of a warp has lines 4 g + i and terms 4 t + j, in x[i][j], where g is its number
// divided by 4 and t the rest.
struct Fragment { unsigned x[4][4]; };

#ifdef __CUDACC__
__device__ inline void copy_four_later(float* to, const float* from, int count) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from),
               "r"(4 * count)
               : "memory");
}
__device__ inline void copy_later(float* to, const float* from, int count) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from),
               "r"(4 * count)
               : "memory");
}
// Ends a group of copies, which may be empty.
__device__ inline void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for all groups but the last ones.
template <int BUT>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(BUT) : "memory");
}

// Adds the products of 32 rows and 32 columns, of which a thread has rows 4 g + i and columns 8 t + j, in sums[i][j].
// The tensor cores take the upper 19 bits of each number. They give each step's sums to row g or g + 8 of 16, and to
// columns 2 t and 2 t + 1 of 8: numbered so that each thread reads and writes neighbours.
__device__ inline void multiply(float (&sums)[4][8], const Fragment& a, const Fragment& b) {
#pragma unroll
  for (int k = 0; k < 4; k += 2) {
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(sums[i][j]), "+f"(sums[i][4 + j]), "+f"(sums[i + 1][j]), "+f"(sums[i + 1][4 + j])
            : "r"(a.x[i][k]), "r"(a.x[i + 1][k]), "r"(a.x[i][k + 1]), "r"(a.x[i + 1][k + 1]), "r"(b.x[j][k]),
              "r"(b.x[j][k + 1]));
      }
    }
  }
}
#endif

// ---- tiles in shared memory, of 16 terms ----

// Where an element lies in a tile, so that threads that read or write at once use different banks.
template <bool ALONG, int LINES>
__device__ inline int in_tile(int line, int term) {
  return ALONG ? (line ^ (line >> 2 & 1)) * 16 + term : term * LINES + (line ^ (term >> 2 & 3) * 8);
}

// What a thread copies of each tile: fours of neighbours.
template <class M, int LINES, int THREADS>
struct TileLoader {
  static const int kFours = LINES * 4 / THREADS, kAcross = M::kAlong ? 4 : LINES / 4, kStep = THREADS / kAcross;
  static const int kLines = M::kAlong ? kFours : M::kWide ? 1 : 4;
  const M& matrix;
  typename M::Line lines[kLines];
  int inside[kLines];  // lines from there on, at most 4
  typename M::Term term, one, next;
  i64 rest;  // terms from there on

  __device__ TileLoader(const M& m, i64 number, i64 first, i64 count, i64 begin, i64 end) : matrix(m) {
#pragma unroll
    for (int j = 0; j < kLines; ++j) {
      const i64 line = first + line_of(j), behind = count - line;
      inside[j] = behind < 0 ? 0 : behind < 4 ? (int)behind : 4;
      lines[j] = m.line(number, behind > 0 ? line : 0);
    }
    term = m.term(begin + term_of(0));
    one = m.term(1);
    next = m.term(M::kAlong ? M::kWide ? 16 : 12 : kStep);
    rest = end - begin - term_of(0);
  }
  // Of a copy, or of a line that is copied by itself.
  __device__ static int line_of(int j) {
    return M::kAlong ? threadIdx.x / kAcross + kStep * j : threadIdx.x % kAcross * 4 + j;
  }
  __device__ static int term_of(int j) {
    return M::kAlong ? threadIdx.x % kAcross * 4 : threadIdx.x / kAcross + kStep * j;
  }
  __device__ static float* place(float* tile, int line, int term) {
    return tile + in_tile<M::kAlong, LINES>(line, term);
  }
  __device__ void copy_four(float* to, const float* from, int count) const {
    if (from == nullptr) count = 0;
    if (count == 0) from = matrix.from;
    if ((u64)from % 16 == 0) {
      copy_four_later(to, from, count);
      return;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) copy_later(to + i, i < count ? from + i : from, i < count);
  }
  __device__ void copy_one(float* to, const float* from) const {
    copy_later(to, from == nullptr ? matrix.from : from, from != nullptr);
  }
  // Begins to copy the next tile.
  __device__ void load(float* tile) {
    if (M::kAlong && M::kWide) {
#pragma unroll
      for (int j = 0; j < kFours; ++j) {
        copy_four(place(tile, line_of(j), term_of(0)),
                  rest > 0 && inside[j] > 0 ? matrix.at(lines[j], term) : nullptr, rest < 4 ? (int)rest : 4);
      }
      matrix.advance(term, next);
    } else if (M::kAlong) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < kFours; ++j) {
          copy_one(place(tile, line_of(j), term_of(0) + i),
                   rest > i && inside[j] > 0 ? matrix.at(lines[j], term) : nullptr);
        }
        matrix.advance(term, one);
      }
      matrix.advance(term, next);
    } else {
#pragma unroll
      for (int j = 0; j < kFours; ++j) {
        const bool is_term = rest > kStep * j;
        if (M::kWide) {
          copy_four(place(tile, line_of(0), term_of(j)), is_term && inside[0] > 0 ? matrix.at(lines[0], term) : nullptr,
                    inside[0]);
        } else {
#pragma unroll
          for (int i = 0; i < kLines; ++i) {
            copy_one(place(tile, line_of(i), term_of(j)),
                     is_term && inside[i] > 0 ? matrix.at(lines[i], term) : nullptr);
          }
        }
        matrix.advance(term, next);
      }
    }
    rest -= 16;
  }
};

template <bool ALONG, int LINES>
__device__ inline Fragment fragment_of(const float* tile, int first) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  Fragment fragment;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint4 four = *(const uint4*)(tile + (ALONG ? in_tile<ALONG, LINES>(first + 4 * g + i, 4 * t)
                                                     : in_tile<ALONG, LINES>(first + 4 * g, 4 * t + i)));
    const unsigned x[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) (ALONG ? fragment.x[i][j] : fragment.x[j][i]) = x[j];
  }
  return fragment;
}

// ---- precision ----

// Of the 23 bits behind a float32's point, the tensor cores take 10.
__device__ inline void round_to_tf32(Fragment& fragment) {
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    unsigned& x = fragment.x[i / 4][i % 4];
    if (fabsf(__uint_as_float(x)) < infinity()) x += 0x1000u;
  }
}
// Leaves the nearest number of 10 bits, and returns the rest. The rest is not a number if x is not finite or rounds to
// infinity.
__device__ inline Fragment split(Fragment& fragment) {
  Fragment low;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    unsigned& x = fragment.x[i / 4][i % 4];
    const unsigned high = (x + 0x1000u) & 0xffffe000u;
    low.x[i / 4][i % 4] = __float_as_uint(__uint_as_float(x) - __uint_as_float(high));
    x = high;
  }
  return low;
}

// ---- products ----

// A block of DOWN x ACROSS warps computes a tile of the result, each warp 32 ROWS x 32 COLUMNS elements of it. If TF32,
// factors are rounded to that; else each is the sum of two such numbers, and of the four products only that of the
// lower halves is left out. The tensor cores do not round sums to the nearest number, so they sum only a few terms.
template <int ROWS, int COLUMNS, int DOWN, int ACROSS, bool TF32, class A, class B, class Places, class Read, class Write>
__device__ inline void product(const A& a, const B& b, const Places& places, const Read& read, const Write& write,
                               const ProductSize& size) {
  const int kRows = 32 * ROWS * DOWN, kColumns = 32 * COLUMNS * ACROSS, kThreads = 32 * DOWN * ACROSS, kStages = 3;
  __shared__ __align__(16) float tiles[kStages][16 * (kRows + kColumns)];
  const i64 down = (size.rows + kRows - 1) / kRows, across = (size.columns + kColumns - 1) / kColumns;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int own_row = warp / ACROSS * 32 * ROWS, own_column = warp % ACROSS * 32 * COLUMNS;
  const i64 length = ((size.inner + size.parts - 1) / size.parts + 15) / 16 * 16, begin = blockIdx.y * length;
  const i64 end = begin + length < size.inner ? begin + length : size.inner;
  const int steps = end <= begin ? 0 : (int)((end - begin + 15) / 16);
  for (i64 block = blockIdx.x; block < down * across * size.matrices; block += gridDim.x) {
    // Blocks that run at once compute tiles of a few rows, so that they read the same lines of both matrices.
    const i64 kBand = 8, matrix = quotient(block, down * across), tile = block - matrix * down * across;
    const i64 band = quotient(tile, kBand * across), in_band = tile - band * kBand * across;
    const i64 height = down - band * kBand < kBand ? down - band * kBand : kBand;
    const i64 tile_column = quotient(in_band, height);
    const i64 first_row = (band * kBand + in_band - tile_column * height) * kRows,
              first_column = tile_column * kColumns;
    float sums[ROWS][COLUMNS][4][8];
    // If a sum is not finite, a factor may have been infinite or not a number, which has no two halves: then all is
    // summed again without tensor cores.
    for (bool again = false;; again = true) {
      TileLoader<A, kRows, kThreads> left(a, matrix, first_row, size.rows, begin, end);
      TileLoader<B, kColumns, kThreads> right(b, matrix, first_column, size.columns, begin, end);
#pragma unroll
      for (int i = 0; i < ROWS * COLUMNS * 32; ++i) sums[i / 32 / COLUMNS][i / 32 % COLUMNS][i / 8 % 4][i % 8] = 0;
#pragma unroll
      for (int i = 0; i < kStages - 1; ++i) {
        if (i < steps) {
          left.load(tiles[i]);
          right.load(tiles[i] + 16 * kRows);
        }
        end_copies();
      }
      int stage = 0, free_stage = kStages - 1;
      for (int step = 0; step < steps; ++step) {
        wait_for_copies<kStages - 2>();
        __syncthreads();
        if (step + kStages - 1 < steps) {
          left.load(tiles[free_stage]);
          right.load(tiles[free_stage] + 16 * kRows);
        }
        end_copies();
        const float *const of_left = tiles[stage], *const of_right = of_left + 16 * kRows;
        if (again) {
#pragma unroll 1
          for (int k = 0; k < 16; ++k) {
#pragma unroll
            for (int i = 0; i < ROWS * COLUMNS * 32; ++i) {
              sums[i / 32 / COLUMNS][i / 32 % COLUMNS][i / 8 % 4][i % 8] +=
                  of_left[in_tile<A::kAlong, kRows>(own_row + i / 32 / COLUMNS * 32 + lane / 4 * 4 + i / 8 % 4, k)] *
                  of_right[in_tile<B::kAlong, kColumns>(
                      own_column + i / 32 % COLUMNS * 32 + lane % 4 * 8 + i % 8, k)];
            }
          }
        } else {
          Fragment high_right[COLUMNS], low_right[COLUMNS];
#pragma unroll
          for (int j = 0; j < COLUMNS; ++j) {
            high_right[j] = fragment_of<B::kAlong, kColumns>(of_right, own_column + 32 * j);
            if (TF32) round_to_tf32(high_right[j]);
            else low_right[j] = split(high_right[j]);
          }
#pragma unroll
          for (int i = 0; i < ROWS; ++i) {
            Fragment high_left = fragment_of<A::kAlong, kRows>(of_left, own_row + 32 * i), low_left;
            if (TF32) round_to_tf32(high_left);
            else low_left = split(high_left);
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) {
              if (TF32) {
                multiply(sums[i][j], high_left, high_right[j]);
                continue;
              }
              float few[4][8] = {};
              multiply(few, high_left, low_right[j]);
              multiply(few, low_left, high_right[j]);
              multiply(few, high_left, high_right[j]);
#pragma unroll
              for (int k = 0; k < 32; ++k) sums[i][j][k / 8][k % 8] += few[k / 8][k % 8];
            }
          }
        }
        stage = stage + 1 < kStages ? stage + 1 : 0;
        free_stage = free_stage + 1 < kStages ? free_stage + 1 : 0;
      }
      bool is_finite = true;
#pragma unroll
      for (int i = 0; i < ROWS * COLUMNS * 32; ++i) {
        is_finite = is_finite && fabsf(sums[i / 32 / COLUMNS][i / 32 % COLUMNS][i / 8 % 4][i % 8]) < infinity();
      }
      // All threads are done with the tiles, too.
      if (!__syncthreads_or(!is_finite) || again) break;
    }
    // Each warp brings its elements into the order of memory, 32 x 32 at a time.
    const int kPitch = 36;
    float* const own = tiles[0] + warp * 32 * (kPitch + 2);
    i64* const rows = (i64*)(own + 32 * kPitch);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
#pragma unroll
      for (int j = 0; j < COLUMNS; ++j) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          float4* const to = (float4*)(own + (lane / 4 * 4 + k) * kPitch + lane % 4 * 8);
          const float(&x)[8] = sums[i][j][k];
          to[0] = make_float4(x[0], x[1], x[2], x[3]);
          to[1] = make_float4(x[4], x[5], x[6], x[7]);
        }
        const i64 row = first_row + own_row + 32 * i, column = first_column + own_column + 32 * j;
        const i64 lane_row = row + lane < size.rows ? places.row(matrix, row + lane) : -1;
        const i64 lane_column = column + lane < size.columns ? places.column(matrix, column + lane) : -1;
        rows[lane] = Places::kRowsFirst ? lane_column : lane_row;
        __syncwarp();
        const i64 from = Places::kRowsFirst ? lane_row : lane_column;
#pragma unroll 1
        for (int k = 0; k < 32; k += 4) {
          i64 at[4];
          float x[4];
          decltype(read(0)) got[4];
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            at[e] = from < 0 || rows[k + e] < 0 ? -1 : from + rows[k + e];
            x[e] = own[Places::kRowsFirst ? lane * kPitch + k + e : (k + e) * kPitch + lane];
            if (at[e] >= 0) got[e] = read(at[e]);
          }
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            if (at[e] >= 0) write(at[e], got[e], x[e]);
          }
        }
        __syncwarp();
      }
    }
    __syncthreads();
  }
}

// Places of parts of sums, one result behind the other.
struct PartPlaces {
  static const bool kRowsFirst = false;
  const ProductSize& size;
  __device__ i64 row(i64 matrix, i64 i) const {
    return ((blockIdx.y * size.matrices + matrix) * size.rows + i) * size.columns;
  }
  __device__ i64 column(i64, i64 i) const { return i; }
};

template <class Places, class Read, class Write>
__device__ inline void sum_parts(const float* parts, const Places& places, const Read& read, const Write& write,
                                 const ProductSize& size) {
  const i64 count = size.matrices * size.rows * size.columns;
  for (i64 i = first_index(); i < count; i += index_step()) {
    double sum = 0;
    for (i64 part = 0; part < size.parts; ++part) sum += parts[part * count + i];
    const i64 line = quotient(i, size.columns), matrix = quotient(line, size.rows);
    const i64 at = places.row(matrix, line - matrix * size.rows) + places.column(matrix, i - line * size.columns);
    write(at, read(at), (float)sum);
  }
}
)cuda";

namespace {

// A tile that a block computes, as parameters of the text's `product`.
struct Tile {
  const char* text;
  int64_t rows, columns;
  unsigned threads;
  double cost;  // of an element, next to that of the largest tile's
};
constexpr Tile kTileSizes[] = {
    {"2, 1, 2, 4", 128, 128, 256, 1}, {"2, 1, 2, 2", 128, 64, 128, 1.05}, {"1, 1, 2, 2", 64, 64, 128, 1.3}};

struct Division {
  const Tile* tile;
  int64_t blocks, parts;
};

// Large tiles read less, small ones divide the work among more processors; so do parts of the sums.
Division division_of(const Product& product) {
  constexpr int64_t kProcessors = 132, kLeastTerms = 128, kMostParts = 64;
  // The time for beginning and ending a tile, and for writing and reading an element of a part, in terms.
  constexpr double kTermsOfTile = 64, kTermsOfPart = 75;
  Division best{};
  double least = 0;
  for (const Tile& tile : kTileSizes) {
    const int64_t blocks = (product.rows + tile.rows - 1) / tile.rows *
                           ((product.columns + tile.columns - 1) / tile.columns) * product.matrices;
    for (int64_t parts = 1; parts <= std::clamp<int64_t>(product.inner / kLeastTerms, 1, kMostParts); ++parts) {
      const auto rounds = static_cast<double>((blocks * parts + kProcessors - 1) / kProcessors);
      const auto terms = static_cast<double>((product.inner + parts - 1) / parts);
      const auto written = static_cast<double>(product.rows * product.columns * product.matrices * parts);
      const double time = rounds * static_cast<double>(tile.rows * tile.columns) * tile.cost * (terms + kTermsOfTile) +
                          (parts > 1 ? written * kTermsOfPart / static_cast<double>(kProcessors) : 0);
      if (best.tile != nullptr && time >= least) continue;
      best = {&tile, blocks, parts};
      least = time;
    }
  }
  return best;
}

}  // namespace

std::optional<Product> product_of(const Op& op) {
  if (!op.info().facts.products || op.operands[0].dtype() != ir::DType::float32) return std::nullopt;
  if (op.results[0].shape.element_count() == 0) return std::nullopt;
  std::optional<Product> product = op.code == ir::OpCode::matmul ? product_of_matmul(op) : product_of_convolution(op);
  if (product && op.attributes.has(ir::Attr::kPrecision)) {
    product->is_tf32 = op.attributes.word(ir::Attr::kPrecision) == "tf32";
  }
  return product;
}

Code code_of_product(const Op& op, const Maker& finish) {
  Code code;
  append_product(code, *product_of(op), finish);
  return code;
}

void append_product(Code& code, const Product& product, const Maker& finish) {
  const auto [tile, blocks, parts] = division_of(product);
  std::vector<int64_t> numbers{product.rows, product.columns, product.inner, product.matrices, parts};
  numbers.insert(numbers.end(), product.numbers.begin(), product.numbers.end());
  std::vector<const char*> libraries{kProduct};
  libraries.insert(libraries.end(), product.libraries.begin(), product.libraries.end());
  const auto append = [&](Launch launch, const std::string& function, const std::string& places, const Maker& with) {
    const std::string functions = add(launch, with);
    launch.body = "  " + function + places + ", " + functions + ", *(const ProductSize*)n);\n";
    code.launches.push_back(std::move(launch));
  };
  Launch launch{libraries, "", {operand(0), operand(1)}, numbers};
  launch.blocks = static_cast<unsigned>(std::min<int64_t>(blocks, 1 << 30));
  launch.rows = static_cast<unsigned>(parts);
  launch.threads = tile->threads;
  launch.takes_any_grid = false;
  const std::string function =
      filled("product<@, @>(@, @, ", {tile->text, product.is_tf32 ? "true" : "false", product.left, product.right});
  if (parts == 1) {
    append(std::move(launch), function, product.places, finish);
    return;
  }
  const Pointer at = scratch(code.scratch);
  const int64_t count = product.rows * product.columns * product.matrices;
  code.scratch += static_cast<size_t>(parts * count) * sizeof(float);
  append(std::move(launch), function, "PartPlaces{*(const ProductSize*)n}", [&](size_t, size_t) {
    return Functions{{}, "[](i64) { return 0; }, [&](i64 i, int, float x) { ((float*)p[2])[i] = x; }", {at}, {}};
  });
  Launch sum = launch_for(count, libraries, "", {at, operand(1)}, numbers);
  append(std::move(sum), "sum_parts((const float*)p[0], ", product.places, finish);
}

}  // namespace alloy::cuda
