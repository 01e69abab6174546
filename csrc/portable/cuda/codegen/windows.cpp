// Convolutions and their gradients, and pooling. A thread computes an element of the result; a block does for a
// gradient of weights, which is a sum over all positions.
#include <algorithm>

#include "cuda/codegen/families.h"
#include "ir/rules/windows.h"

namespace alloy::cuda {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;
using ir::Window;

constexpr char kWindows[] = R"cuda(
// An axis along which a window moves: its extent, positions and taps, and the steps of arrays along it.
struct Moving {
  i64 extent, positions, taps, stride, dilation, before, after, source_step, result_step, tap_step;
  __device__ i64 place(i64 position, i64 tap) const { return position * stride - before + tap * dilation; }
  __device__ bool holds(i64 place) const { return place >= 0 && place < extent; }
  // The position whose tap lies at a place, or -1.
  __device__ i64 position(i64 place, i64 tap) const {
    const i64 at = place + before - tap * dilation;
    if (at < 0) return -1;
    const i64 found = quotient(at, stride);
    return found * stride == at && found < positions ? found : -1;
  }
};

// ---- convolution: numbers of images, groups, channels of a group, filters of a group; steps; then three axes ----

struct Convolution {
  i64 images, groups, channels, filters, source_image, source_channel, result_image, result_channel, weights_in,
      weights_out;
  Moving axes[3];
};

__device__ inline void convolve(const float* x, const float* w, float* y, const Convolution& c) {
  const Moving &d = c.axes[0], &h = c.axes[1], &v = c.axes[2];
  const i64 outs = c.groups * c.filters, count = c.images * outs * d.positions * h.positions * v.positions;
  for (i64 i = first_index(); i < count; i += index_step()) {
    i64 rest = i;
    // Neighbouring threads compute neighbours in memory.
    const bool channels_last = c.result_channel == 1;
    i64 out = 0;
    if (channels_last) {
      out = rest % outs;
      rest = quotient(rest, outs);
    }
    const i64 pv = rest % v.positions; rest = quotient(rest, v.positions);
    const i64 ph = rest % h.positions; rest = quotient(rest, h.positions);
    const i64 pd = rest % d.positions; rest = quotient(rest, d.positions);
    if (!channels_last) {
      out = rest % outs;
      rest = quotient(rest, outs);
    }
    const i64 image = rest, group = quotient(out, c.filters);
    float sum = 0;
    for (i64 td = 0; td < d.taps; ++td) {
      const i64 at_d = d.place(pd, td);
      if (!d.holds(at_d)) continue;
      for (i64 th = 0; th < h.taps; ++th) {
        const i64 at_h = h.place(ph, th);
        if (!h.holds(at_h)) continue;
        for (i64 tv = 0; tv < v.taps; ++tv) {
          const i64 at_v = v.place(pv, tv);
          if (!v.holds(at_v)) continue;
          const float* from = x + image * c.source_image + group * c.channels * c.source_channel +
                              at_d * d.source_step + at_h * h.source_step + at_v * v.source_step;
          const float* by = w + out * c.weights_out + td * d.tap_step + th * h.tap_step + tv * v.tap_step;
          for (i64 k = 0; k < c.channels; ++k) sum += from[k * c.source_channel] * by[k * c.weights_in];
        }
      }
    }
    y[image * c.result_image + out * c.result_channel + pd * d.result_step + ph * h.result_step +
      pv * v.result_step] = sum;
  }
}

__device__ inline void convolve_data_gradient(const float* g, const float* w, float* x, const Convolution& c) {
  const Moving &d = c.axes[0], &h = c.axes[1], &v = c.axes[2];
  const i64 ins = c.groups * c.channels, count = c.images * ins * d.extent * h.extent * v.extent;
  for (i64 i = first_index(); i < count; i += index_step()) {
    i64 rest = i;
    const bool channels_last = c.source_channel == 1;
    i64 in = 0;
    if (channels_last) {
      in = rest % ins;
      rest = quotient(rest, ins);
    }
    const i64 at_v = rest % v.extent; rest = quotient(rest, v.extent);
    const i64 at_h = rest % h.extent; rest = quotient(rest, h.extent);
    const i64 at_d = rest % d.extent; rest = quotient(rest, d.extent);
    if (!channels_last) {
      in = rest % ins;
      rest = quotient(rest, ins);
    }
    const i64 image = rest, group = quotient(in, c.channels), own = in - group * c.channels;
    float sum = 0;
    for (i64 td = 0; td < d.taps; ++td) {
      const i64 pd = d.position(at_d, td);
      if (pd < 0) continue;
      for (i64 th = 0; th < h.taps; ++th) {
        const i64 ph = h.position(at_h, th);
        if (ph < 0) continue;
        for (i64 tv = 0; tv < v.taps; ++tv) {
          const i64 pv = v.position(at_v, tv);
          if (pv < 0) continue;
          const float* from = g + image * c.result_image + group * c.filters * c.result_channel + pd * d.result_step +
                              ph * h.result_step + pv * v.result_step;
          const float* by = w + own * c.weights_in + group * c.filters * c.weights_out + td * d.tap_step +
                            th * h.tap_step + tv * v.tap_step;
          for (i64 k = 0; k < c.filters; ++k) sum += from[k * c.result_channel] * by[k * c.weights_out];
        }
      }
    }
    x[image * c.source_image + in * c.source_channel + at_d * d.source_step + at_h * h.source_step +
      at_v * v.source_step] = sum;
  }
}

__device__ inline void convolve_weights_gradient(const float* g, const float* x, float* w, const Convolution& c) {
  __shared__ double sums[256];
  const Moving &d = c.axes[0], &h = c.axes[1], &v = c.axes[2];
  const i64 outs = c.groups * c.filters, count = outs * c.channels * d.taps * h.taps * v.taps;
  const i64 positions = c.images * d.positions * h.positions * v.positions;
  for (i64 i = blockIdx.x; i < count; i += gridDim.x) {
    i64 rest = i;
    const i64 tv = rest % v.taps; rest = quotient(rest, v.taps);
    const i64 th = rest % h.taps; rest = quotient(rest, h.taps);
    const i64 td = rest % d.taps; rest = quotient(rest, d.taps);
    const i64 in = rest % c.channels, out = quotient(rest, c.channels), group = quotient(out, c.filters);
    double sum = 0;
    for (i64 j = threadIdx.x; j < positions; j += blockDim.x) {
      rest = j;
      const i64 pv = rest % v.positions; rest = quotient(rest, v.positions);
      const i64 ph = rest % h.positions; rest = quotient(rest, h.positions);
      const i64 pd = rest % d.positions, image = quotient(rest, d.positions);
      const i64 at_d = d.place(pd, td), at_h = h.place(ph, th), at_v = v.place(pv, tv);
      if (!d.holds(at_d) || !h.holds(at_h) || !v.holds(at_v)) continue;
      sum += g[image * c.result_image + out * c.result_channel + pd * d.result_step + ph * h.result_step +
               pv * v.result_step] *
             x[image * c.source_image + (group * c.channels + in) * c.source_channel + at_d * d.source_step +
               at_h * h.source_step + at_v * v.source_step];
    }
    sum = merged_in_block(sum, sums, [](double a, double b) { return a + b; });
    if (threadIdx.x == 0) {
      w[out * c.weights_out + in * c.weights_in + td * d.tap_step + th * h.tap_step + tv * v.tap_step] = (float)sum;
    }
  }
}

// ---- pooling: four moving axes, and two others that it keeps ----

struct Pooling {
  i64 outer, inner, source_outer, source_inner, result_outer, result_inner;
  Moving axes[4];
};

// What a window covers at a position.
struct Seen {
  float value, sum;
  i64 place, tap, inside, padded;
};

__device__ inline Seen look(const float* x, const Pooling& c, const i64* at) {
  Seen seen = {-infinity(), 0, -1, 0, 0, 0};
  const Moving* const m = c.axes;
  i64 tap = 0;
  for (i64 t0 = 0; t0 < m[0].taps; ++t0) {
    for (i64 t1 = 0; t1 < m[1].taps; ++t1) {
      for (i64 t2 = 0; t2 < m[2].taps; ++t2) {
        for (i64 t3 = 0; t3 < m[3].taps; ++t3, ++tap) {
          const i64 taps[4] = {t0, t1, t2, t3};
          bool inside = true, padded = true;
          i64 place = 0;
          for (int k = 0; k < 4; ++k) {
            const i64 on_axis = m[k].place(at[k], taps[k]);
            inside = inside && m[k].holds(on_axis);
            padded = padded && on_axis < m[k].extent + m[k].after;
            place += on_axis * m[k].source_step;
          }
          seen.padded += padded;
          if (!inside) continue;
          ++seen.inside;
          if (x == nullptr) continue;
          const float value = x[place];
          seen.sum += value;
          // The first NaN wins, or else the first of the greatest.
          if (seen.value == seen.value && (seen.place < 0 || value > seen.value || value != value)) {
            seen.value = value;
            seen.place = place;
            seen.tap = tap;
          }
        }
      }
    }
  }
  return seen;
}

// Calls f(position, place of the outer and inner axes in the source, place in the result) for every result.
template <class F>
__device__ inline void for_each_position(const Pooling& c, const F& f) {
  const Moving* const m = c.axes;
  const i64 count = c.outer * c.inner * m[0].positions * m[1].positions * m[2].positions * m[3].positions;
  for (i64 i = first_index(); i < count; i += index_step()) {
    i64 rest = i, at[4];
    const i64 inner = rest % c.inner;
    rest = quotient(rest, c.inner);
    i64 to = inner * c.result_inner;
    for (int k = 3; k >= 0; --k) {
      at[k] = rest % m[k].positions;
      rest = quotient(rest, m[k].positions);
      to += at[k] * m[k].result_step;
    }
    f(at, rest * c.source_outer + inner * c.source_inner, to + rest * c.result_outer);
  }
}

__device__ inline void max_pool(const float* x, float* y, int* indices, i64 modulus, bool local, const Pooling& c) {
  for_each_position(c, [&](const i64* at, i64 from, i64 to) {
    const Seen seen = look(x + from, c, at);
    y[to] = seen.value;
    if (indices != nullptr) indices[to] = seen.place < 0 ? 0 : (int)((local ? seen.tap : from + seen.place) % modulus);
  });
}

__device__ inline float divisor_of(const Seen& seen, bool with_padding) {
  const i64 count = with_padding ? seen.padded : seen.inside;
  return (float)(count > 1 ? count : 1);
}

__device__ inline void avg_pool(const float* x, float* y, bool with_padding, const Pooling& c) {
  for_each_position(c, [&](const i64* at, i64 from, i64 to) {
    const Seen seen = look(x + from, c, at);
    y[to] = seen.sum / divisor_of(seen, with_padding);
  });
}

// Each element of the source sums what the windows over it give. `give` takes a position, the source, and the place of
// its outer and inner axes in the result.
template <class Give>
__device__ inline void gather_from_windows(float* to, const Pooling& c, const Give& give) {
  const Moving* const m = c.axes;
  const i64 count = c.outer * c.inner * m[0].extent * m[1].extent * m[2].extent * m[3].extent;
  for (i64 i = first_index(); i < count; i += index_step()) {
    i64 rest = i, own[4];
    const i64 inner = rest % c.inner;
    rest = quotient(rest, c.inner);
    i64 place = 0;
    for (int k = 3; k >= 0; --k) {
      own[k] = rest % m[k].extent;
      rest = quotient(rest, m[k].extent);
      place += own[k] * m[k].source_step;
    }
    const i64 from = rest * c.source_outer + inner * c.source_inner;
    const i64 result = rest * c.result_outer + inner * c.result_inner;
    float sum = 0;
    i64 at[4];
    for (i64 t0 = m[0].taps; t0-- > 0;) {
      if ((at[0] = m[0].position(own[0], t0)) < 0) continue;
      for (i64 t1 = m[1].taps; t1-- > 0;) {
        if ((at[1] = m[1].position(own[1], t1)) < 0) continue;
        for (i64 t2 = m[2].taps; t2-- > 0;) {
          if ((at[2] = m[2].position(own[2], t2)) < 0) continue;
          for (i64 t3 = m[3].taps; t3-- > 0;) {
            if ((at[3] = m[3].position(own[3], t3)) < 0) continue;
            i64 position = result;
            for (int k = 0; k < 4; ++k) position += at[k] * m[k].result_step;
            sum += give(at, from, place, position);
          }
        }
      }
    }
    to[from + place] = sum;
  }
}

__device__ inline void max_pool_gradient(const float* g, const float* x, float* to, const Pooling& c) {
  gather_from_windows(to, c, [&](const i64* at, i64 from, i64 place, i64 position) {
    return look(x + from, c, at).place == place ? g[position] : 0.0f;
  });
}

__device__ inline void avg_pool_gradient(const float* g, float* to, bool with_padding, const Pooling& c) {
  gather_from_windows(to, c, [&](const i64* at, i64, i64, i64 position) {
    return g[position] / divisor_of(look(nullptr, c, at), with_padding);
  });
}
)cuda";

