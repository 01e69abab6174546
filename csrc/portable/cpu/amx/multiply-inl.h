// Multiplies panels: sums in tile registers, and moves the sums to the result. Included once by each kernel on tiles,
// after ALLOY_HAS_AMX is checked; its functions may only run if machine().tiles is true.
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
// GCC's own intrinsics read vectors that they never set.
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

// Configures the tiles of this thread for the lifetime of the object.
struct Tiles {
  Tiles() {
    // Static, because the compiler does not see that the instruction reads all of it.
    static const TileConfiguration configuration;
    _tile_loadconfig(&configuration);
  }
  ~Tiles() { _tile_release(); }
};

// Offsets in bytes of two panels that are multiplied.
struct Term {
  int64_t left, right;
};

// A sum of products of panels.
struct PanelProduct {
  const std::byte *left, *right;
  std::span<const Term> terms;
  int64_t steps;  // of each panel
};

// Sums products of panels, of which `rows` and `columns` tiles are used. Writes four tiles to `sums`: two for the right
// factor's first tile, then two for its second.
template <int rows, int columns>
void multiply_tiles(const PanelProduct& product, float* sums, Prefetcher& prefetcher) {
  asm volatile("" ::: "memory");  // the compiler does not see that the tile instructions read memory
  const int64_t steps = product.steps;
  ALLOY_EACH_SUM(ALLOY_BEGIN);
  for (const Term& term : product.terms) {
    const std::byte *left = product.left + term.left, *right = product.right + term.right;
    for (int64_t s = 0; s < steps; ++s, left += kStepBytes, right += kStepBytes) {
      prefetcher.fetch();
      // An order in which each step loads one factor's tiles only.
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

// A block of the result, at most a panel's lines high and wide. If `add`, products are added to it.
struct ResultBlock {
  float* at;
  int64_t stride, rows, columns;
  bool add;
};

// Returns true if the whole block is finite afterwards. `sums` has room for four tiles. `prefetcher` gets a turn for
// each step.
inline bool multiply_panels(const PanelProduct& product, const ResultBlock& y, float* sums, Prefetcher& prefetcher) {
  const bool tall = y.rows > kLines, wide = y.columns > kLines;
  const auto multiply = tall ? (wide ? multiply_tiles<2, 2> : multiply_tiles<2, 1>)
                             : (wide ? multiply_tiles<1, 2> : multiply_tiles<1, 1>);
  multiply(product, sums, prefetcher);
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
