// Convolutions and pooling: what a window sees at each of its positions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "elements.h"
#include "ir/rules/windows.h"
#include "reference.h"

namespace alloy::remote {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;
using ir::OpCode;

// One axis along which a window moves: which axis of the data, how the window moves, and the extent of the source.
struct Moving {
  int64_t axis;
  ir::Window window;
  int64_t extent;

  int64_t place(int64_t position, int64_t tap) const {
    return position * window.stride - window.before + tap * window.dilation;
  }
};

std::vector<Moving> moving(const Op& op, const Dims& source, const Dims& kernel) {
  const Dims axes = ir::window_axes(op.attributes, source.size());
  std::vector<Moving> all;
  for (int64_t i = 0; i < axes.size(); ++i) {
    all.push_back({axes[i], ir::window_of(op.attributes, i, kernel[i], source[axes[i]]), source[axes[i]]});
  }
  return all;
}

enum class Convolving { forward, to_data, to_weights };

Convolving convolving(OpCode code) {
  switch (code) {
    case OpCode::conv2d_data_gradient:
    case OpCode::conv3d_data_gradient: return Convolving::to_data;
    case OpCode::conv2d_weights_gradient:
    case OpCode::conv3d_weights_gradient: return Convolving::to_weights;
    default: return Convolving::forward;
  }
}

Reference convolution(const Op& op) {
  const Convolving what = convolving(op.code);
  const Dims a = op.operands[0].shape().dims(), b = op.operands[1].shape().dims(), r = op.results[0].shape.dims();
  const Dims source = what == Convolving::forward ? a : what == Convolving::to_data ? r : b;
  const Dims weights = what == Convolving::to_weights ? r : b, result = what == Convolving::forward ? r : a;
  const ir::LayoutAxes x = ir::LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout));
  const ir::WeightsAxes w = ir::WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout));
  Dims kernel, seen{result[x.batch]};
  for (int64_t axis : w.spatial) kernel.push_back(weights[axis]);
  const std::vector<Moving> axes = moving(op, source, kernel);
  const auto count = static_cast<int64_t>(axes.size());
  for (const Moving& axis : axes) seen.push_back(result[axis.axis]);
  for (int64_t extent : kernel) seen.push_back(extent);
  const int64_t groups = op.attributes.integer(Attr::kGroups), in = weights[w.in], out = weights[w.out] / groups;
  seen.push_back(groups);
  return [=](const std::byte* const* operands, std::byte* const* results) {
    const std::vector<double> first = floats(operands[0], count_of(a)), second = floats(operands[1], count_of(b));
    std::vector<double> sums(count_of(r), 0);
    for_each_index(seen, [&](const Dims& i) {
      Dims at_s(source.size()), at_w(weights.size()), at_y(result.size());
      at_s[x.batch] = at_y[x.batch] = i[0];
      for (int64_t k = 0; k < count; ++k) {
        const int64_t position = i[1 + k], tap = i[1 + count + k], place = axes[k].place(position, tap);
        if (place < 0 || place >= axes[k].extent) return;
        at_s[x.spatial[k]] = place;
        at_w[w.spatial[k]] = tap;
        at_y[x.spatial[k]] = position;
      }
      for (int64_t from = 0; from < in; ++from) {
        for (int64_t to = 0; to < out; ++to) {
          at_s[x.channels] = i.back() * in + from;
          at_w[w.in] = from;
          at_w[w.out] = at_y[x.channels] = i.back() * out + to;
          const size_t s = position(source, at_s), k = position(weights, at_w), y = position(result, at_y);
          if (what == Convolving::forward) sums[y] += first[s] * second[k];
          else if (what == Convolving::to_data) sums[s] += first[y] * second[k];
          else sums[k] += first[y] * second[s];
        }
      }
    });
    store_floats(results[0], sums);
  };
}

// One position of a pooling window: which elements of the source it sees, by their places in it and in the window, and
// how many it would with padding.
struct Seen {
  struct Element {
    size_t place, tap;
  };
  std::vector<Element> inside;
  int64_t with_padding = 0;
};

struct Pool {
  bool is_gradient, is_max, counts_padding;
  Dims source, result, size;
  std::vector<Moving> axes;

  explicit Pool(const Op& op)
      : is_gradient(std::string(op.info().name).ends_with("gradient")),
        is_max(op.info().name.starts_with("max")),
        counts_padding(op.attributes.flag(Attr::kIncludePadding)),
        source(is_gradient ? op.results[0].shape.dims() : op.operands[0].shape().dims()),
        result(is_gradient ? op.operands[0].shape().dims() : op.results[0].shape.dims()),
        size(op.attributes.ints(Attr::kWindow)),
        axes(moving(op, source, size)) {}