// One axis, as the text's Moving. `tap_step` is of the weights.
void append_axis(std::vector<int64_t>& numbers, const Window& window, int64_t extent, int64_t positions,
                 int64_t source_step, int64_t result_step, int64_t tap_step) {
  numbers.insert(numbers.end(), {extent, positions, window.size, window.stride, window.dilation, window.before,
                                 window.after, source_step, result_step, tap_step});
}

constexpr Window kStill{1, 1, 1, 0, 0};

Code convolution(const Op& op, const std::string& function, const Dims& x, const Dims& w, const Dims& y,
                 int64_t count) {
  require_float(op);
  const ir::LayoutAxes data = ir::LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout));
  const ir::WeightsAxes weights = ir::WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout));
  const Dims steps_x = steps_of(x), steps_w = steps_of(w), steps_y = steps_of(y);
  const int64_t groups = op.attributes.integer(Attr::kGroups);
  std::vector<int64_t> numbers{x[data.batch],       groups,
                               w[weights.in],       w[weights.out] / groups,
                               steps_x[data.batch], steps_x[data.channels],
                               steps_y[data.batch], steps_y[data.channels],
                               steps_w[weights.in], steps_w[weights.out]};
  for (int64_t i = data.spatial.size(); i < 3; ++i) append_axis(numbers, kStill, 1, 1, 0, 0, 0);
  for (int64_t i = 0; i < data.spatial.size(); ++i) {
    const int64_t axis = data.spatial[i], of_weights = weights.spatial[i];
    append_axis(numbers, ir::window_of(op.attributes, i, w[of_weights], x[axis]), x[axis], y[axis], steps_x[axis],
                steps_y[axis], steps_w[of_weights]);
  }
  Code code;
  if (count == 0) return code;
  code.launches.push_back(
      launch_for(count, kWindows,
                 "  " + function + "((const float*)p[0], (const float*)p[1], (float*)p[2], *(const Convolution*)n);\n",
                 {operand(0), operand(1), result(0)}, std::move(numbers)));
  return code;
}

