// Pooling. A thread computes an element of the result, or four neighbours where channels come last.
#include <algorithm>

#include "cuda/codegen/families.h"
#include "cuda/codegen/leader.h"
#include "ir/rules/windows.h"

namespace alloy::cuda {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;
using ir::OpCode;

constexpr char kPooling[] = R"cuda(
__device__ inline int divided(int a, int b) { return (int)((unsigned)a / (unsigned)b); }
__device__ inline i64 divided(i64 a, i64 b) { return quotient(a, b); }
template <class I> __device__ inline I least(I a, I b) { return a < b ? a : b; }
template <class I> __device__ inline I most(I a, I b) { return a > b ? a : b; }

// WIDTH neighbours in memory.
template <int WIDTH> struct Neighbours { float x[WIDTH]; };
__device__ inline float single(const Neighbours<1>& all) { return all.x[0]; }
__device__ inline Four<float> single(const Neighbours<4>& all) { return {all.x[0], all.x[1], all.x[2], all.x[3]}; }
template <int WIDTH>
__device__ inline Neighbours<WIDTH> neighbours(const float* from) {
  Neighbours<WIDTH> all;
  if constexpr (WIDTH == 4) {
    const Four<float> four = load_four(from, 0);
    all = {four.x[0], four.x[1], four.x[2], four.x[3]};
  } else {
    all.x[0] = *from;
  }
  return all;
}
template <int WIDTH>
__device__ inline void write_neighbours(float* to, const Neighbours<WIDTH>& all) {
  if constexpr (WIDTH == 4) store_four(to, 0, single(all));
  else *to = all.x[0];
}

// An axis along which windows move: its extent, positions and padding, the steps of arrays, and the window.
template <class I>
struct PoolAxis {
  I extent, positions, before, after, source_step, result_step, taps, stride, dilation;
};

// The part of a window at a position that lies inside the source: taps from `first` to before `behind`.
template <class I>
struct Span {
  I begin, first, behind;
  __device__ Span(const PoolAxis<I>& axis, I position) : begin(position * axis.stride - axis.before) {
    first = begin < 0 ? divided(axis.dilation - 1 - begin, axis.dilation) : 0;
    behind = begin < axis.extent ? least(axis.taps, divided(axis.extent - 1 - begin, axis.dilation) + 1) : 0;
  }
  __device__ I inside() const { return most(behind - first, (I)0); }
  // The taps that lie before the end of the padding.
  __device__ I padded(const PoolAxis<I>& axis) const {
    const I room = axis.extent + axis.after - begin;
    return room > 0 ? least(axis.taps, divided(room - 1, axis.dilation) + 1) : 0;
  }
};

// The last RANK of four axes move; there are two others. I holds every index. A thread has WIDTH neighbours along the
// inner axis. T0 to T3 are the taps, and loops over them are straight code; or else T0 is 0.
template <class I, int WIDTH, int RANK, int T0, int T1, int T2, int T3>
struct Pooling {
  typedef I Index;
  static const int kWidth = WIDTH, kUnroll = T0 > 0 ? 64 : 1;
  I outer, inner, source_outer, result_outer;
  PoolAxis<I> axes[4];

