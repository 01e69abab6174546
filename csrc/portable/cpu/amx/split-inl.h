// Splits a factor into panels: every float32 becomes the sum of three bfloat16s. Included once by each kernel on tiles,
// after ALLOY_HAS_AMX is checked; its functions may only run if machine().tiles is true.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu/amx/panels.h"
#include "cpu/amx/prefetcher.h"
#include "cpu/amx/targets.h"

#pragma GCC diagnostic push
#if !defined(__clang__)
// GCC's own intrinsics read vectors that they never set.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#pragma GCC diagnostic ignored "-Wuninitialized"
HWY_PUSH_ATTRIBUTES(ALLOY_AMX_TARGETS)
namespace alloy::cpu::amx {
namespace {

// Rounds to the nearest bfloat16, whose bits are the upper half.
inline __m512 leading_part(__m512 x) {
  const __m512i bits = _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
  return _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
}

inline void store_part(__m512 low, __m512 high, std::byte* to) {
  _mm512_store_si512(to, _mm512_or_si512(_mm512_castps_si512(high), _mm512_srli_epi32(_mm512_castps_si512(low), 16)));
}

// Splits a row of a tile. `low` and `high` are the elements i and i + 16 of each line.
inline void split_row(__m512 low, __m512 high, std::byte* to) {
  HWY_UNROLL(2)
  for (int64_t part = 0; part + 1 < kParts; ++part, to += kTileBytes) {
    const __m512 low_part = leading_part(low), high_part = leading_part(high);
    store_part(low_part, high_part, to);
    low = _mm512_sub_ps(low, low_part);
    high = _mm512_sub_ps(high, high_part);
  }
  store_part(low, high, to);  // 8 of the 24 bits are left
}

inline __m512 unpack_low(__m512 x, __m512 y) {
  return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(x), _mm512_castps_pd(y)));
}
inline __m512 unpack_high(__m512 x, __m512 y) {
  return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(x), _mm512_castps_pd(y)));
}

// Transposes 16 rows.
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
  // Now quarter q of rows[4 i + c] is column 4 q + c of rows 4 i to 4 i + 3.
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

inline __mmask16 first_lanes(int64_t count) {
  return static_cast<__mmask16>((1U << std::clamp<int64_t>(count, 0, 16)) - 1);
}

// Up to 16 rows of up to 16 elements; zeros follow them.
struct Square {
  const float* at;
  int64_t stride, rows, columns;

  __m512 row(int64_t i) const {
    return _mm512_maskz_loadu_ps(i < rows ? first_lanes(columns) : __mmask16{0}, at + i * stride);
  }
};

// Splits a tile that has the rows of these squares, or, if `transposed`, their columns.
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

// Splits tile t of the panels of these lines, at step s.
inline void split_tile_of(const Factor& f, const PanelRange& range, std::byte* to, int64_t t, int64_t s) {
  const int64_t l = range.line + t * kLines, k = range.depth + s * kDepth, lines = range.end - l, low = f.inner - k,
                high = low - kDepth / 2;
  const float* const at = f.data + l * f.line_stride + k * f.inner_stride;
  const float* const half = at + kDepth / 2 * f.inner_stride;
  std::byte* const place = to + tile_offset(t, s, range.steps);
  if (f.inner_stride == 1) {
    split_tile({at, f.line_stride, lines, low}, {half, f.line_stride, lines, high}, !f.left, place);
  } else split_tile({at, f.inner_stride, low, lines}, {half, f.inner_stride, high, lines}, f.left, place);
}

// For the second-level cache of this processor.
inline int64_t rows_in_cache(int64_t stride_bytes) {
  static const Cache cache = machine().l2;
  return rows_that_fit(stride_bytes, cache);
}

// split_panels() for rows so far apart that they evict each other from the cache. Rows that could not be fetched
// earlier are fetched one step ahead.
HWY_NOINLINE void split_distant_rows(const Factor& f, const PanelRange& range, std::byte* to, Prefetcher prefetcher) {
  const int64_t tiles = range.tiles(), all = std::min(range.steps * kDepth, f.inner - range.depth),
                there = rows_in_cache(f.inner_stride * 4);
  for (int64_t s = 0; s < range.steps; ++s) {
    const int64_t next = std::max((s + 1) * kDepth, there), rows = std::min(all, (s + 2) * kDepth) - next;
    Prefetcher soon(f, {range.line, rows > 0 ? range.end : range.line, range.depth + next, rows}, tiles);
    for (int64_t t = 0; t < tiles; ++t) {
      soon.fetch();
      prefetcher.fetch();
      split_tile_of(f, range, to, t, s);
    }
  }
}

// Splits the lines into panels. `prefetcher` fetches other lines meanwhile, one turn for each tile.
inline void split_panels(const Factor& f, const PanelRange& range, std::byte* to, Prefetcher prefetcher) {
  const int64_t tiles = range.tiles(), steps = range.steps;
  const auto split = [&](int64_t t, int64_t s) {
    prefetcher.fetch();
    split_tile_of(f, range, to, t, s);
  };
  // In the order of the elements in memory.
  if (f.inner_stride == 1) {
    for (int64_t t = 0; t < tiles; ++t) {
      for (int64_t s = 0; s < steps; ++s) {
        split(t, s);
      }
    }
  } else if (steps * kDepth > rows_in_cache(f.inner_stride * 4)) {
    split_distant_rows(f, range, to, prefetcher);
  } else {
    for (int64_t s = 0; s < steps; ++s) {
      for (int64_t t = 0; t < tiles; ++t) {
        split(t, s);
      }
    }
  }
}

}  // namespace
}  // namespace alloy::cpu::amx
HWY_POP_ATTRIBUTES
#pragma GCC diagnostic pop