Code convolution(const Op& op) {
  const Dims& y = op.results[0].shape.dims();
  return convolution(op, "convolve", op.operands[0].shape().dims(), op.operands[1].shape().dims(), y, count_of(y));
}

Code convolution_data_gradient(const Op& op) {
  const Dims& x = op.results[0].shape.dims();
  return convolution(op, "convolve_data_gradient", x, op.operands[1].shape().dims(), op.operands[0].shape().dims(),
                     count_of(x));
}

Code convolution_weights_gradient(const Op& op) {
  const Dims& w = op.results[0].shape.dims();
  Code code = convolution(op, "convolve_weights_gradient", op.operands[1].shape().dims(), w,
                          op.operands[0].shape().dims(), count_of(w));
  // A block computes an element.
  for (Launch& launch : code.launches) launch.blocks = static_cast<unsigned>(std::min<int64_t>(count_of(w), 1 << 20));
  return code;
}

// The numbers of Pooling.
std::vector<int64_t> pooling(const Op& op, const Dims& x, const Dims& y) {
  const Dims axes = ir::window_axes(op.attributes, x.size()), steps_x = steps_of(x), steps_y = steps_of(y);
  const Dims& size = op.attributes.ints(Attr::kWindow);
  // Others than these axes: those before them, and those behind.
  const int64_t before = axes.front(), behind = axes.back() + 1;
  std::vector<int64_t> numbers{count_of(x, 0, before),        count_of(x, behind, x.size()),
                               count_of(x, before, x.size()), 1,
                               count_of(y, before, y.size()), 1};
  for (int64_t i = axes.size(); i < 4; ++i) append_axis(numbers, kStill, 1, 1, 0, 0, 0);
  for (int64_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i];
    append_axis(numbers, ir::window_of(op.attributes, i, size[i], x[axis]), x[axis], y[axis], steps_x[axis],
                steps_y[axis], 0);
  }
  return numbers;
}

