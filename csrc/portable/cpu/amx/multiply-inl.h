// How panels are multiplied: sums in tile registers, and from there into the result. Included once by each kernel on
// tiles, behind ALLOY_HAS_AMX; its functions must run only where machine().tiles says so.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu/amx/panels.h"
#include "cpu/amx/prefetcher.h"
#include "cpu/amx/registers.h"
#include "cpu/amx/split-inl.h"
#include "cpu/amx/targets.h"

#pragma GCC diagnostic push
#if !defined(__clang__)
// GCC's own intrinsics begin with vectors that they do not set.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#pragma GCC diagnostic ignored "-Wuninitialized"
HWY_PUSH_ATTRIBUTES(ALLOY_AMX_TARGETS)
namespace alloy::cpu::amx {
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

// Panels that are multiplied with one another: their offsets in bytes.
struct Term {
  int64_t left, right;
};

// A sum of products of panels.
struct PanelProduct {
  const std::byte *left, *right;
  std::span<const Term> terms;
  int64_t steps;  // of each panel
};

// The sum of products of panels of which so many tiles count: four tiles, those of the right factor's second tile
// behind those of its first.
template <int rows, int columns>
void multiply_tiles(const PanelProduct& product, float* sums, Prefetcher& ahead) {
  asm volatile("" ::: "memory");  // the compiler does not see what tiles read
  const int64_t steps = product.steps;
  ALLOY_EACH_SUM(ALLOY_BEGIN);
  for (const Term& term : product.terms) {
    const std::byte *left = product.left + term.left, *right = product.right + term.right;
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

// Infinities and both kinds of NaN.
inline __mmask16 not_finite(__m512 x) { return _mm512_fpclass_ps_mask(x, 0x99); }

// A block of the result, up to a panel's lines high and wide. `add`: to what is there, or instead of it.
struct ResultBlock {
  float* at;
  int64_t stride, rows, columns;
  bool add;
};

// Returns whether all of the block is finite then. `sums`: room for four tiles. `ahead`: a turn for each step.
inline bool multiply_panels(const PanelProduct& product, const ResultBlock& y, float* sums, Prefetcher& ahead) {
  const bool tall = y.rows > kLines, wide = y.columns > kLines;
  const auto multiply = tall ? (wide ? multiply_tiles<2, 2> : multiply_tiles<2, 1>)
                             : (wide ? multiply_tiles<1, 2> : multiply_tiles<1, 1>);
  multiply(product, sums, ahead);
  __mmask16 wrong = 0;
  for (int64_t r = 0; r < y.rows; ++r) {
    for (int64_t column = 0; column < y.columns; column += kLines) {
      const __mmask16 mask = first_lanes(y.columns - column);
      float* const at = y.at + r * y.stride + column;
      __m512 sum = _mm512_load_ps(sums + (r / kLines * 2 + column / kLines) * kLines * kLines + r % kLines * kLines);
      if (y.add) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, at));
      _mm512_mask_storeu_ps(at, mask, sum);
      wrong |= not_finite(sum) & mask;
    }
  }
  return wrong == 0;
}

constexpr Term kTermOfOne[] = {{0, 0}};
constexpr std::span<const Term> kOneTerm = kTermOfOne;

}  // namespace
}  // namespace alloy::cpu::amx
HWY_POP_ATTRIBUTES
#pragma GCC diagnostic pop
