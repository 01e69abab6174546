// Max and average pooling and their gradients, vectorised over the channels where those are innermost.
// Gradients recompute what they need from the source. A window that hangs over counts only what it covers; a
// maximum of nothing is -infinity, an average of nothing 0.
#include <algorithm>
#include <cstring>
#include <vector>

#include "cpu/families.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"
#include "ir/windows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/pooling/pooling.cpp"
#include "cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/lanes-inl.h"
#include "cpu/simd/vocabulary-inl.h"

#ifndef ALLOY_KERNELS_POOLING_ONCE_
#define ALLOY_KERNELS_POOLING_ONCE_
namespace alloy::cpu {

// Which elements [first, last) of a window at some output position lie inside the input, and where element 0
// would be.
struct Covered {
  int64_t first, last, origin, counted;  // counted: inside the input or its declared padding
};

// Images of height x width x inner elements: channels are inner where they come last, else images are planes
// with inner 1.
struct Pooling {
  int64_t images, height, width, inner, out_height, out_width;
  ir::Window rows, columns;
  bool include_padding;
  std::vector<Covered> covered_rows = covered(rows, out_height, height),
                       covered_columns = covered(columns, out_width, width);
  // Whether each element of the source is in exactly one window.
  bool tiles = tile(rows, out_height, height) && tile(columns, out_width, width);

  static std::vector<Covered> covered(const ir::Window& w, int64_t positions, int64_t extent) {
    std::vector<Covered> all;
    for (int64_t position = 0; position < positions; ++position) {
      Covered& c = all.emplace_back();
      c.origin = position * w.stride - w.before;
      const int64_t padded = extent + w.after - c.origin;
      c.counted = std::clamp<int64_t>((padded + w.dilation - 1) / w.dilation, 0, w.size);
      c.first = std::min(std::max<int64_t>((-c.origin + w.dilation - 1) / w.dilation, 0), w.size);
      c.last = std::clamp<int64_t>((extent - c.origin + w.dilation - 1) / w.dilation, c.first, w.size);
    }
    return all;
  }
  static bool tile(const ir::Window& w, int64_t positions, int64_t extent) {
    return w.stride == w.size && w.dilation == 1 && w.before == 0 && positions * w.size >= extent;
  }

  float divisor(const Covered& y, const Covered& x) const {
    const int64_t count = include_padding ? y.counted * x.counted : (y.last - y.first) * (x.last - x.first);
    return static_cast<float>(std::max<int64_t>(count, 1));
  }
  int64_t source_size() const { return height * width * inner; }
  int64_t result_size() const { return out_height * out_width * inner; }
};

// Of one image, channels [begin, end). `source` is that of the forward op, `gradient` the incoming one; the
// results of gradients must hold zeros, but where windows tile the source.
struct PoolingLoops {
  void (*maximum)(const Pooling& p, const float* source, int64_t begin, int64_t end, float* result);
  void (*average)(const Pooling& p, const float* source, int64_t begin, int64_t end, float* result);
  void (*maximum_gradient)(const Pooling& p, const float* gradient, const float* source, int64_t begin, int64_t end,
                           float* result);
  // Does not look at the source, which may be null.
  void (*average_gradient)(const Pooling& p, const float* gradient, const float* source, int64_t begin, int64_t end,
                           float* result);
};

}  // namespace alloy::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

// Calls body(rows covered, columns covered, output offset) for every output position.
template <class Body>
HWY_INLINE void ForOutputs(const Pooling& p, const Body& body) {
  int64_t out = 0;
  for (const Covered& y : p.covered_rows) {
    for (const Covered& x : p.covered_columns) {
      body(y, x, out);
      out += p.inner;
    }
  }
}

// Calls body(source offset) for every element of a window inside the input, row by row.
template <class Body>
HWY_INLINE void ForWindow(const Pooling& p, const Covered& y, const Covered& x, const Body& body) {
  for (int64_t ky = y.first; ky < y.last; ++ky) {
    const int64_t row = (y.origin + ky * p.rows.dilation) * p.width;
    for (int64_t kx = x.first; kx < x.last; ++kx) body((row + x.origin + kx * p.columns.dilation) * p.inner);
  }
}

