// Convolutions and pooling: what a window sees at each of its positions.
#include <cmath>
#include <limits>

#include "elements.h"
#include "ir/windows.h"
#include "reference.h"

namespace alloy::remote {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;
using ir::OpCode;

// A place in a 4-D array, by the axis that each of four numbers is for.
size_t place(const Dims& dims, std::initializer_list<std::pair<int64_t, int64_t>> axes) {
  Dims index(4);
  for (const auto& [axis, k] : axes) index[axis] = k;
  return position(dims, index);
}

Reference convolution(const Op& op) {
  const OpCode code = op.code;
  const Dims a = op.operands[0].shape().dims(), b = op.operands[1].shape().dims(), r = op.results[0].shape.dims();
  const Dims source = code == OpCode::conv2d ? a : code == OpCode::conv2d_data_gradient ? r : b;
  const Dims weights = code == OpCode::conv2d_weights_gradient ? r : b, result = code == OpCode::conv2d ? r : a;
  const ir::LayoutAxes x = ir::LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout));
  const ir::WeightsAxes w = ir::WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout));
  const auto extent = [](const Dims& dims, int64_t axis) { return dims[axis]; };
  const ir::Window rows = ir::window_of(op.attributes, 0, extent(weights, w.height), extent(source, x.height)),
                   columns = ir::window_of(op.attributes, 1, extent(weights, w.width), extent(source, x.width));
  const int64_t groups = op.attributes.integer(Attr::kGroups), in = extent(weights, w.in),
                out = extent(weights, w.out) / groups;
  const auto one_further = [](const Dims& dims, int64_t axis) { return place(dims, {{axis, 1}}); };
  const size_t next_s = extent(source, x.channels) > 1 ? one_further(source, x.channels) : 0,
               next_y = extent(result, x.channels) > 1 ? one_further(result, x.channels) : 0,
               next_in = extent(weights, w.in) > 1 ? one_further(weights, w.in) : 0,
               next_out = extent(weights, w.out) > 1 ? one_further(weights, w.out) : 0;
  return [=](const std::byte* const* operands, std::byte* const* results) {
    const std::vector<double> first = floats(operands[0], count_of(a)), second = floats(operands[1], count_of(b));
    std::vector<double> sums(count_of(r), 0);
    const Dims seen = {result[0], extent(result, x.height), extent(result, x.width), rows.size, columns.size, groups};
    for_each_index(seen, [&](const Dims& i) {
      const int64_t h = i[1] * rows.stride - rows.before + i[3] * rows.dilation,
                    v = i[2] * columns.stride - columns.before + i[4] * columns.dilation;
      if (h < 0 || h >= extent(source, x.height) || v < 0 || v >= extent(source, x.width)) return;
      const size_t s0 = place(source, {{x.batch, i[0]}, {x.height, h}, {x.width, v}, {x.channels, i[5] * in}}),
                   k0 = place(weights, {{w.height, i[3]}, {w.width, i[4]}, {w.out, i[5] * out}}),
                   y0 = place(result, {{x.batch, i[0]}, {x.height, i[1]}, {x.width, i[2]}, {x.channels, i[5] * out}});
      for (int64_t from = 0; from < in; ++from) {
        for (int64_t to = 0; to < out; ++to) {
          const size_t s = s0 + static_cast<size_t>(from) * next_s, y = y0 + static_cast<size_t>(to) * next_y,
                       k = k0 + static_cast<size_t>(from) * next_in + static_cast<size_t>(to) * next_out;
          if (code == OpCode::conv2d) sums[y] += first[s] * second[k];
          else if (code == OpCode::conv2d_data_gradient) sums[s] += first[y] * second[k];
          else sums[k] += first[y] * second[s];
        }
      }
    });
    store_floats(results[0], sums);
  };
}

// One position of a pooling window: which elements of the source it sees, and how many it would with padding.
struct Seen {
  std::vector<size_t> inside;
  int64_t with_padding = 0;
};

Reference pooling(const Op& op) {
  const OpCode code = op.code;
  const bool is_gradient = code == OpCode::max_pool2d_gradient || code == OpCode::avg_pool2d_gradient;
  const bool is_max = code == OpCode::max_pool2d || code == OpCode::max_pool2d_gradient;
  const Dims source = is_gradient ? op.results[0].shape.dims() : op.operands[0].shape().dims(),
             result = is_gradient ? op.operands[0].shape().dims() : op.results[0].shape.dims();
  const ir::LayoutAxes x = ir::LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout));
  const auto height = static_cast<size_t>(x.height), width = static_cast<size_t>(x.width);
  const Dims size = op.attributes.ints(Attr::kWindow);
  const ir::Window rows = ir::window_of(op.attributes, 0, size[0], source[height]),
                   columns = ir::window_of(op.attributes, 1, size[1], source[width]);
  const bool counts_padding = op.attributes.flag(Attr::kIncludePadding);
  const auto look = [=](const Dims& at) {
    Seen seen;
    for_each_index(size, [&](const Dims& k) {
      Dims index = at;
      index[height] = at[height] * rows.stride - rows.before + k[0] * rows.dilation;
      index[width] = at[width] * columns.stride - columns.before + k[1] * columns.dilation;
      seen.with_padding += index[height] < source[height] + rows.after && index[width] < source[width] + columns.after;
      const bool is_inside =
          index[height] >= 0 && index[height] < source[height] && index[width] >= 0 && index[width] < source[width];
      if (is_inside) seen.inside.push_back(position(source, index));
    });
    return seen;
  };
  return [=](const std::byte* const* operands, std::byte* const* results) {
    const std::vector<double> first = floats(operands[0], count_of(is_gradient ? result : source)),
                              values = !is_max       ? std::vector<double>()
                                       : is_gradient ? floats(operands[1], count_of(source))
                                                     : first;
    std::vector<double> out(count_of(is_gradient ? source : result), 0);
    size_t at = 0;
    for_each_index(result, [&](const Dims& index) {
      const Seen seen = look(index);
      const size_t y = at++;
      if (is_max) {
        double best = -INFINITY;
        size_t winner = seen.inside.empty() ? SIZE_MAX : seen.inside[0];
        for (const size_t i : seen.inside) {
          if (std::isnan(best) || !(values[i] > best || std::isnan(values[i]))) continue;
          best = values[i];
          winner = i;
        }
        if (!is_gradient) out[y] = best;
        else if (winner != SIZE_MAX) out[winner] += first[y];
        return;
      }
      const auto inside = static_cast<int64_t>(seen.inside.size());
      const auto divisor = static_cast<double>(std::max<int64_t>(counts_padding ? seen.with_padding : inside, 1));
      for (const size_t i : seen.inside) (is_gradient ? out[i] : out[y]) += first[is_gradient ? y : i] / divisor;
    });
    store_floats(results[0], out);
  };
}

}  // namespace

Reference window_reference(const Op& op) {
  if (op.operands[0].dtype() != ir::DType::float32) return nullptr;
  switch (op.code) {
    case OpCode::conv2d:
    case OpCode::conv2d_data_gradient:
    case OpCode::conv2d_weights_gradient: return convolution(op);
    case OpCode::max_pool2d:
    case OpCode::max_pool2d_gradient:
    case OpCode::avg_pool2d:
    case OpCode::avg_pool2d_gradient: return pooling(op);
    default: return nullptr;
  }
}

}  // namespace alloy::remote
