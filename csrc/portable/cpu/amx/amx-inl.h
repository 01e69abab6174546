// AMX tiles as the kernels use them: how factors are split into parts, and panels of them multiplied. Included once by
// each kernel that does so, behind ALLOY_HAS_AMX; its functions must run only where has_amx() says so.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu/amx/amx.h"
#include "cpu/threads/parallel.h"

namespace alloy::cpu {
namespace {

// A tile has 16 rows of 64 bytes. For a left factor it holds 16 lines (rows of the result) of 32 bfloat16s, for a right
// one 16 rows of pairs, a pair for each of 16 lines (columns of the result). Elements i and i + 16 of the sum are a
// pair: any order will do that both factors have.
constexpr int64_t kLines = 16, kDepth = 32, kTileBytes = 1024, kParts = 3;
// Tiles of two times 16 lines of each factor are multiplied with one another: their four sums take half of the
// registers. A panel is what these lines need, as deep as is split at a time: the parts of the first 16 lines' tile,
// those of the other 16 lines', then deeper ones.
constexpr int64_t kPanelLines = 2 * kLines, kSplitBytes = kParts * kTileBytes, kStepBytes = 2 * kSplitBytes;

inline int64_t divided(int64_t count, int64_t parts) { return (count + parts - 1) / parts; }
inline int64_t rounded(int64_t count, int64_t quantum) { return divided(count, quantum) * quantum; }

// One side of a product. `left`: its lines are rows of the result.
struct Factor {
  const float* data;
  int64_t lines, line_stride, inner, inner_stride;
  bool left;
};

// The result in parts, one a thread, of so many rows and columns each but for the last ones.
struct Grid {
  int64_t rows = 0, columns = 0, down = 0, across = 0;

  // As square as possible, since every thread splits what it needs.
  Grid(int64_t all_rows, int64_t all_columns) {
    const int64_t threads = kernel_threads();
    for (int64_t i = 1; i <= threads; ++i) {
      const int64_t tall = rounded(divided(all_rows, i), kLines),
                    wide = rounded(divided(all_columns, threads / i), kLines);
      if (threads % i != 0 || (i > 1 && tall + wide >= rows + columns)) continue;
      rows = tall;
      columns = wide;
    }
    down = divided(all_rows, rows);
    across = divided(all_columns, columns);
  }
};

}  // namespace
}  // namespace alloy::cpu

#pragma GCC diagnostic push
#if !defined(__clang__)
// GCC's own intrinsics begin with vectors that they do not set.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#pragma GCC diagnostic ignored "-Wuninitialized"
HWY_PUSH_ATTRIBUTES(ALLOY_AMX_TARGETS)
namespace alloy::cpu {
namespace {

struct alignas(64) TileConfiguration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// The tiles of this thread, for as long as it lives.
struct Tiles {
  Tiles() {
    static const TileConfiguration configuration;  // not on the stack: the compiler does not see that all of it is read
    _tile_loadconfig(&configuration);
  }
  ~Tiles() { _tile_release(); }
};

// The nearest bfloat16; its bits are the upper half.
inline __m512 leading_part(__m512 x) {
  const __m512i bits = _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
  return _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
}

inline void store_part(__m512 low, __m512 high, std::byte* to) {
  _mm512_store_si512(to, _mm512_or_si512(_mm512_castps_si512(high), _mm512_srli_epi32(_mm512_castps_si512(low), 16)));
}

// The parts of a tile's row. `low` and `high`: elements i and i + 16 of the sum.
inline void split_row(__m512 low, __m512 high, std::byte* to) {
  HWY_UNROLL(2)
  for (int64_t part = 0; part + 1 < kParts; ++part, to += kTileBytes) {
    const __m512 low_part = leading_part(low), high_part = leading_part(high);
    store_part(low_part, high_part, to);
    low = _mm512_sub_ps(low, low_part);
    high = _mm512_sub_ps(high, high_part);
  }
  store_part(low, high, to);  // of 24 bits eight are left
}

inline __m512 unpack_low(__m512 x, __m512 y) {
  return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(x), _mm512_castps_pd(y)));
}
inline __m512 unpack_high(__m512 x, __m512 y) {
  return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(x), _mm512_castps_pd(y)));
}

