// Max and average pooling and their gradients. Loops are vectorised over the axes after the last one along which
// windows move, such as channels. Gradients recompute what they need from the source. A window that reaches beyond the
// input uses only the elements inside; the maximum of none is -infinity, their average 0.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "cpu/families.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"
#include "ir/rules/windows.h"

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

// For one position of a window along an axis: its elements [first, last) are inside the input, and its element 0 is at
// `origin`.
struct Covered {
  int64_t first, last, origin, counted;  // counted: number of elements inside the input or its declared padding
};

// An axis along which windows move.
struct PoolingAxis {
  ir::Window window{1, 1, 1, 0, 0};
  int64_t extent = 1, positions = 1;
  std::vector<Covered> covered = cover();  // by position

  std::vector<Covered> cover() const {
    std::vector<Covered> all;
    const ir::Window& w = window;
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
  // True if each element of the source is in exactly one window.
  bool tiles() const {
    return window.stride == window.size && window.dilation == 1 && window.before == 0 &&
           positions * window.size >= extent;
  }
  // True if each element is a window of its own.
  bool is_still() const { return window.size == 1 && window.stride == 1 && window.before == 0 && window.after == 0; }
};

// The form of the indices of maxima: within the window or the source, and modulo the extent of some last axes.
struct Places {
  bool are_local = false;
  int64_t modulus = 1;
};

// Receives the indices of an image's maxima. `first` is the number of the source's elements before the image.
struct PlacesOut {
  int32_t* places;
  int64_t first;
};

// Pooling over four axes, with `inner` elements after them. Earlier axes count as images, later ones as inner elements.
struct Pooling {
  int64_t images, inner;
  PoolingAxis axes[4];
  bool include_padding;
  Places places = {};
  bool tiles = false;  // each element of the source is in exactly one window

  // The position of a window: the elements that it covers along each axis.
  using Position = std::array<const Covered*, 4>;

  float divisor(const Position& at) const {
    int64_t count = 1;
    for (const Covered* c : at) count *= include_padding ? c->counted : c->last - c->first;
    return static_cast<float>(std::max<int64_t>(count, 1));
  }
  int64_t source_size() const { return size_of_image(&PoolingAxis::extent); }
  int64_t result_size() const { return size_of_image(&PoolingAxis::positions); }
  int64_t window_size() const {
    int64_t size = 1;
    for (const PoolingAxis& axis : axes) size *= axis.window.size;
    return size;
  }

 private:
  int64_t size_of_image(int64_t PoolingAxis::* along) const {
    int64_t size = inner;
    for (const PoolingAxis& axis : axes) size *= axis.*along;
    return size;
  }
};

// Each computes channels [begin, end) of one image. `source` is the source of the forward op, `gradient` the incoming
// gradient. Results of gradients must hold zeros unless windows tile the source.
struct PoolingLoops {
  void (*maximum)(const Pooling& p, const float* source, int64_t begin, int64_t end, float* result);
  void (*average)(const Pooling& p, const float* source, int64_t begin, int64_t end, float* result);
  // Writes the indices of the maxima too.
  void (*maximum_with_places)(const Pooling& p, const float* source, int64_t begin, int64_t end, float* result,
                              const PlacesOut& to);
  void (*maximum_gradient)(const Pooling& p, const float* gradient, const float* source, int64_t begin, int64_t end,
                           float* result);
  // Does not read `source`, which may be null.
  void (*average_gradient)(const Pooling& p, const float* gradient, const float* source, int64_t begin, int64_t end,
                           float* result);
};

}  // namespace alloy::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

// Calls body(position, result offset) for every window.
template <class Body>
HWY_INLINE void ForOutputs(const Pooling& p, const Body& body) {
  int64_t out = 0;
  for (const Covered& a : p.axes[0].covered) {
    for (const Covered& b : p.axes[1].covered) {
      for (const Covered& y : p.axes[2].covered) {
        for (const Covered& x : p.axes[3].covered) {
          body(Pooling::Position{&a, &b, &y, &x}, out);
          out += p.inner;
        }
      }
    }
  }
}