Code pooling(const Op& op, const std::string& call, std::vector<Pointer> pointers, const Dims& x, const Dims& y,
             const Dims& computed, int64_t extra = 0) {
  require_float(op);
  std::vector<int64_t> numbers = pooling(op, x, y);
  numbers.push_back(extra);
  Code code;
  const std::string own = "*(const Pooling*)n";
  if (count_of(computed) > 0) {
    code.launches.push_back(launch_for(count_of(computed), kWindows, "  " + filled(call, {own}) + ";\n",
                                       std::move(pointers), std::move(numbers)));
  }
  return code;
}

std::string with_padding(const Op& op) { return op.attributes.flag(Attr::kIncludePadding) ? "true" : "false"; }

}  // namespace

Code code_of_conv2d(const Op& op) { return convolution(op); }
Code code_of_conv3d(const Op& op) { return convolution(op); }
Code code_of_conv2d_data_gradient(const Op& op) { return convolution_data_gradient(op); }
Code code_of_conv3d_data_gradient(const Op& op) { return convolution_data_gradient(op); }
Code code_of_conv2d_weights_gradient(const Op& op) { return convolution_weights_gradient(op); }
Code code_of_conv3d_weights_gradient(const Op& op) { return convolution_weights_gradient(op); }

Code code_of_max_pool(const Op& op) {
  const Dims &x = op.operands[0].shape().dims(), &y = op.results[0].shape.dims();
  return pooling(op, "max_pool((const float*)p[0], (float*)p[1], nullptr, 1, false, @)", {operand(0), result(0)}, x, y,
                 y);
}

