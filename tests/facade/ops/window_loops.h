// Windows over any number of axes, as loops: what the tests of convolutions, poolings and columns compute by. Nothing
// is shared with the framework.
#pragma once

#include "graph_testing.h"

// One axis along which a window moves.
struct Along {
  long extent, kernel, stride = 1, dilation = 1, before = 0, after = 0;
  bool rounds_up = false;  // the number of windows

  long reach() const { return (kernel - 1) * dilation + 1; }
  long windows() const { return (extent + before + after - reach() + (rounds_up ? stride - 1 : 0)) / stride + 1; }
  // Where an element of a window lies.
  long place(long window, long tap) const { return window * stride - before + tap * dilation; }
  bool is_inside(long place) const { return place >= 0 && place < extent; }
};

// The padding that TensorFlow's "same" makes of an axis, its odd element behind; with `lower` before.
inline Along same(Along axis, bool lower = false) {
  const long windows = (axis.extent + axis.stride - 1) / axis.stride;
  const long total = std::max((windows - 1) * axis.stride + axis.reach() - axis.extent, 0l);
  axis.before = lower ? total - total / 2 : total / 2;
  axis.after = total - axis.before;
  return axis;
}

inline constexpr auto kExplicit = MPSGraphPaddingStyleExplicit, kValid = MPSGraphPaddingStyleTF_VALID,
                      kSame = MPSGraphPaddingStyleTF_SAME, kSameLower = MPSGraphPaddingStyleONNX_SAME_LOWER;

// The axes with the padding that the style makes.
inline std::vector<Along> padded(std::vector<Along> axes, MPSGraphPaddingStyle style) {
  for (Along& axis : axes) {
    if (style == kSame) axis = same(axis);
    if (style == kSameLower) axis = same(axis, true);
  }
  return axes;
}

// Calls f(positions, places inside, taps) for each element that each window sees.
template <class F>
void for_each_seen(const std::vector<Along>& axes, F f) {
  Shape windows, taps;
  for (const Along& axis : axes) {
    windows.push_back(axis.windows());
    taps.push_back(axis.kernel);
  }
  for_each_index(windows, [&](const Index& window) {
    for_each_index(taps, [&](const Index& tap) {
      Index places;
      for (size_t i = 0; i < axes.size(); ++i) {
        places.push_back(axes.at(i).place(window.at(i), tap.at(i)));
        if (!axes.at(i).is_inside(places.back())) return;
      }
      f(window, places, tap);
    });
  });
}

// a, then b, then c.
inline Index joined(const Index& a, const Index& b, const Index& c = {}) {
  Index all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

// Windows over the last four axes of a source, and those before.
struct FourAxes {
  Shape outer;
  std::vector<Along> axes;
  MPSGraphPaddingStyle style;
  bool rounds_up = false, counts_padding = false;

  std::vector<Along> padded() const {
    std::vector<Along> all = ::padded(axes, style);
    for (Along& axis : all) axis.rounds_up = rounds_up;
    return all;
  }
  Shape source() const {
    Shape shape = outer;
    for (const Along& axis : axes) shape.push_back(axis.extent);
    return shape;
  }
  Shape result() const {
    Shape shape = outer;
    for (const Along& axis : padded()) shape.push_back(axis.windows());
    return shape;
  }
  template <class F>
  void for_each(F f) const {
    for_each_index(outer, [&](const Index& n) {
      for_each_seen(padded(), [&](const Index& window, const Index& place, const Index& tap) {
        f(joined(n, window), joined(n, place), tap);
      });
    });
  }
};