  template <class W>
  __device__ Pooling(const i64* n, const W* window)
      : outer((I)n[0]), inner((I)n[1]), source_outer((I)n[2]), result_outer((I)n[3]) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int at = k - (4 - RANK);
      const i64* const m = n + 4 + 6 * (at < 0 ? 0 : at);
      const W* const w = window + 3 * (at < 0 ? 0 : at);
      axes[k] = PoolAxis<I>{1, 1, 0, 0, 0, 0, 1, 1, 1};
      if (at < 0) continue;
      axes[k] = PoolAxis<I>{(I)m[0], (I)m[1], (I)m[2], (I)m[3], (I)m[4], (I)m[5], (I)w[0], (I)w[1], (I)w[2]};
    }
  }

  // Calls f(index along each axis, place of the outer and inner axes in the source and in the result) for every element
  // of the source, or of the result.
  template <class Length, class F>
  __device__ void for_each(const Length& length, const F& f) const {
    const i64 count = (i64)outer * inner * length(axes[0]) * length(axes[1]) * length(axes[2]) * length(axes[3]);
    for (i64 i = first_index(); i < count; i += index_step()) {
      I rest = (I)i, own[4];
      I next = divided(rest, inner);
      const I at = (rest - next * inner) * WIDTH;
      rest = next;
#pragma unroll
      for (int k = 3; k >= 0; --k) {
        next = divided(rest, length(axes[k]));
        own[k] = rest - next * length(axes[k]);
        rest = next;
      }
      f(own, at + rest * source_outer, at + rest * result_outer);
    }
  }
  template <class F>
  __device__ void for_each_source(const F& f) const {
    for_each([](const PoolAxis<I>& axis) { return axis.extent; }, f);
  }
  template <class F>
  __device__ void for_each_result(const F& f) const {
    for_each([](const PoolAxis<I>& axis) { return axis.positions; }, f);
  }
  __device__ I source(const I* own) const {
    I place = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) place += own[k] * axes[k].source_step;
    return place;
  }
  __device__ I result(const I* at) const {
    I place = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) place += at[k] * axes[k].result_step;
    return place;
  }

  // The number of elements by which an average divides.
  __device__ float divisor(const I* at, bool with_padding) const {
    I count = 1;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const Span<I> span(axes[k], at[k]);
      count *= with_padding ? span.padded(axes[k]) : span.inside();
    }
    return (float)(count > 1 ? count : 1);
  }

  // Calls f(place, tap, whether it is inside) for all taps, in their order. A tap outside has the place and number of
  // the nearest one that is inside, so that reading needs no branch. Does nothing if none is inside.
  template <int UNROLL, class F>
  __device__ void for_each_tap(const I* at, const F& f) const {
    const Span<I> s[4] = {Span<I>(axes[0], at[0]), Span<I>(axes[1], at[1]), Span<I>(axes[2], at[2]),
                          Span<I>(axes[3], at[3])};
    if (s[0].inside() * s[1].inside() * s[2].inside() * s[3].inside() == 0) return;
    const auto nearest = [&](int k, I tap) { return least(most(tap, s[k].first), s[k].behind - 1); };
    const auto place = [&](int k, I tap) { return (s[k].begin + tap * axes[k].dilation) * axes[k].source_step; };
#pragma unroll UNROLL
    for (I t0 = 0; t0 < (T0 > 0 ? T0 : axes[0].taps); ++t0) {
      const I n0 = nearest(0, t0);
#pragma unroll UNROLL
      for (I t1 = 0; t1 < (T0 > 0 ? T1 : axes[1].taps); ++t1) {
        const I n1 = nearest(1, t1), tap1 = n0 * axes[1].taps + n1;
#pragma unroll UNROLL
        for (I t2 = 0; t2 < (T0 > 0 ? T2 : axes[2].taps); ++t2) {
          const I n2 = nearest(2, t2), tap2 = tap1 * axes[2].taps + n2;
#pragma unroll UNROLL
          for (I t3 = 0; t3 < (T0 > 0 ? T3 : axes[3].taps); ++t3) {
            const I n3 = nearest(3, t3);
            f(place(0, n0) + place(1, n1) + place(2, n2) + place(3, n3), tap2 * axes[3].taps + n3,
              (n0 == t0) & (n1 == t1) & (n2 == t2) & (n3 == t3));
          }
        }
      }
    }
  }

  // The tap of a window on an element of the source, along an axis and of all.
  __device__ I tap(int k, I own, I position) const {
    return divided(own + axes[k].before - position * axes[k].stride, axes[k].dilation);
  }
  __device__ I tap(const I* own, const I* position) const {
    I number = 0;
#pragma unroll
    for (int k = 0; k < 4; ++k) number = number * axes[k].taps + tap(k, own[k], position[k]);
    return number;
  }

  // Calls f(position) for all windows over an element of the source.
  template <class F>
  __device__ void for_each_window(const I* own, const F& f) const {
    I first[4], last[4], at[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const PoolAxis<I>& m = axes[k];
      const I end = own[k] + m.before, begin = end - (m.taps - 1) * m.dilation;
      first[k] = begin > 0 ? divided(begin + m.stride - 1, m.stride) : 0;
      last[k] = least(m.positions - 1, divided(end, m.stride));
    }
    // Its tap must lie on the element.
    const auto misses = [&](int k) {
      return tap(k, own[k], at[k]) * axes[k].dilation != own[k] + axes[k].before - at[k] * axes[k].stride;
    };
#pragma unroll 1
    for (at[0] = first[0]; at[0] <= last[0]; ++at[0]) {
      if (misses(0)) continue;
#pragma unroll 1
      for (at[1] = first[1]; at[1] <= last[1]; ++at[1]) {
        if (misses(1)) continue;
#pragma unroll 1
        for (at[2] = first[2]; at[2] <= last[2]; ++at[2]) {
          if (misses(2)) continue;
#pragma unroll 1
          for (at[3] = first[3]; at[3] <= last[3]; ++at[3]) {
            if (!misses(3)) f(at);
          }
        }
      }
    }
  }
};

