// Convolutions and pooling: the elements that a window covers at each position.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "reference/reference.h"

namespace alloy::reference {
namespace {

// An axis of the data along which a window moves.
struct Moving {
  int64_t axis, extent, stride, dilation, before, after;

  int64_t place(int64_t position, int64_t tap) const { return position * stride - before + tap * dilation; }
};

// The axes with these names in the layout, in the order of the names.
Dims axes_named(const std::string& layout, const std::string& names) {
  Dims axes;
  for (char name : names) {
    if (layout.find(name) != std::string::npos) axes.push_back(static_cast<int64_t>(layout.find(name)));
  }
  return axes;
}

// Without a layout, windows move along the last four axes. "same" padding is TensorFlow's: there are as many positions
// as strides fit into the source, and an odd zero comes after it, or before it for "same_lower".
std::vector<Moving> moving_axes(const Op& op, const Dims& source, const Dims& kernel) {
  const Attributes& given = op.attributes;
  const int64_t rank = source.size();
  const Dims axes = given.has(Attr::kDataLayout) ? axes_named(given.word(Attr::kDataLayout), "DHW")
                                                 : Dims{rank - 4, rank - 3, rank - 2, rank - 1};
  const std::string& style = given.word(Attr::kPaddingStyle);
  std::vector<Moving> all;
  for (int64_t i = 0; i < axes.size(); ++i) {
    Moving m{axes[i], source[axes[i]], given.ints(Attr::kStrides)[i], given.ints(Attr::kDilations)[i], 0, 0};
    if (style == "explicit") {
      m.before = given.ints(Attr::kPadding)[2 * i];
      m.after = given.ints(Attr::kPadding)[2 * i + 1];
    } else if (style != "valid") {
      const int64_t last = (m.extent + m.stride - 1) / m.stride - 1, seen = (kernel[i] - 1) * m.dilation + 1,
                    zeros = std::max<int64_t>(last * m.stride + seen - m.extent, 0);
      m.before = style == "same" ? zeros / 2 : zeros - zeros / 2;
      m.after = zeros - m.before;
    }
    all.push_back(m);
  }
  return all;
}

// ---- convolution ----

// Calls f(s, w, r) with the positions of an element of the source, of the weights and of the result, for every product
// that is a term of the result.
template <class F>
void for_each_term(const Op& op, const Dims& source, const Dims& weights, const Dims& result, const F& f) {
  const std::string& layout = op.attributes.word(Attr::kWeightsLayout);
  const Dims data = axes_named(op.attributes.word(Attr::kDataLayout), "NC"), sides = axes_named(layout, "IO"),
             spatial = axes_named(layout, "DHW");
  const Dims s = steps_of(source), w = steps_of(weights), r = steps_of(result);
  Dims kernel;
  for (int64_t axis : spatial) kernel.push_back(weights[axis]);
  const std::vector<Moving> axes = moving_axes(op, source, kernel);
  const int64_t n = kernel.size(), groups = op.attributes.integer(Attr::kGroups), in = weights[sides[0]],
                out = weights[sides[1]] / groups;
  Dims all{result[data[0]]};
  for (const Moving& m : axes) all.push_back(result[m.axis]);
  all.insert(all.end(), kernel.begin(), kernel.end());
  all.push_back(groups);
  for_each_index(all, [&](const Dims& i) {
    int64_t at_s = i[0] * s[data[0]] + i.back() * in * s[data[1]], at_w = i.back() * out * w[sides[1]],
            at_r = i[0] * r[data[0]] + i.back() * out * r[data[1]];
    for (int64_t k = 0; k < n; ++k) {
      const int64_t position = i[1 + k], tap = i[1 + n + k], place = axes[k].place(position, tap);
      if (place < 0 || place >= axes[k].extent) return;
      at_s += place * s[axes[k].axis];
      at_w += tap * w[spatial[k]];
      at_r += position * r[axes[k].axis];
    }
    for (int64_t from = 0; from < in; ++from) {
      for (int64_t to = 0; to < out; ++to) {
        f(at_s + from * s[data[1]], at_w + from * w[sides[0]] + to * w[sides[1]], at_r + to * r[data[1]]);
      }
    }
  });
}

Arrays<double> convolution(const Op& op, const Arrays<double>& in) {
  Array out(op.results[0].shape.dims());
  const std::vector<double>&a = in[0].values, &b = in[1].values;
  for_each_term(op, in[0].dims, in[1].dims, out.dims,
                [&](int64_t s, int64_t w, int64_t r) { out.values[r] += a[s] * b[w]; });
  return {out};
}

Arrays<double> convolution_data_gradient(const Op& op, const Arrays<double>& in) {
  Array out(op.results[0].shape.dims());
  const std::vector<double>&a = in[0].values, &b = in[1].values;
  for_each_term(op, out.dims, in[1].dims, in[0].dims,
                [&](int64_t s, int64_t w, int64_t r) { out.values[s] += a[r] * b[w]; });
  return {out};
}

Arrays<double> convolution_weights_gradient(const Op& op, const Arrays<double>& in) {
  Array out(op.results[0].shape.dims());
  const std::vector<double>&a = in[0].values, &b = in[1].values;
  for_each_term(op, in[1].dims, out.dims, in[0].dims,
                [&](int64_t s, int64_t w, int64_t r) { out.values[w] += a[r] * b[s]; });
  return {out};
}

// ---- pooling ----

// The elements that a window covers at a position: their positions in the source and in the window, and their number
// with padding.
struct Seen {
  struct Element {
    size_t place, tap;
  };
  std::vector<Element> inside;
  int64_t with_padding = 0;