// Makes the rows the columns.
inline void transpose(__m512 rows[16]) {
  __m512 t[16];
  HWY_UNROLL(8)
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
  }
  HWY_UNROLL(4)
  for (int i = 0; i < 16; i += 4) {
    rows[i] = unpack_low(t[i], t[i + 2]);
    rows[i + 1] = unpack_high(t[i], t[i + 2]);
    rows[i + 2] = unpack_low(t[i + 1], t[i + 3]);
    rows[i + 3] = unpack_high(t[i + 1], t[i + 3]);
  }
  // Quarter q of rows[4 i + c] is now column 4 q + c of rows 4 i to 4 i + 3.
  HWY_UNROLL(4)
  for (int c = 0; c < 4; ++c) {
    t[c] = _mm512_shuffle_f32x4(rows[c], rows[4 + c], 0x88);
    t[4 + c] = _mm512_shuffle_f32x4(rows[c], rows[4 + c], 0xdd);
    t[8 + c] = _mm512_shuffle_f32x4(rows[8 + c], rows[12 + c], 0x88);
    t[12 + c] = _mm512_shuffle_f32x4(rows[8 + c], rows[12 + c], 0xdd);
  }
  HWY_UNROLL(4)
  for (int c = 0; c < 4; ++c) {
    rows[c] = _mm512_shuffle_f32x4(t[c], t[8 + c], 0x88);
    rows[4 + c] = _mm512_shuffle_f32x4(t[4 + c], t[12 + c], 0x88);
    rows[8 + c] = _mm512_shuffle_f32x4(t[c], t[8 + c], 0xdd);
    rows[12 + c] = _mm512_shuffle_f32x4(t[4 + c], t[12 + c], 0xdd);
  }
}

inline __mmask16 first(int64_t count) { return static_cast<__mmask16>((1U << std::clamp<int64_t>(count, 0, 16)) - 1); }

// Up to 16 rows of up to 16 elements, with zeros behind them.
struct Square {
  const float* at;
  int64_t stride, rows, columns;

  __m512 row(int64_t i) const {
    return _mm512_maskz_loadu_ps(i < rows ? first(columns) : __mmask16{0}, at + i * stride);
  }
};

// The parts of a tile that has the rows of these squares, or, transposed, their columns.
inline void split_tile(const Square& low, const Square& high, bool transposed, std::byte* to) {
  if (!transposed) {
    for (int64_t i = 0; i < 16; ++i) split_row(low.row(i), high.row(i), to + i * 64);
    return;
  }
  __m512 lows[16], highs[16];
  for (int64_t i = 0; i < 16; ++i) lows[i] = low.row(i);
  transpose(lows);
  for (int64_t i = 0; i < 16; ++i) highs[i] = high.row(i);
  transpose(highs);
  HWY_UNROLL(16)
  for (int64_t i = 0; i < 16; ++i) split_row(lows[i], highs[i], to + i * 64);
}

// How many rows at this distance a second-level cache holds besides others: at a large power of two they meet in a few
// of its sets.
inline int64_t rows_that_fit(int64_t stride_bytes) {
  constexpr int64_t kWayBytes = int64_t{1} << 17, kWays = 16;
  const int64_t power_of_two = std::min(stride_bytes & -stride_bytes, kWayBytes);
  return kWayBytes / power_of_two * (kWays / 2);
}

// Lines of a factor that are wanted soon: they come from memory in the meantime, a share of them at each of so many
// steps.
class Ahead {
 public:
  Ahead() = default;
  // Lines [line, end), from `depth` on as deep as `inner`.
  Ahead(const Factor& f, int64_t line, int64_t end, int64_t depth, int64_t inner, int64_t steps) {
    if (line >= end) return;
    const bool along = f.inner_stride == 1;
    at_ = reinterpret_cast<const char*>(f.data + line * f.line_stride + depth * f.inner_stride);
    rows_ = along ? end - line : inner;
    row_bytes_ = (along ? inner : end - line) * 4;
    stride_ = (along ? f.line_stride : f.inner_stride) * 4;
    share_ = divided(rows_ * divided(row_bytes_, kCacheLine), steps);
  }
  void fetch() {
    for (int64_t i = 0; i < share_ && rows_ > 0; ++i) {
      _mm_prefetch(at_ + offset_, _MM_HINT_T1);
      if ((offset_ += kCacheLine) < row_bytes_) continue;
      offset_ = 0;
      at_ += stride_;
      --rows_;
    }
  }