// The first NaN wins, or else the first of the greatest.
template <class P>
__device__ inline void max_pool(const float* x, float* y, const P& c) {
  typedef typename P::Index I;
  c.for_each_result([&](const I* at, I from, I to) {
    Neighbours<P::kWidth> greatest;
    for (float& value : greatest.x) value = -infinity();
    c.template for_each_tap<P::kUnroll>(at, [&](I place, I, bool) {
      const Neighbours<P::kWidth> values = neighbours<P::kWidth>(x + from + place);
#pragma unroll
      for (int e = 0; e < P::kWidth; ++e) {
        const float own = greatest.x[e];
        greatest.x[e] = (own == own) & !(values.x[e] <= own) ? values.x[e] : own;
      }
    });
    write_neighbours(y + to + c.result(at), greatest);
  });
}

template <class P>
__device__ inline void max_pool(const float* x, float* y, int* indices, i64 modulus, bool local,
                                const P& c) {
  typedef typename P::Index I;
  c.for_each_result([&](const I* at, I from, I to) {
    float greatest = -infinity();
    i64 index = -1;
    c.template for_each_tap<P::kUnroll>(at, [&](I place, I tap, bool) {
      const float value = x[from + place];
      if (greatest == greatest && (index < 0 || !(value <= greatest))) {
        greatest = value;
        index = local ? tap : from + place;
      }
    });
    y[to + c.result(at)] = greatest;
    indices[to + c.result(at)] = index < 0 ? 0 : (int)(index % modulus);
  });
}

template <class P>
__device__ inline void avg_pool(const float* x, float* y, bool with_padding,
                                const P& c) {
  typedef typename P::Index I;
  c.for_each_result([&](const I* at, I from, I to) {
    Neighbours<P::kWidth> sums = {};
    c.template for_each_tap<P::kUnroll>(at, [&](I place, I, bool is_inside) {
      const Neighbours<P::kWidth> values = neighbours<P::kWidth>(x + from + place);
#pragma unroll
      for (int e = 0; e < P::kWidth; ++e) sums.x[e] += is_inside ? values.x[e] : 0;
    });
    const float divisor = c.divisor(at, with_padding);
    for (float& sum : sums.x) sum /= divisor;
    write_neighbours(y + to + c.result(at), sums);
  });
}

// The tap of each window that has the element of max_pool(), or -1.
template <class T, class P>
__device__ inline void max_pool_taps(const float* x, T* taps, const P& c) {
  typedef typename P::Index I;
  c.for_each_result([&](const I* at, I from, I to) {
    Neighbours<P::kWidth> greatest;
    for (float& value : greatest.x) value = -infinity();
    Adjacent<T, P::kWidth> found;
    for (T& tap : found.x) tap = (T)-1;
    c.template for_each_tap<P::kUnroll>(at, [&](I place, I tap, bool) {
      const Neighbours<P::kWidth> values = neighbours<P::kWidth>(x + from + place);
#pragma unroll
      for (int e = 0; e < P::kWidth; ++e) {
        const float own = greatest.x[e];
        const bool wins = (own == own) & ((found.x[e] == (T)-1) | !(values.x[e] <= own));
        greatest.x[e] = wins ? values.x[e] : own;
        found.x[e] = wins ? (T)tap : found.x[e];
      }
    });
    *(Adjacent<T, P::kWidth>*)(taps + to + c.result(at)) = found;
  });
}

