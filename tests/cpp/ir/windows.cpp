// Tests sliding windows and slices: every small case, by counting instead of by formula.
#include <set>

#include "graph_builder.h"
#include "ir/rules/windows.h"

namespace alloy::test {
namespace {

// ---- windows ----

Attributes window_attributes(const std::string& style, int64_t stride, int64_t dilation, int64_t before,
                             int64_t after) {
  // The other axis has other values, so that confusing the axes is noticed.
  return {{Attr::kStrides, Dims{stride, 7}},
          {Attr::kDilations, Dims{dilation, 5}},
          {Attr::kPadding, Dims{before, after, 11, 13}},
          {Attr::kPaddingStyle, style}};
}

struct Case {
  int64_t input, size, stride, dilation;
};

template <class F>
void for_each_case(F f) {
  for (int64_t input = 1; input <= 9; ++input) {
    for (int64_t size = 1; size <= 4; ++size) {
      for (int64_t stride = 1; stride <= 5; ++stride) {
        for (int64_t dilation = 1; dilation <= 3; ++dilation) {
          SCOPED_TRACE("input " + std::to_string(input) + ", size " + std::to_string(size) + ", stride " +
                       std::to_string(stride) + ", dilation " + std::to_string(dilation));
          f(Case{input, size, stride, dilation});
        }
      }
    }
  }
}

// Counts the positions at which every element of the window is inside the padded input.
int64_t count_positions(const Case& c, int64_t before, int64_t after) {
  int64_t count = 0;
  for (int64_t start = -before;; start += c.stride) {
    const int64_t last = start + (c.size - 1) * c.dilation;
    if (last >= c.input + after) return count;
    ++count;
  }
}

TEST(Windows, ExplicitAndValidTakeEveryPositionThatFits) {
  for_each_case([](const Case& c) {
    const Window valid = window_of(window_attributes("valid", c.stride, c.dilation, 4, 4), 0, c.size, c.input);
    EXPECT_EQ(valid.before, 0);
    EXPECT_EQ(valid.after, 0);
    EXPECT_EQ(output_extent(valid, c.input, false), count_positions(c, 0, 0));
    for (int64_t before = 0; before <= 3; ++before) {
      for (int64_t after = 0; after <= 3; ++after) {
        const Window w =
            window_of(window_attributes("explicit", c.stride, c.dilation, before, after), 0, c.size, c.input);
        EXPECT_EQ(w.before, before);
        EXPECT_EQ(w.after, after);
        EXPECT_EQ(output_extent(w, c.input, false), count_positions(c, before, after));
      }
    }
  });
}

// TensorFlow's SAME: one position for each stride begun, with the least padding that allows them; an odd element is
// padded after (or before).
TEST(Windows, SameTakesOnePositionForEachStride) {
  for_each_case([](const Case& c) {
    int64_t positions = 0;
    for (int64_t at = 0; at < c.input; at += c.stride) ++positions;
    int64_t least = 0;
    while (count_positions(c, 0, least) < positions) ++least;
    const Window same = window_of(window_attributes("same", c.stride, c.dilation, 4, 4), 0, c.size, c.input);
    EXPECT_EQ(output_extent(same, c.input, false), positions);
    EXPECT_EQ(same.before + same.after, least);
    EXPECT_TRUE(same.after == same.before || same.after == same.before + 1);
    const Window lower = window_of(window_attributes("same_lower", c.stride, c.dilation, 4, 4), 0, c.size, c.input);
    EXPECT_EQ(output_extent(lower, c.input, false), positions);
    EXPECT_EQ(lower.before, same.after);
    EXPECT_EQ(lower.after, same.before);
  });
}

// With ceil_mode, a last position that begins before the end of the padded input counts even if it does not fit.
TEST(Windows, CeilModeRoundsThePositionsUp) {
  for_each_case([](const Case& c) {
    for (int64_t before = 0; before <= 2; ++before) {
      for (int64_t after = 0; after <= 2; ++after) {
        const Window w =
            window_of(window_attributes("explicit", c.stride, c.dilation, before, after), 0, c.size, c.input);
        const int64_t whole = count_positions(c, before, after);
        if (whole == 0) {
          EXPECT_EQ(output_extent(w, c.input, true), 0);
          continue;
        }
        // Elements behind the last full window that no window covers.
        const int64_t covered = -before + (whole - 1) * c.stride + (c.size - 1) * c.dilation + 1;
        EXPECT_EQ(output_extent(w, c.input, true), whole + (covered < c.input + after ? 1 : 0));
      }
    }
  });
}

TEST(Windows, TheSecondAxisHasItsOwnAttributes) {
  const Window w = window_of(window_attributes("explicit", 2, 3, 1, 4), 1, 6, 50);
  EXPECT_EQ(w.size, 6);
  EXPECT_EQ(w.stride, 7);
  EXPECT_EQ(w.dilation, 5);
  EXPECT_EQ(w.before, 11);
  EXPECT_EQ(w.after, 13);
  EXPECT_EQ(w.effective(), 26);
}

TEST(Windows, LayoutsNameTheAxes) {
  const auto spell = [](std::initializer_list<std::pair<int64_t, char>> roles, const Dims& spatial) {
    std::string word(roles.size() + static_cast<size_t>(spatial.size()), '?');
    for (const auto& [axis, role] : roles) word[static_cast<size_t>(axis)] = role;
    const std::string names = spatial.size() == 3 ? "DHW" : "HW";
    for (int64_t i = 0; i < spatial.size(); ++i) word[static_cast<size_t>(spatial[i])] = names[static_cast<size_t>(i)];
    return word;
  };
  for (const char* layout : {"NHWC", "NCHW", "NDHWC", "NCDHW"}) {
    const LayoutAxes a = LayoutAxes::of_data(layout);
    EXPECT_EQ(spell({{a.batch, 'N'}, {a.channels, 'C'}}, a.spatial), layout);
  }
  for (const char* layout : {"HWIO", "OIHW", "DHWIO", "OIDHW"}) {
    const WeightsAxes a = WeightsAxes::of_weights(layout);
    EXPECT_EQ(spell({{a.out, 'O'}, {a.in, 'I'}}, a.spatial), layout);
  }
}

TEST(Windows, MoveAlongTheSpatialOrTheLastFourAxes) {
  EXPECT_EQ(window_axes({{Attr::kDataLayout, std::string("NCHW")}}, 4), Dims({2, 3}));
  EXPECT_EQ(window_axes({{Attr::kDataLayout, std::string("NDHWC")}}, 5), Dims({1, 2, 3}));
  EXPECT_EQ(window_axes({}, 4), Dims({0, 1, 2, 3}));
  EXPECT_EQ(window_axes({}, 6), Dims({2, 3, 4, 5}));
}

TEST(Windows, PlacesAreToldOverTheLastAxes) {
  const PoolIndices global = PoolIndices::of("global_2d"), local = PoolIndices::of("local_4d");
  EXPECT_FALSE(global.are_local);
  EXPECT_EQ(global.modulus({2, 3, 5, 7, 11}), 77);
  EXPECT_TRUE(local.are_local);
  EXPECT_EQ(local.modulus({2, 3, 5, 7}), 210);
}

// ---- slices ----

// Python's slice over range(extent), element by element, by the language reference: s[i:j:k] holds x = i + n*k with 0
// <= n < (j - i) / k; bounds beyond the ends are replaced by the ends.
std::vector<int64_t> python_slice(std::optional<int64_t> start, std::optional<int64_t> end, int64_t stride,
                                  int64_t extent) {
  const int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? extent : extent - 1;
  auto bound = [&](std::optional<int64_t> given, int64_t absent) {
    if (!given) return absent;
    if (*given < 0) return *given + extent < low ? low : *given + extent;
    return *given > high ? high : *given;
  };
  std::vector<int64_t> taken;
  const int64_t stop = bound(end, stride > 0 ? high : low);
  for (int64_t i = bound(start, stride > 0 ? low : high); stride > 0 ? i < stop : i > stop; i += stride) {
    taken.push_back(i);
  }
  return taken;
}

std::vector<int64_t> elements(const SliceAxis& s) {
  std::vector<int64_t> taken;
  for (int64_t i = 0; i < s.length; ++i) taken.push_back(s.start + i * s.stride);
  return taken;
}

TEST(Slices, TakeWhatPythonTakes) {
  // The results of range(5)[...] in Python 3.
  EXPECT_EQ(python_slice(1, -1, 2, 5), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(python_slice(std::nullopt, std::nullopt, -2, 5), (std::vector<int64_t>{4, 2, 0}));
  EXPECT_EQ(python_slice(-1, -4, -1, 5), (std::vector<int64_t>{4, 3, 2}));
  EXPECT_EQ(python_slice(9, std::nullopt, -3, 5), (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(python_slice(3, -9, -1, 5), (std::vector<int64_t>{3, 2, 1, 0}));

  for (int64_t extent = 0; extent <= 5; ++extent) {
    for (int64_t stride : {-7, -3, -2, -1, 1, 2, 3, 7}) {
      for (int64_t start = -8; start <= 8; ++start) {
        for (int64_t end = -8; end <= 8; ++end) {
          EXPECT_EQ(elements(resolve_slice(start, end, stride, extent)), python_slice(start, end, stride, extent))
              << start << ":" << end << ":" << stride << " of " << extent;
        }
        const int64_t to_the_end = stride > 0 ? kSliceToEnd : kSliceToBegin;
        EXPECT_EQ(elements(resolve_slice(start, to_the_end, stride, extent)),
                  python_slice(start, std::nullopt, stride, extent))
            << start << "::" << stride << " of " << extent;
        const int64_t from_the_start = stride > 0 ? kSliceToBegin : kSliceToEnd;
        EXPECT_EQ(elements(resolve_slice(from_the_start, start, stride, extent)),
                  python_slice(std::nullopt, start, stride, extent))
            << ":" << start << ":" << stride << " of " << extent;
      }
    }
  }
}

TEST(Slices, EndureExtremes) {
  EXPECT_EQ(resolve_slice(0, 5, INT64_MAX, 5).length, 1);
  EXPECT_EQ(resolve_slice(0, 5, INT64_MAX - 1, 5).length, 1);
  EXPECT_EQ(resolve_slice(4, INT64_MIN, INT64_MIN, 5).length, 1);
  EXPECT_EQ(resolve_slice(4, INT64_MIN + 1, INT64_MIN + 1, 5).length, 1);
  EXPECT_EQ(resolve_slice(INT64_MIN + 1, INT64_MAX, 1, 5).length, 5);
  EXPECT_EQ(resolve_slice(INT64_MAX, INT64_MIN, 1, 5).length, 0);
  EXPECT_EQ(resolve_slice(0, 5, INT64_MIN, 5).length, 0);
  // A kernel multiplies strides by extents, so a stride that is never used must not stay.
  EXPECT_EQ(resolve_slice(3, 5, INT64_MAX, 5).stride, 1);
  EXPECT_EQ(resolve_slice(3, INT64_MIN, INT64_MIN, 5).stride, 1);
}

}  // namespace
}  // namespace alloy::test