Code code_of_max_pool_with_indices(const Op& op) {
  const Dims &x = op.operands[0].shape().dims(), &y = op.results[0].shape.dims();
  const ir::PoolIndices indices = ir::PoolIndices::of(op.attributes.word(Attr::kIndicesMode));
  const int64_t modulus =
      indices.modulus(indices.are_local ? ir::Shape(op.attributes.ints(Attr::kWindow)) : ir::Shape(x));
  return pooling(op,
                 std::string("max_pool((const float*)p[0], (float*)p[1], (int*)p[2], n[46], ") +
                     (indices.are_local ? "true" : "false") + ", @)",
                 {operand(0), result(0), result(1)}, x, y, y, modulus);
}

Code code_of_max_pool_gradient(const Op& op) {
  const Dims &y = op.operands[0].shape().dims(), &x = op.results[0].shape.dims();
  return pooling(op, "max_pool_gradient((const float*)p[0], (const float*)p[1], (float*)p[2], @)",
                 {operand(0), operand(1), result(0)}, x, y, x);
}

Code code_of_avg_pool(const Op& op) {
  const Dims &x = op.operands[0].shape().dims(), &y = op.results[0].shape.dims();
  return pooling(op, "avg_pool((const float*)p[0], (float*)p[1], " + with_padding(op) + ", @)", {operand(0), result(0)},
                 x, y, y);
}

Code code_of_avg_pool_gradient(const Op& op) {
  const Dims &y = op.operands[0].shape().dims(), &x = op.results[0].shape.dims();
  return pooling(op, "avg_pool_gradient((const float*)p[0], (float*)p[1], " + with_padding(op) + ", @)",
                 {operand(0), result(0)}, x, y, x);
}

}  // namespace alloy::cuda