// Each element of the source sums what the windows over it give: an element of the incoming gradient, if it is the
// first NaN of the window, or else the first of the greatest elements.
template <class P, class Read, class Write>
__device__ inline void max_pool_gradient(const float* g, const float* x, const P& c,
                                         const Read& read, const Write& write) {
  typedef typename P::Index I;
  c.for_each_source([&](const I* at, I from, I to) {
    const I own_place = c.source(at);
    const float* const source = x + from;
    const auto before = read(from + own_place);
    const Neighbours<P::kWidth> own = neighbours<P::kWidth>(source + own_place);
    Neighbours<P::kWidth> sums = {};
    bool has_nan = false;
#pragma unroll
    for (int e = 0; e < P::kWidth; ++e) has_nan = has_nan | (own.x[e] != own.x[e]);
    c.for_each_window(at, [&](const I* position) {
      const Neighbours<P::kWidth> gradients = neighbours<P::kWidth>(g + to + c.result(position));
      bool loses[P::kWidth] = {};
      c.template for_each_tap<P::kUnroll>(position, [&](I place, I, bool) {
        const Neighbours<P::kWidth> values = neighbours<P::kWidth>(source + place);
        const bool is_earlier = place < own_place;
#pragma unroll
        for (int e = 0; e < P::kWidth; ++e) {
          loses[e] = loses[e] | !(values.x[e] <= own.x[e]) | (is_earlier & (values.x[e] == own.x[e]));
        }
      });
      if (has_nan) {
#pragma unroll
        for (int e = 0; e < P::kWidth; ++e) loses[e] = loses[e] & (own.x[e] == own.x[e]);
        c.template for_each_tap<1>(position, [&](I place, I, bool) {
          const Neighbours<P::kWidth> values = neighbours<P::kWidth>(source + place);
          const bool is_earlier = place < own_place;
#pragma unroll
          for (int e = 0; e < P::kWidth; ++e) loses[e] = loses[e] | (is_earlier & (values.x[e] != values.x[e]));
        });
      }
#pragma unroll
      for (int e = 0; e < P::kWidth; ++e) sums.x[e] += loses[e] ? 0 : gradients.x[e];
    });
    write(from + own_place, before, single(sums));
  });
}

// Each element of the source sums what give(sums, element, position, place in the result) adds for each window over it.
template <class P, class Read, class Write, class Give>
__device__ inline void sum_windows(const P& c, const Read& read, const Write& write, const Give& give) {
  typedef typename P::Index I;
  c.for_each_source([&](const I* at, I from, I to) {
    const I own_place = c.source(at);
    const auto before = read(from + own_place);
    Neighbours<P::kWidth> sums = {};
    c.for_each_window(at, [&](const I* position) { give(sums, at, position, to + c.result(position)); });
    write(from + own_place, before, single(sums));
  });
}

// The same as max_pool_gradient() if the taps of max_pool_taps() are known.
template <class T, class P, class Read, class Write>
__device__ inline void max_pool_gradient_of_taps(const float* g, const T* taps, const P& c, const Read& read,
                                                 const Write& write) {
  typedef typename P::Index I;
  sum_windows(c, read, write, [&](Neighbours<P::kWidth>& sums, const I* at, const I* position, I place) {
    const Neighbours<P::kWidth> gradients = neighbours<P::kWidth>(g + place);
    const Adjacent<T, P::kWidth> found = *(const Adjacent<T, P::kWidth>*)(taps + place);
    const T own = (T)c.tap(at, position);
#pragma unroll
    for (int e = 0; e < P::kWidth; ++e) sums.x[e] += found.x[e] == own ? gradients.x[e] : 0;
  });
}

