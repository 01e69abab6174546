#include "cpu/recurrent/row_product.h"

#include <algorithm>

#include "cpu/threads/parallel.h"
#include "ir/rounding.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/recurrent/row_product.cpp"
#include "cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

// The number of rows whose sums of one stripe fit into the registers.
constexpr int64_t kMostRows = HWY_MAX_BYTES >= 64 ? 6 : 3;
// This depth of a stripe stays in the first-level cache for all rows.
constexpr int64_t kDepth = 128;

// Adds `depth` terms to the sums of `rows` rows of a stripe.
template <size_t rows, size_t vectors>
HWY_NOINLINE void Block(const float* HWY_RESTRICT left, int64_t left_stride, const float* HWY_RESTRICT packed,
                        int64_t depth, bool first, float* HWY_RESTRICT to) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<FloatTag> sums[rows][vectors];
  HWY_UNROLL(8)
  for (size_t r = 0; r < rows; ++r) {
    HWY_UNROLL(8)
    for (size_t v = 0; v < vectors; ++v) {
      sums[r][v] = first ? hn::Zero(d) : hn::LoadU(d, to + (r * vectors + v) * lanes);
    }
  }
  for (int64_t k = 0; k < depth; ++k, packed += vectors * lanes) {
    hn::Vec<FloatTag> right[vectors];
    HWY_UNROLL(8)
    for (size_t v = 0; v < vectors; ++v) right[v] = hn::LoadU(d, packed + v * lanes);
    HWY_UNROLL(8)
    for (size_t r = 0; r < rows; ++r) {
      const auto factor = hn::Set(d, left[static_cast<int64_t>(r) * left_stride + k]);
      HWY_UNROLL(8)
      for (size_t v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(factor, right[v], sums[r][v]);
    }
  }
  HWY_UNROLL(8)
  for (size_t r = 0; r < rows; ++r) {
    HWY_UNROLL(8)
    for (size_t v = 0; v < vectors; ++v) hn::StoreU(sums[r][v], d, to + (r * vectors + v) * lanes);
  }
}

template <size_t vectors>
void Multiply(const RecurrentWeights& w, const float* left, int64_t left_stride, int64_t rows, const float* packed,
              float* to) {
  const auto width = static_cast<int64_t>(vectors * hn::Lanes(FloatTag()));
  const int64_t groups = ir::divide_up(rows, kMostRows);
  for (int64_t k = 0; k == 0 || k < w.depth; k += kDepth) {
    const int64_t depth = std::min(kDepth, w.depth - k);
    for (int64_t group = 0; group < groups; ++group) {
      const int64_t row = rows * group / groups, count = rows * (group + 1) / groups - row;
      const float *a = left + row * left_stride + k, *b = packed + k * width;
      float* const y = to + row * width;
      switch (count) {
        case 1: Block<1, vectors>(a, left_stride, b, depth, k == 0, y); break;
        case 2: Block<2, vectors>(a, left_stride, b, depth, k == 0, y); break;
        case 3: Block<3, vectors>(a, left_stride, b, depth, k == 0, y); break;
#if HWY_MAX_BYTES >= 64
        case 4: Block<4, vectors>(a, left_stride, b, depth, k == 0, y); break;
        case 5: Block<5, vectors>(a, left_stride, b, depth, k == 0, y); break;
        case 6: Block<6, vectors>(a, left_stride, b, depth, k == 0, y); break;
#endif
        default: break;
      }
    }
  }
}

template <size_t vectors>
void Pack(const RecurrentWeights& w, const float* from, int64_t stripe, float* to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(FloatTag())), width = static_cast<int64_t>(vectors) * lanes;
  const int64_t first = stripe * static_cast<int64_t>(vectors);  // numbers the vectors of all stripes
  for (int64_t v = 0; v < static_cast<int64_t>(vectors); ++v) {
    const int64_t block = (first + v) / w.gates, gate = (first + v) % w.gates;
    const int64_t unit = block * lanes, units = std::clamp<int64_t>(w.units - unit, 0, lanes);
    const float* source = from + gate * w.gate_stride + unit * w.unit_stride;
    for (int64_t k = 0; k < w.depth; ++k, source += w.depth_stride) {
      float* const out = to + k * width + v * lanes;
      if (w.unit_stride == 1) {
        for (int64_t u = 0; u < units; ++u) out[u] = source[u];
      } else {
        for (int64_t u = 0; u < units; ++u) out[u] = source[u * w.unit_stride];
      }
      std::fill(out + units, out + lanes, 0.0F);
    }
  }
}

template <size_t vectors>
RowProductLoops LoopsOf() {
  return {static_cast<int64_t>(hn::Lanes(FloatTag())), static_cast<int64_t>(vectors), &Pack<vectors>,
          &Multiply<vectors>};
}

// A stripe holds whole blocks of units.
RowProductLoops FindRowProductLoops(int64_t gates) { return gates == 3 ? LoopsOf<3>() : LoopsOf<4>(); }

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace alloy::cpu {

HWY_EXPORT(FindRowProductLoops);

RowProduct::RowProduct(const RecurrentWeights& weights)
    : weights_(weights), loops_(HWY_DYNAMIC_DISPATCH(FindRowProductLoops)(weights.gates)) {
  stripes_ = ir::divide_up(weights.units, stripe_units());
}

void RowProduct::pack(const float* from, float* to) const {
  const int64_t floats = stripe_floats() * weights_.depth;
  parallel_for(stripes_, floats, [&](int64_t begin, int64_t end) {
    for (int64_t stripe = begin; stripe < end; ++stripe) loops_.pack(weights_, from, stripe, to + stripe * floats);
  });
}

}  // namespace alloy::cpu
#endif