 private:
  static constexpr int64_t kCacheLine = 64;

  const char* at_ = nullptr;
  int64_t rows_ = 0, row_bytes_ = 0, stride_ = 0, offset_ = 0, share_ = 0;
};

// Tile t of the panels of lines [line, end), from `depth` on, s tiles deep.
inline void split_tile_of(const Factor& f, int64_t line, int64_t end, int64_t depth, int64_t steps, std::byte* to,
                          int64_t t, int64_t s) {
  const int64_t l = line + t * kLines, k = depth + s * kDepth, lines = end - l, low = f.inner - k,
                high = low - kDepth / 2;
  const float* const at = f.data + l * f.line_stride + k * f.inner_stride;
  const float* const half = at + kDepth / 2 * f.inner_stride;
  std::byte* const place = to + (t / 2 * steps + s) * kStepBytes + t % 2 * kSplitBytes;
  if (f.inner_stride == 1) {
    split_tile({at, f.line_stride, lines, low}, {half, f.line_stride, lines, high}, !f.left, place);
  } else split_tile({at, f.inner_stride, low, lines}, {half, f.inner_stride, high, lines}, f.left, place);
}

// split_panels() where rows meet in the cache: those that could not come earlier come one step before.
HWY_NOINLINE void split_distant_rows(const Factor& f, int64_t line, int64_t end, int64_t depth, int64_t steps,
                                     std::byte* to, Ahead ahead) {
  const int64_t tiles = divided(end - line, kLines), all = std::min(steps * kDepth, f.inner - depth),
                there = rows_that_fit(f.inner_stride * 4);
  for (int64_t s = 0; s < steps; ++s) {
    const int64_t next = std::max((s + 1) * kDepth, there), rows = std::min(all, (s + 2) * kDepth) - next;
    Ahead soon(f, line, rows > 0 ? end : line, depth + next, rows, tiles);
    for (int64_t t = 0; t < tiles; ++t) {
      soon.fetch();
      ahead.fetch();
      split_tile_of(f, line, end, depth, steps, to, t, s);
    }
  }
}

// Splits lines [line, end) into panels, from `depth` on as deep as `steps` tiles.
inline void split_panels(const Factor& f, int64_t line, int64_t end, int64_t depth, int64_t steps, std::byte* to,
                         Ahead ahead) {
  const int64_t tiles = divided(end - line, kLines);
  const auto split = [&](int64_t t, int64_t s) {
    ahead.fetch();
    split_tile_of(f, line, end, depth, steps, to, t, s);
  };
  // In the order in which the elements lie.
  if (f.inner_stride == 1) {
    for (int64_t t = 0; t < tiles; ++t) {
      for (int64_t s = 0; s < steps; ++s) {
        split(t, s);
      }
    }
  } else if (steps * kDepth > rows_that_fit(f.inner_stride * 4)) {
    split_distant_rows(f, line, end, depth, steps, to, ahead);
  } else {
    for (int64_t s = 0; s < steps; ++s) {
      for (int64_t t = 0; t < tiles; ++t) {
        split(t, s);
      }
    }
  }
}

// Instructions name registers by number: sums 0 to 3, the left factor 4 and 5, the right one 6 and 7.
#define ALLOY_EACH_SUM(DO)                              \
  do {                                                  \
    DO(0, 4, 6);                                        \
    if constexpr (columns > 1) DO(1, 4, 7);             \
    if constexpr (rows > 1) DO(2, 5, 6);                \
    if constexpr (rows > 1 && columns > 1) DO(3, 5, 7); \
  } while (false)