template <class P, class Read, class Write>
__device__ inline void avg_pool_gradient(const float* g, bool with_padding, const P& c, const Read& read,
                                         const Write& write) {
  typedef typename P::Index I;
  sum_windows(c, read, write, [&](Neighbours<P::kWidth>& sums, const I*, const I* position, I place) {
    const Neighbours<P::kWidth> gradients = neighbours<P::kWidth>(g + place);
    const float divisor = c.divisor(position, with_padding);
#pragma unroll
    for (int e = 0; e < P::kWidth; ++e) sums.x[e] += gradients.x[e] / divisor;
  });
}
)cuda";

// How a pooling of x to y is computed.
struct Pooled {
  int width = 1;                 // neighbours that a thread has
  std::vector<int64_t> numbers;  // of Pooling
  int64_t taps = 1;              // of a window
  bool is_known;                 // loops over taps are straight code
  std::string object;            // a declaration of the Pooling c

  Pooled(const Op& op, const Dims& x, const Dims& y, int most_width);
};

Pooled::Pooled(const Op& op, const Dims& x, const Dims& y, int most_width) {
  const Dims axes = ir::window_axes(op.attributes, x.size()), steps_x = steps_of(x), steps_y = steps_of(y);
  const Dims& size = op.attributes.ints(Attr::kWindow);
  std::vector<ir::Window> windows;
  for (int64_t i = 0; i < axes.size(); ++i) {
    windows.push_back(ir::window_of(op.attributes, i, size[i], x[axes[i]]));
  }
  // Axes that a window of one element leaves as they are belong to the others, before or behind.
  const auto is_still = [&](int64_t i) {
    const ir::Window& w = windows[static_cast<size_t>(i)];
    return w.size == 1 && w.stride == 1 && w.before == 0 && w.after == 0;
  };
  int64_t first = 0, last = axes.size() - 1;
  while (first < last && is_still(first)) ++first;
  while (first < last && is_still(last)) --last;
  const int64_t before = axes[first], behind = axes[last] + 1, inner = count_of(x, behind, x.size());
  if (most_width == 4 && behind < x.size() && x.back() % 4 == 0) width = 4;
  numbers = {count_of(x, 0, before), inner / width, count_of(x, before, x.size()), count_of(y, before, y.size())};
  int64_t greatest = std::max(count_of(x), count_of(y));
  std::string window, all_taps;
  std::vector<int64_t> window_numbers;
  for (int64_t i = last - first; i < 3; ++i) all_taps += "1, ";
  for (int64_t i = first; i <= last; ++i) {
    const int64_t axis = axes[i];
    const ir::Window& w = windows[static_cast<size_t>(i)];
    numbers.insert(numbers.end(), {x[axis], y[axis], w.before, w.after, steps_x[axis], steps_y[axis]});
    for (const int64_t number : {w.size, w.stride, w.dilation}) {
      window += (window.empty() ? "" : ", ") + std::to_string(number);
      window_numbers.push_back(number);
    }
    all_taps += std::to_string(w.size) + (i < last ? ", " : "");
    taps *= w.size;
    greatest = std::max(greatest, y[axis] * w.stride + w.effective() + x[axis] + w.before + w.after);
  }
  constexpr int64_t kMostTaps = 32, kMostOfInt = 1 << 30;
  is_known = taps <= kMostTaps;
  const std::string given = is_known ? "window" : "n + " + std::to_string(numbers.size());
  if (!is_known) numbers.insert(numbers.end(), window_numbers.begin(), window_numbers.end());
  object = (is_known ? "  const int window[] = {" + window + "};\n" : "") +
           filled("  const Pooling<@, @, @, @> c(n, @);\n",
                  {greatest < kMostOfInt ? "int" : "i64", std::to_string(width), std::to_string(last - first + 1),
                   is_known ? all_taps : "0, 0, 0, 0", given});
}