// Calls body(source offset, index in the window) for every element of a window inside the input, in row-major order.
template <class Body>
HWY_INLINE void ForWindow(const Pooling& p, const Pooling::Position& at, const Body& body) {
  const PoolingAxis* const axes = p.axes;
  const auto place = [&](int i, int64_t k) HWY_ATTR { return at[i]->origin + k * axes[i].window.dilation; };
  for (int64_t a = at[0]->first; a < at[0]->last; ++a) {
    for (int64_t b = at[1]->first; b < at[1]->last; ++b) {
      const int64_t plane = (place(0, a) * axes[1].extent + place(1, b)) * axes[2].extent;
      const int64_t planes = (a * axes[1].window.size + b) * axes[2].window.size;
      for (int64_t y = at[2]->first; y < at[2]->last; ++y) {
        const int64_t row = (plane + place(2, y)) * axes[3].extent, rows = (planes + y) * axes[3].window.size;
        for (int64_t x = at[3]->first; x < at[3]->last; ++x) body((row + place(3, x)) * p.inner, rows + x);
      }
    }
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

// The greater one; NaN if either is NaN.
template <class D>
HWY_INLINE Vec<D> MaxOrNaN(Vec<D> a, Vec<D> b) {
  return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
}

void Maximum(const Pooling& p, const float* source, int64_t begin, int64_t end, float* result) {
  ForOutputs(p, [&](const Pooling::Position& at, int64_t out) HWY_ATTR {
    ForChannels(begin, end, [&](auto d, int64_t c) HWY_ATTR {
      auto greatest = Lowest(d);
      ForWindow(p, at, [&](int64_t offset, int64_t) HWY_ATTR {
        greatest = MaxOrNaN<decltype(d)>(hn::LoadU(d, source + offset + c), greatest);
      });
      hn::StoreU(greatest, d, result + out + c);
    });
  });
}

// Keeps the winner's index beside the maximum; adds the channel's part of the index at the end.
void MaximumWithPlaces(const Pooling& p, const float* source, int64_t begin, int64_t end, float* result,
                       const PlacesOut& to) {
  const Places& numbers = p.places;
  ForOutputs(p, [&](const Pooling::Position& at, int64_t out) HWY_ATTR {
    ForChannels(begin, end, [&](auto d, int64_t c) HWY_ATTR {
      const hn::RebindToSigned<decltype(d)> di;
      auto greatest = Lowest(d);
      auto winner = hn::Zero(di);
      bool is_first = true;
      ForWindow(p, at, [&](int64_t offset, int64_t place) HWY_ATTR {
        const int64_t number = (numbers.are_local ? place : to.first + offset) % numbers.modulus;
        const auto v = hn::LoadU(d, source + offset + c);
        const auto place_of_v = hn::Set(di, static_cast<int32_t>(number));
        const auto wins = hn::Or(hn::Gt(v, greatest), hn::AndNot(hn::IsNaN(greatest), hn::IsNaN(v)));
        winner = is_first ? place_of_v : hn::IfThenElse(hn::RebindMask(di, wins), place_of_v, winner);
        greatest = hn::IfThenElse(wins, v, greatest);
        is_first = false;
      });
      hn::StoreU(greatest, d, result + out + c);
      hn::StoreU(winner, di, to.places + out + c);
    });
    if (numbers.are_local) return;
    for (int64_t c = begin; c < end; ++c) to.places[out + c] += static_cast<int32_t>(c % numbers.modulus);
  });
}

void Average(const Pooling& p, const float* source, int64_t begin, int64_t end, float* result) {
  ForOutputs(p, [&](const Pooling::Position& at, int64_t out) HWY_ATTR {
    const float divisor = p.divisor(at);
    ForChannels(begin, end, [&](auto d, int64_t c) HWY_ATTR {
      auto sum = Zero(d);
      ForWindow(p, at,
                [&](int64_t offset, int64_t) HWY_ATTR { sum = hn::Add(sum, hn::LoadU(d, source + offset + c)); });
      hn::StoreU(hn::Div(sum, hn::Set(d, divisor)), d, result + out + c);
    });
  });
}

// Keeps the winner's number in the window beside the maximum, as a float, so that both have the same lanes. The first
// element wins unless another is greater, or NaN.
void MaximumGradient(const Pooling& p, const float* gradient, const float* source, int64_t begin, int64_t end,
                     float* result) {
  ForOutputs(p, [&](const Pooling::Position& at, int64_t out) HWY_ATTR {
    ForChannels(begin, end, [&](auto d, int64_t c) HWY_ATTR {
      auto greatest = Lowest(d), winner = Zero(d), number = Zero(d);
      ForWindow(p, at, [&](int64_t offset, int64_t) HWY_ATTR {
        const auto v = hn::LoadU(d, source + offset + c);
        const auto wins = hn::Or(hn::Gt(v, greatest), hn::AndNot(hn::IsNaN(greatest), hn::IsNaN(v)));
        greatest = hn::IfThenElse(wins, v, greatest);
        winner = hn::IfThenElse(wins, number, winner);
        number = hn::Add(number, One(d));
      });
      const auto g = hn::LoadU(d, gradient + out + c);
      number = Zero(d);
      ForWindow(p, at, [&](int64_t offset, int64_t) HWY_ATTR {
        float* r = result + offset + c;
        const auto own = hn::IfThenElseZero(hn::Eq(number, winner), g);
        hn::StoreU(p.tiles ? own : hn::Add(hn::LoadU(d, r), own), d, r);
        number = hn::Add(number, One(d));
      });
    });
  });
}

void AverageGradient(const Pooling& p, const float* gradient, const float*, int64_t begin, int64_t end, float* result) {
  ForOutputs(p, [&](const Pooling::Position& at, int64_t out) HWY_ATTR {
    const float divisor = p.divisor(at);
    ForChannels(begin, end, [&](auto d, int64_t c) HWY_ATTR {
      const auto share = hn::Div(hn::LoadU(d, gradient + out + c), hn::Set(d, divisor));
      ForWindow(p, at, [&](int64_t offset, int64_t) HWY_ATTR {
        float* r = result + offset + c;
        hn::StoreU(p.tiles ? share : hn::Add(hn::LoadU(d, r), share), d, r);
      });
    });
  });
}

PoolingLoops FindPoolingLoops() { return {&Maximum, &Average, &MaximumWithPlaces, &MaximumGradient, &AverageGradient}; }

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
  const ir::Dims moving = ir::window_axes(op.attributes, source.rank()), &window = op.attributes.ints(Attr::kWindow);
  const int64_t first = source.rank() - 4;
  PoolingAxis axes[4];
  for (int64_t i = 0; i < 4; ++i) {
    const auto* const found = std::find(moving.begin(), moving.end(), first + i);
    const int64_t k = found - moving.begin(), extent = source[first + i];
    const ir::Window still{1, 1, 1, 0, 0};
    axes[i] = {found == moving.end() ? still : ir::window_of(op.attributes, k, window[k], extent), extent,
               result[first + i]};
  }
  int64_t begin = 0, end = 4;
  while (end > 0 && axes[end - 1].is_still()) --end;
  while (begin < end && axes[begin].is_still()) ++begin;
  Pooling p{.images = 1, .inner = 1, .axes = {}, .include_padding = op.attributes.flag(Attr::kIncludePadding)};
  for (int64_t i = 0; i < first + begin; ++i) p.images *= source[i];
  for (int64_t i = first + end; i < source.rank(); ++i) p.inner *= source[i];
  std::move(axes + begin, axes + end, p.axes + 4 - (end - begin));
  p.tiles = std::ranges::all_of(p.axes, [](const PoolingAxis& axis) { return axis.tiles(); });
  return p;
}

// Calls body(image, begin, end) for every image and blocks of its channels.
template <class Body>
void for_each_block(const Pooling& p, const Body& body) {
  constexpr int64_t kChannels = 64;
  const int64_t blocks = ir::divide_up(p.inner, kChannels);
  const int64_t work = p.result_size() / std::max<int64_t>(p.inner, 1) * p.window_size() * std::min(p.inner, kChannels);
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

class PoolingWithPlaces final : public Kernel {
 public:
  PoolingWithPlaces(const Pooling& pooling, decltype(PoolingLoops::maximum_with_places) loop)
      : p_(pooling), loop_(loop) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const auto* source = reinterpret_cast<const float*>(operands[0]);
    auto* result = reinterpret_cast<float*>(results[0]);
    auto* places = reinterpret_cast<int32_t*>(results[1]);
    for_each_block(p_, [&](int64_t image, int64_t from, int64_t to) {
      const int64_t first = image * p_.source_size(), to_image = image * p_.result_size();
      loop_(p_, source + first, from, to, result + to_image, {places + to_image, first});
    });
  }

 private:
  Pooling p_;
  decltype(PoolingLoops::maximum_with_places) loop_;
};

// Windows overlap, so one thread computes the gradient of a block of an image's channels.
class PoolingGradient final : public Kernel {
 public:
  using Loop = decltype(PoolingLoops::maximum_gradient);

  PoolingGradient(const Pooling& pooling, Loop loop) : p_(pooling), loop_(loop) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const auto* gradient = reinterpret_cast<const float*>(operands[0]);
    const auto* source = reinterpret_cast<const float*>(operands[1]);  // null if only its shape is used
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
    for (int64_t i = 0; i < p_.source_size(); i += p_.inner) std::fill_n(image + i + from, to - from, 0.0f);
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
std::unique_ptr<Kernel> make_max_pool_with_indices(const Op& op) {
  require_float(op);
  const ir::Shape &source = op.operands[0].shape(), window(op.attributes.ints(Attr::kWindow));
  const ir::PoolIndices indices = ir::PoolIndices::of(op.attributes.word(Attr::kIndicesMode));
  Pooling p = describe(op, source, op.results[0].shape);
  p.places = {indices.are_local, indices.modulus(indices.are_local ? window : source)};
  if (p.places.modulus > INT32_MAX) op.fail("Places of " + to_string(source) + " do not fit into int32");
  p.places.modulus = std::max<int64_t>(p.places.modulus, 1);
  return std::make_unique<PoolingWithPlaces>(p, loops().maximum_with_places);
}
std::unique_ptr<Kernel> make_max_pool_gradient(const Op& op) { return make_gradient(op, loops().maximum_gradient); }
std::unique_ptr<Kernel> make_avg_pool_gradient(const Op& op) { return make_gradient(op, loops().average_gradient); }

}  // namespace alloy::cpu
#endif