  Seen look(const Dims& at) const {
    Seen seen;
    size_t tap = 0;
    for_each_index(size, [&](const Dims& k) {
      Dims index = at;
      bool is_inside = true, is_padded = true;
      for (int64_t i = 0; i < std::ssize(axes); ++i) {
        const Moving& axis = axes[i];
        index[axis.axis] = axis.place(at[axis.axis], k[i]);
        is_inside = is_inside && index[axis.axis] >= 0 && index[axis.axis] < axis.extent;
        is_padded = is_padded && index[axis.axis] < axis.extent + axis.window.after;
      }
      seen.with_padding += is_padded;
      if (is_inside) seen.inside.push_back({position(source, index), tap});
      ++tap;
    });
    return seen;
  }

  // The first of the greatest, or the first NaN; null where the window sees nothing.
  static const Seen::Element* winner(const Seen& seen, const std::vector<double>& values) {
    const Seen::Element* best = nullptr;
    for (const Seen::Element& e : seen.inside) {
      if (best != nullptr && std::isnan(values[best->place])) break;
      const double v = values[e.place];
      if (best == nullptr || v > values[best->place] || std::isnan(v)) best = &e;
    }
    return best;
  }
};

Reference max_pooling(const Op& op) {
  const Pool pool(op);
  return [=](const std::byte* const* operands, std::byte* const* results) {
    const std::vector<double> first = floats(operands[0], count_of(pool.is_gradient ? pool.result : pool.source)),
                              values = pool.is_gradient ? floats(operands[1], count_of(pool.source)) : first;
    std::vector<double> out(count_of(pool.is_gradient ? pool.source : pool.result), 0);
    size_t y = 0;
    for_each_index(pool.result, [&](const Dims& index) {
      const Seen seen = pool.look(index);
      const Seen::Element* const winner = Pool::winner(seen, values);
      if (!pool.is_gradient) out[y] = winner == nullptr ? -INFINITY : values[winner->place];
      else if (winner != nullptr) out[winner->place] += first[y];
      ++y;
    });
    store_floats(results[0], out);
  };
}

Reference max_pooling_with_indices(const Op& op) {
  const Pool pool(op);
  const std::string mode = op.attributes.word(Attr::kIndicesMode);
  const bool is_local = mode.starts_with("local");
  size_t modulus = 1;
  const Dims& told = is_local ? pool.size : pool.source;
  for (int64_t i = told.size() - (mode[mode.size() - 2] - '0'); i < told.size(); ++i) {
    modulus *= static_cast<size_t>(told[i]);
  }
  return [=](const std::byte* const* operands, std::byte* const* results) {
    const std::vector<double> values = floats(operands[0], count_of(pool.source));
    size_t y = 0;
    for_each_index(pool.result, [&](const Dims& index) {
      const Seen seen = pool.look(index);
      const Seen::Element* const winner = Pool::winner(seen, values);
      store<float>(results[0], y, static_cast<float>(winner == nullptr ? -INFINITY : values[winner->place]));
      const size_t number = winner == nullptr ? 0 : is_local ? winner->tap : winner->place;
      store<int32_t>(results[1], y, static_cast<int32_t>(number % modulus));
      ++y;
    });
  };
}

Reference avg_pooling(const Op& op) {
  const Pool pool(op);
  return [=](const std::byte* const* operands, std::byte* const* results) {
    const std::vector<double> first = floats(operands[0], count_of(pool.is_gradient ? pool.result : pool.source));
    std::vector<double> out(count_of(pool.is_gradient ? pool.source : pool.result), 0);
    size_t y = 0;
    for_each_index(pool.result, [&](const Dims& index) {
      const Seen seen = pool.look(index);
      const int64_t counted = pool.counts_padding ? seen.with_padding : std::ssize(seen.inside);
      const auto divisor = static_cast<double>(std::max<int64_t>(counted, 1));
      for (const Seen::Element& e : seen.inside) {
        (pool.is_gradient ? out[e.place] : out[y]) += first[pool.is_gradient ? y : e.place] / divisor;
      }
      ++y;
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
    case OpCode::conv2d_weights_gradient:
    case OpCode::conv3d:
    case OpCode::conv3d_data_gradient:
    case OpCode::conv3d_weights_gradient: return convolution(op);
    case OpCode::max_pool2d:
    case OpCode::max_pool2d_gradient:
    case OpCode::max_pool4d:
    case OpCode::max_pool4d_gradient: return max_pooling(op);
    case OpCode::max_pool4d_with_indices: return max_pooling_with_indices(op);
    case OpCode::avg_pool2d:
    case OpCode::avg_pool2d_gradient:
    case OpCode::avg_pool4d:
    case OpCode::avg_pool4d_gradient: return avg_pooling(op);
    default: return nullptr;
  }
}

}  // namespace alloy::remote