// Calls body(d, channel) with whole vectors, then with single lanes.
template <class Body>
HWY_INLINE void ForChannels(int64_t begin, int64_t end, const Body& body) {
  const FloatTag d;
  const int64_t lanes = hn::Lanes(d);
  int64_t c = begin;
  for (; c + lanes <= end; c += lanes) body(d, c);
  for (; c < end; ++c) body(hn::CappedTag<float, 1>(), c);
}

// The greater, and NaN where either is.
template <class D>
HWY_INLINE Vec<D> MaxOrNaN(Vec<D> a, Vec<D> b) {
  return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
}

void Maximum(const Pooling& p, const float* source, int64_t begin, int64_t end, float* result) {
  ForOutputs(p, [&](const Covered& y, const Covered& x, int64_t out) HWY_ATTR {
    ForChannels(begin, end, [&](auto d, int64_t c) HWY_ATTR {
      auto greatest = Lowest(d);
      ForWindow(p, y, x, [&](int64_t at) HWY_ATTR {
        greatest = MaxOrNaN<decltype(d)>(hn::LoadU(d, source + at + c), greatest);
      });
      hn::StoreU(greatest, d, result + out + c);
    });
  });
}

void Average(const Pooling& p, const float* source, int64_t begin, int64_t end, float* result) {
  ForOutputs(p, [&](const Covered& y, const Covered& x, int64_t out) HWY_ATTR {
    const float divisor = p.divisor(y, x);
    ForChannels(begin, end, [&](auto d, int64_t c) HWY_ATTR {
      auto sum = Zero(d);
      ForWindow(p, y, x, [&](int64_t at) HWY_ATTR { sum = hn::Add(sum, hn::LoadU(d, source + at + c)); });
      hn::StoreU(hn::Div(sum, hn::Set(d, divisor)), d, result + out + c);
    });
  });
}

// The winner's number in the window is kept beside the maximum, as a float, so that both have one kind of
// lanes. The first of all wins unless another is greater, or a NaN.
void MaximumGradient(const Pooling& p, const float* gradient, const float* source, int64_t begin, int64_t end,
                     float* result) {
  ForOutputs(p, [&](const Covered& y, const Covered& x, int64_t out) HWY_ATTR {
    ForChannels(begin, end, [&](auto d, int64_t c) HWY_ATTR {
      auto greatest = Lowest(d), winner = Zero(d), number = Zero(d);
      ForWindow(p, y, x, [&](int64_t at) HWY_ATTR {
        const auto v = hn::LoadU(d, source + at + c);
        const auto wins = hn::Or(hn::Gt(v, greatest), hn::AndNot(hn::IsNaN(greatest), hn::IsNaN(v)));
        greatest = hn::IfThenElse(wins, v, greatest);
        winner = hn::IfThenElse(wins, number, winner);
        number = hn::Add(number, One(d));
      });
      const auto g = hn::LoadU(d, gradient + out + c);
      number = Zero(d);
      ForWindow(p, y, x, [&](int64_t at) HWY_ATTR {
        float* r = result + at + c;
        const auto own = hn::IfThenElseZero(hn::Eq(number, winner), g);
        hn::StoreU(p.tiles ? own : hn::Add(hn::LoadU(d, r), own), d, r);
        number = hn::Add(number, One(d));
      });
    });
  });
}

void AverageGradient(const Pooling& p, const float* gradient, const float*, int64_t begin, int64_t end, float* result) {
  ForOutputs(p, [&](const Covered& y, const Covered& x, int64_t out) HWY_ATTR {
    const float divisor = p.divisor(y, x);
    ForChannels(begin, end, [&](auto d, int64_t c) HWY_ATTR {
      const auto share = hn::Div(hn::LoadU(d, gradient + out + c), hn::Set(d, divisor));
      ForWindow(p, y, x, [&](int64_t at) HWY_ATTR {
        float* r = result + at + c;
        hn::StoreU(p.tiles ? share : hn::Add(hn::LoadU(d, r), share), d, r);
      });
    });
  });
}

