// Pooling. A thread computes an element of the result.
#include "cuda/codegen/families.h"
#include "cuda/codegen/leader.h"
#include "cuda/codegen/windows.h"

namespace alloy::cuda {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;
using ir::OpCode;

constexpr char kPooling[] = R"cuda(
// Four moving axes, and two others that it keeps.

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
template <class Give, class Read, class Write>
__device__ inline void gather_from_windows(const Pooling& c, const Read& read, const Write& write, const Give& give) {
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
    write(from + place, read(from + place), sum);
  }
}

template <class Read, class Write>
__device__ inline void max_pool_gradient(const float* g, const float* x, const Pooling& c, const Read& read,
                                         const Write& write) {
  gather_from_windows(c, read, write, [&](const i64* at, i64 from, i64 place, i64 position) {
    return look(x + from, c, at).place == place ? g[position] : 0.0f;
  });
}

template <class Read, class Write>
__device__ inline void avg_pool_gradient(const float* g, bool with_padding, const Pooling& c, const Read& read,
                                         const Write& write) {
  gather_from_windows(c, read, write, [&](const i64* at, i64, i64, i64 position) {
    return g[position] / divisor_of(look(nullptr, c, at), with_padding);
  });
}
)cuda";

// The numbers of Pooling.
std::vector<int64_t> pooling(const Op& op, const Dims& x, const Dims& y) {
  const Dims axes = ir::window_axes(op.attributes, x.size()), steps_x = steps_of(x), steps_y = steps_of(y);
  const Dims& size = op.attributes.ints(Attr::kWindow);
  // Others than these axes: those before them, and those behind.
  const int64_t before = axes.front(), behind = axes.back() + 1;
  std::vector<int64_t> numbers{count_of(x, 0, before),        count_of(x, behind, x.size()),
                               count_of(x, before, x.size()), 1,
                               count_of(y, before, y.size()), 1};
  append_still_axes(numbers, 4 - axes.size());
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
    code.launches.push_back(launch_for(count_of(computed), {kWindows, kPooling}, "  " + filled(call, {own}) + ";\n",
                                       std::move(pointers), std::move(numbers)));
  }
  return code;
}

std::string with_padding(const Op& op) { return op.attributes.flag(Attr::kIncludePadding) ? "true" : "false"; }

}  // namespace

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

Code code_of_pooling_gradient(const Op& op, const Maker& finish) {
  require_float(op);
  const Dims &y = op.operands[0].shape().dims(), &x = op.results[0].shape.dims();
  Code code;
  if (count_of(x) == 0) return code;
  const bool is_max = op.code == OpCode::max_pool2d_gradient || op.code == OpCode::max_pool4d_gradient;
  Launch launch = launch_for(count_of(x), {kWindows, kPooling}, "", {operand(0), operand(1)}, pooling(op, x, y));
  if (!is_max) launch.pointers = {operand(0)};
  launch.body = (is_max ? "  max_pool_gradient((const float*)p[0], (const float*)p[1]"
                        : "  avg_pool_gradient((const float*)p[0], " + with_padding(op)) +
                ", *(const Pooling*)n, " + add(launch, finish) + ");\n";
  code.launches.push_back(std::move(launch));
  return code;
}

Code code_of_max_pool_gradient(const Op& op) { return code_of_pooling_gradient(op, storing(op)); }
Code code_of_avg_pool_gradient(const Op& op) { return code_of_pooling_gradient(op, storing(op)); }

Code code_of_avg_pool(const Op& op) {
  const Dims &x = op.operands[0].shape().dims(), &y = op.results[0].shape.dims();
  return pooling(op, "avg_pool((const float*)p[0], (float*)p[1], " + with_padding(op) + ", @)", {operand(0), result(0)},
                 x, y, y);
}

}  // namespace alloy::cuda