#define ALLOY_BEGIN(sum, a, b) _tile_zero(sum)
#define ALLOY_END(sum, a, b) _tile_stored(sum, sums + (sum) * kLines * kLines, kLines * 4)
#define ALLOY_MULTIPLY(sum, a, b) _tile_dpbf16ps(sum, a, b)
#define ALLOY_LEFT(part)                                                                  \
  do {                                                                                    \
    _tile_loadd(4, left + (part) * kTileBytes, 64);                                       \
    if constexpr (rows > 1) _tile_loadd(5, left + kSplitBytes + (part) * kTileBytes, 64); \
  } while (false)
#define ALLOY_RIGHT(part)                                                                     \
  do {                                                                                        \
    _tile_loadd(6, right + (part) * kTileBytes, 64);                                          \
    if constexpr (columns > 1) _tile_loadd(7, right + kSplitBytes + (part) * kTileBytes, 64); \
  } while (false)

// Panels that are multiplied with one another: their offsets in bytes.
struct Term {
  int64_t left, right;
};

// The sum of products of panels of which so many tiles count: four tiles, those of the right factor's second tile
// behind those of its first.
template <int rows, int columns>
void multiply_tiles(const std::byte* lefts, const std::byte* rights, std::span<const Term> terms, int64_t steps,
                    float* sums, Ahead& ahead) {
  asm volatile("" ::: "memory");  // the compiler does not see what tiles read
  ALLOY_EACH_SUM(ALLOY_BEGIN);
  for (const Term& term : terms) {
    const std::byte *left = lefts + term.left, *right = rights + term.right;
    for (int64_t s = 0; s < steps; ++s, left += kStepBytes, right += kStepBytes) {
      ahead.fetch();
      // In an order in which only one factor's tiles change.
      ALLOY_RIGHT(0);
      ALLOY_LEFT(2);
      ALLOY_EACH_SUM(ALLOY_MULTIPLY);
      ALLOY_LEFT(0);
      ALLOY_EACH_SUM(ALLOY_MULTIPLY);
      ALLOY_LEFT(1);
      ALLOY_EACH_SUM(ALLOY_MULTIPLY);
      ALLOY_RIGHT(1);
      ALLOY_EACH_SUM(ALLOY_MULTIPLY);
      ALLOY_LEFT(0);
      ALLOY_EACH_SUM(ALLOY_MULTIPLY);
      ALLOY_RIGHT(2);
      ALLOY_EACH_SUM(ALLOY_MULTIPLY);
    }
  }
  ALLOY_EACH_SUM(ALLOY_END);
}

#undef ALLOY_EACH_SUM
#undef ALLOY_BEGIN
#undef ALLOY_END
#undef ALLOY_MULTIPLY
#undef ALLOY_LEFT
#undef ALLOY_RIGHT

inline __mmask16 not_finite(__m512 x) { return _mm512_fpclass_ps_mask(x, 0x99); }  // infinities and both kinds of NaN

// A block of the result: rows and columns of a sum of products of panels, which is added to what is there, or replaces
// it. Returns whether all of it is finite. `sums`: room for four tiles.
inline bool multiply_panels(const std::byte* left, const std::byte* right, std::span<const Term> terms, int64_t steps,
                            bool add, float* y, int64_t y_stride, int64_t rows, int64_t columns, float* sums,
                            Ahead& ahead) {
  const bool tall = rows > kLines, wide = columns > kLines;
  const auto multiply = tall ? (wide ? multiply_tiles<2, 2> : multiply_tiles<2, 1>)
                             : (wide ? multiply_tiles<1, 2> : multiply_tiles<1, 1>);
  multiply(left, right, terms, steps, sums, ahead);
  __mmask16 wrong = 0;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t column = 0; column < columns; column += kLines) {
      const __mmask16 mask = first(columns - column);
      float* const at = y + r * y_stride + column;
      __m512 sum = _mm512_load_ps(sums + (r / kLines * 2 + column / kLines) * kLines * kLines + r % kLines * kLines);
      if (add) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, at));
      _mm512_mask_storeu_ps(at, mask, sum);
      wrong |= not_finite(sum) & mask;
    }
  }
  return wrong == 0;
}

constexpr Term kTermOfOne[] = {{0, 0}};
constexpr std::span<const Term> kOneTerm = kTermOfOne;

}  // namespace
}  // namespace alloy::cpu
HWY_POP_ATTRIBUTES
#pragma GCC diagnostic pop