Code pooling(const Op& op, const std::string& call, std::vector<Pointer> pointers, int most_width,
             std::vector<int64_t> others = {}) {
  require_float(op);
  const Dims &x = op.operands[0].shape().dims(), &y = op.results[0].shape.dims();
  Code code;
  if (count_of(y) == 0) return code;
  Pooled pooled(op, x, y, most_width);
  const std::string text = filled(call, {std::to_string(pooled.numbers.size())});
  pooled.numbers.insert(pooled.numbers.end(), others.begin(), others.end());
  code.launches.push_back(launch_for(count_of(y) / pooled.width, {kPooling}, pooled.object + "  " + text + ";\n",
                                     std::move(pointers), std::move(pooled.numbers)));
  return code;
}

std::string with_padding(const Op& op) { return op.attributes.flag(Attr::kIncludePadding) ? "true" : "false"; }

}  // namespace

Code code_of_max_pool(const Op& op) {
  return pooling(op, "max_pool((const float*)p[0], (float*)p[1], c)", {operand(0), result(0)}, 4);
}

Code code_of_max_pool_with_indices(const Op& op) {
  const ir::PoolIndices indices = ir::PoolIndices::of(op.attributes.word(Attr::kIndicesMode));
  const int64_t modulus =
      indices.modulus(indices.are_local ? ir::Shape(op.attributes.ints(Attr::kWindow)) : op.operands[0].shape());
  return pooling(op,
                 std::string("max_pool((const float*)p[0], (float*)p[1], (int*)p[2], n[@], ") +
                     (indices.are_local ? "true" : "false") + ", c)",
                 {operand(0), result(0), result(1)}, 1, {modulus});
}

Code code_of_pooling_gradient(const Op& op, const Maker& finish) {
  require_float(op);
  const Dims &y = op.operands[0].shape().dims(), &x = op.results[0].shape.dims();
  Code code;
  if (count_of(x) == 0) return code;
  const bool is_max = op.code == OpCode::max_pool2d_gradient || op.code == OpCode::max_pool4d_gradient;
  const Pooled pooled(op, x, y, 4);
  Launch launch = launch_for(count_of(x) / pooled.width, {kPooling}, "", {operand(0)}, pooled.numbers);
  std::string call = "avg_pool_gradient((const float*)p[0], " + with_padding(op);
  if (is_max) {
    // Each element looks for the greatest of all windows over it, or of many windows one launch finds it before.
    constexpr int64_t kMany = 1 << 20;
    const bool is_found_before = count_of(y) > 0 && (!pooled.is_known || count_of(y) * pooled.taps > kMany);
    const std::string type = pooled.is_known ? "unsigned char" : "int";
    call = is_found_before ? "max_pool_gradient_of_taps((const float*)p[0], (const " + type + "*)p[1]"
                           : "max_pool_gradient((const float*)p[0], (const float*)p[1]";
    launch.pointers.push_back(is_found_before ? scratch(0) : operand(1));
    if (is_found_before) {
      code.scratch = static_cast<size_t>(count_of(y)) * (pooled.is_known ? 1 : sizeof(int));
      code.launches.push_back(
          launch_for(count_of(y) / pooled.width, {kPooling},
                     pooled.object + "  max_pool_taps((const float*)p[0], (" + type + "*)p[1], c);\n",
                     {operand(1), scratch(0)}, pooled.numbers));
    }
  }
  launch.body = pooled.object + "  " + call + ", c, " + add(launch, finish, pooled.width) + ");\n";
  code.launches.push_back(std::move(launch));
  return code;
}

Code code_of_max_pool_gradient(const Op& op) { return code_of_pooling_gradient(op, storing(op)); }
Code code_of_avg_pool_gradient(const Op& op) { return code_of_pooling_gradient(op, storing(op)); }

Code code_of_avg_pool(const Op& op) {
  return pooling(op, "avg_pool((const float*)p[0], (float*)p[1], " + with_padding(op) + ", c)", {operand(0), result(0)},
                 4);
}

}  // namespace alloy::cuda