PoolingLoops FindPoolingLoops() { return {&Maximum, &Average, &MaximumGradient, &AverageGradient}; }

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace alloy::cpu {

HWY_EXPORT(FindPoolingLoops);

namespace {

using ir::Attr;
using ir::Op;

Pooling describe(const Op& op, const ir::Shape& source, const ir::Shape& result) {
  const ir::LayoutAxes l = ir::LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout));
  const ir::Dims& window = op.attributes.ints(Attr::kWindow);
  const bool channels_last = l.channels == 3;
  const int64_t channels = source[l.channels];
  return {channels_last ? source[l.batch] : source[l.batch] * channels,
          source[l.height],
          source[l.width],
          channels_last ? channels : 1,
          result[l.height],
          result[l.width],
          ir::window_of(op.attributes, 0, window[0], source[l.height]),
          ir::window_of(op.attributes, 1, window[1], source[l.width]),
          op.attributes.flag(Attr::kIncludePadding)};
}

// Calls body(image, begin, end) for every image and blocks of its channels.
template <class Body>
void for_each_block(const Pooling& p, const Body& body) {
  constexpr int64_t kChannels = 64;
  const int64_t blocks = ir::divide_up(p.inner, kChannels);
  const int64_t work = p.out_height * p.out_width * p.rows.size * p.columns.size * std::min(p.inner, kChannels);
  parallel_for(p.images * blocks, work, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t from = task % blocks * kChannels;
      body(task / blocks, from, std::min(from + kChannels, p.inner));
    }
  });
}

class ForwardPooling final : public Kernel {
 public:
  using Loop = decltype(PoolingLoops::maximum);

  ForwardPooling(const Pooling& pooling, Loop loop) : p_(pooling), loop_(loop) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const auto* source = reinterpret_cast<const float*>(operands[0]);
    auto* result = reinterpret_cast<float*>(results[0]);
    for_each_block(p_, [&](int64_t image, int64_t from, int64_t to) {
      loop_(p_, source + image * p_.source_size(), from, to, result + image * p_.result_size());
    });
  }

 private:
  Pooling p_;
  Loop loop_;
};

// Windows overlap, so that the gradient of an image's block is one thread's.
class PoolingGradient final : public Kernel {
 public:
  using Loop = decltype(PoolingLoops::maximum_gradient);

  PoolingGradient(const Pooling& pooling, Loop loop) : p_(pooling), loop_(loop) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const auto* gradient = reinterpret_cast<const float*>(operands[0]);
    const auto* source = reinterpret_cast<const float*>(operands[1]);  // null where it only lends its shape
    auto* result = reinterpret_cast<float*>(results[0]);
    for_each_block(p_, [&](int64_t image, int64_t from, int64_t to) {
      const int64_t at = image * p_.source_size();
      clear(result + at, from, to);
      const float* image_source = source == nullptr ? nullptr : source + at;
      loop_(p_, gradient + image * p_.result_size(), image_source, from, to, result + at);
    });
  }

 private:
  void clear(float* image, int64_t from, int64_t to) const {
    if (p_.tiles) return;  // every element is written
    if (to - from == p_.inner) {
      std::fill_n(image, p_.source_size(), 0.0f);
      return;
    }
    for (int64_t i = 0; i < p_.height * p_.width; ++i) std::fill_n(image + i * p_.inner + from, to - from, 0.0f);
  }

  Pooling p_;
  Loop loop_;
};

std::unique_ptr<Kernel> make_forward(const Op& op, ForwardPooling::Loop loop) {
  require_float(op);
  return std::make_unique<ForwardPooling>(describe(op, op.operands[0].shape(), op.results[0].shape), loop);
}

std::unique_ptr<Kernel> make_gradient(const Op& op, PoolingGradient::Loop loop) {
  require_float(op);
  return std::make_unique<PoolingGradient>(describe(op, op.results[0].shape, op.operands[0].shape()), loop);
}

PoolingLoops loops() { return HWY_DYNAMIC_DISPATCH(FindPoolingLoops)(); }

}  // namespace

std::unique_ptr<Kernel> make_max_pool(const Op& op) { return make_forward(op, loops().maximum); }
std::unique_ptr<Kernel> make_avg_pool(const Op& op) { return make_forward(op, loops().average); }
std::unique_ptr<Kernel> make_max_pool_gradient(const Op& op) { return make_gradient(op, loops().maximum_gradient); }
std::unique_ptr<Kernel> make_avg_pool_gradient(const Op& op) { return make_gradient(op, loops().average_gradient); }

}  // namespace alloy::cpu
#endif
