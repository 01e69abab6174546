// Checks shared by convolutions and poolings.
#include "ir/ops/windowed.h"

#include <algorithm>

#include "ir/rules/rules.h"
#include "ir/rules/windows.h"

namespace alloy::ir {

namespace {

bool is_3d(OpCode code) {
  return code == OpCode::conv3d || code == OpCode::conv3d_data_gradient || code == OpCode::conv3d_weights_gradient;
}

// The names of the axes in messages.
std::string axis_names(const Op& op) {
  switch (window_axis_count(op)) {
    case 2: return "height, width";
    case 3: return "depth, height, width";
    default: return "of the last four axes";
  }
}

std::string axis_name(const Op& op, int64_t axis) {
  const int64_t count = window_axis_count(op);
  if (count == 4) return "axis " + std::to_string(axis - 4);
  static constexpr const char* kNames[] = {"depth", "height", "width"};
  return kNames[axis + 3 - count];
}

bool are_within(const Dims& values, int64_t count, int64_t least) {
  return values.size() == count &&
         std::all_of(values.begin(), values.end(), [=](int64_t v) { return v >= least && v <= INT32_MAX; });
}

void require_layout(const Op& op, Attr attr, const char* of) {
  const size_t letters = is_3d(op.code) ? 5 : 4;
  if (!op.attributes.has(attr) || op.attributes.word(attr).size() == letters) return;
  op.fail(std::string("Expected a layout of ") + of + ", got " + op.attributes.word(attr));
}

}  // namespace

int64_t window_axis_count(const Op& op) {
  if (!op.attributes.has(Attr::kDataLayout)) return 4;
  return is_3d(op.code) ? 3 : 2;
}

void require_image(const Op& op, const Type& type, const char* role) {
  if (!accepts(TypeClass::floating, type.dtype)) {
    op.fail(std::string("Expected ") + role + " of a floating type, got " + text(type), Error::Kind::kType);
  }
  if (!type.shape.ranked()) return;
  const int64_t rank = is_3d(op.code) ? 5 : 4;
  const bool may_be_more = !op.attributes.has(Attr::kDataLayout);
  if (type.shape.rank() == rank || (may_be_more && type.shape.rank() > rank)) return;
  op.fail(std::string("Expected ") + role + " of rank " + std::to_string(rank) + (may_be_more ? " or more" : "") +
          ", got " + text(type.shape));
}

void require_window_attributes(const Op& op) {
  const auto& a = op.attributes;
  const int64_t count = window_axis_count(op);
  require_layout(op, Attr::kDataLayout, is_3d(op.code) ? "volumes such as NDHWC" : "images such as NHWC");
  require_layout(op, Attr::kWeightsLayout, is_3d(op.code) ? "3-D weights such as DHWIO" : "2-D weights such as HWIO");
  auto positive = [&](Attr attr) {
    if (are_within(a.ints(attr), count, 1)) return;
    op.fail("Expected " + std::to_string(count) + " positive " + std::string(name(attr)) + " (" + axis_names(op) +
            "), got " + text(a.ints(attr)));
  };
  positive(Attr::kStrides);
  positive(Attr::kDilations);
  if (a.has(Attr::kWindow)) positive(Attr::kWindow);
  if (are_within(a.ints(Attr::kPadding), 2 * count, 0)) return;
  const char* const sides = count == 2   ? "top, bottom, left, right"
                            : count == 3 ? "front, back, top, bottom, left, right"
                                         : "before and after each of the last four axes";
  op.fail("Expected " + std::to_string(2 * count) + " paddings of 0 or more (" + sides + "), got " +
          text(a.ints(Attr::kPadding)));
}

int64_t window_extent(const Op& op, int64_t axis, int64_t kernel, int64_t input, const Shape& source) {
  if (kernel == 0) op.fail("Expected a window of 1 or more, got 0");
  if (input == kUnknown || kernel == kUnknown) return kUnknown;
  const Window window = window_of(op.attributes, axis, kernel, input);
  // By its definition, "same" padding rounds the extent up anyway.
  const bool rounds_up =
      op.attributes.flag(Attr::kCeilMode) && !op.attributes.word(Attr::kPaddingStyle).starts_with("same");
  const int64_t extent = output_extent(window, input, rounds_up);
  if (extent < 1) {
    const bool has_layout = op.attributes.has(Attr::kDataLayout);
    const std::string layout =
        has_layout ? ", of layout " + std::string(op.attributes.word(Attr::kDataLayout)) + "," : "";
    op.fail("A window of " + std::to_string(window.effective()) + " does not fit into the " + axis_name(op, axis) +
            " of " + text(source) + layout + " with padding " + std::to_string(window.before) + " and " +
            std::to_string(window.after));
  }
  return extent;
}

void require_gradient_shape(const Op& op, const Type& gradient, const Shape& expected) {
  if (!unify(gradient.shape, expected)) {
    op.fail("Expected an incoming gradient of " + text(expected) + ", got " + text(gradient.shape));
  }
}

}  // namespace alloy::ir