  // The first NaN, or else the first of the greatest; null if the window covers nothing.
  const Element* winner(const std::vector<double>& values) const {
    const Element* best = nullptr;
    for (const Element& e : inside) {
      if (best != nullptr && std::isnan(values[best->place])) break;
      const double v = values[e.place];
      if (best == nullptr || v > values[best->place] || std::isnan(v)) best = &e;
    }
    return best;
  }
};

// Calls f with the covered elements at every position, and the position's number.
template <class F>
void for_each_position(const Op& op, const Dims& source, const Dims& result, const F& f) {
  const Dims& size = op.attributes.ints(Attr::kWindow);
  const std::vector<Moving> axes = moving_axes(op, source, size);
  size_t number = 0;
  Seen seen;
  for_each_index(result, [&](const Dims& at) {
    seen = {};
    size_t tap = 0;
    Dims index = at;
    for_each_index(size, [&](const Dims& k) {
      bool is_inside = true, is_padded = true;
      for (int64_t i = 0; i < std::ssize(axes); ++i) {
        const int64_t place = axes[i].place(at[axes[i].axis], k[i]);
        is_inside = is_inside && place >= 0 && place < axes[i].extent;
        is_padded = is_padded && place < axes[i].extent + axes[i].after;
        index[axes[i].axis] = place;
      }
      seen.with_padding += is_padded;
      if (is_inside) seen.inside.push_back({position(source, index), tap});
      ++tap;
    });
    f(seen, number++);
  });
}

Arrays<double> max_pool(const Op& op, const Arrays<double>& in) {
  Array out(op.results[0].shape.dims(), -INFINITY);
  for_each_position(op, in[0].dims, out.dims, [&](const Seen& seen, size_t at) {
    if (const auto* winner = seen.winner(in[0].values)) out.values[at] = in[0].values[winner->place];
  });
  return {out};
}

Arrays<double> max_pool_gradient(const Op& op, const Arrays<double>& in) {
  Array out(op.results[0].shape.dims());
  for_each_position(op, out.dims, in[0].dims, [&](const Seen& seen, size_t at) {
    if (const auto* winner = seen.winner(in[1].values)) out.values[winner->place] += in[0].values[at];
  });
  return {out};
}

// Indices are row-major over the last axes of the source, or of the window if they are local; the mode's word, such as
// "local_2d", gives the number of axes.
Arrays<double> max_pool_with_indices(const Op& op, const Arrays<double>& in) {
  const std::string& mode = op.attributes.word(Attr::kIndicesMode);
  const bool is_local = mode.starts_with("local");
  const Dims& told = is_local ? op.attributes.ints(Attr::kWindow) : in[0].dims;
  const size_t count = count_of(Dims(told.end() - (mode[mode.size() - 2] - '0'), told.end()));
  Arrays<double> out{max_pool(op, in)[0], Array(op.results[1].shape.dims())};
  for_each_position(op, in[0].dims, out[0].dims, [&](const Seen& seen, size_t at) {
    const auto* winner = seen.winner(in[0].values);
    if (winner != nullptr) out[1].values[at] = static_cast<double>((is_local ? winner->tap : winner->place) % count);
  });
  return out;
}

double divisor_of(const Op& op, const Seen& seen) {
  const bool counts_padding = op.attributes.flag(Attr::kIncludePadding);
  return static_cast<double>(std::max<int64_t>(counts_padding ? seen.with_padding : std::ssize(seen.inside), 1));
}

Arrays<double> avg_pool(const Op& op, const Arrays<double>& in) {
  Array out(op.results[0].shape.dims());
  for_each_position(op, in[0].dims, out.dims, [&](const Seen& seen, size_t at) {
    for (const Seen::Element& e : seen.inside) out.values[at] += in[0].values[e.place] / divisor_of(op, seen);
  });
  return {out};
}

Arrays<double> avg_pool_gradient(const Op& op, const Arrays<double>& in) {
  Array out(op.results[0].shape.dims());
  for_each_position(op, out.dims, in[0].dims, [&](const Seen& seen, size_t at) {
    for (const Seen::Element& e : seen.inside) out.values[e.place] += in[0].values[at] / divisor_of(op, seen);
  });
  return {out};
}

}  // namespace

Function<double> windows(OpCode code) {
  switch (code) {
    case OpCode::conv2d:
    case OpCode::conv3d: return convolution;
    case OpCode::conv2d_data_gradient:
    case OpCode::conv3d_data_gradient: return convolution_data_gradient;
    case OpCode::conv2d_weights_gradient:
    case OpCode::conv3d_weights_gradient: return convolution_weights_gradient;
    case OpCode::max_pool2d:
    case OpCode::max_pool4d: return max_pool;
    case OpCode::max_pool2d_gradient:
    case OpCode::max_pool4d_gradient: return max_pool_gradient;
    case OpCode::max_pool4d_with_indices: return max_pool_with_indices;
    case OpCode::avg_pool2d:
    case OpCode::avg_pool4d: return avg_pool;
    case OpCode::avg_pool2d_gradient:
    case OpCode::avg_pool4d_gradient: return avg_pool_gradient;
    default: return nullptr;
  }
}

}  // namespace alloy::reference
