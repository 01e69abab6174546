// What convolutions and poolings share.
#include "ir/ops/windowed.h"

#include <algorithm>

#include "ir/rules.h"
#include "ir/windows.h"

namespace alloy::ir {

// Four-dimensional floating operand, or a failure naming its role.
void require_image(const Op& op, const Type& type, const char* role) {
  if (!accepts(TypeClass::floating, type.dtype)) {
    op.fail(std::string("Expected ") + role + " of a floating type, got " + text(type), Error::Kind::kType);
  }
  if (type.shape.ranked() && type.shape.rank() != 4) {
    op.fail(std::string("Expected ") + role + " of rank 4, got " + text(type.shape));
  }
}

void require_window_attributes(const Op& op) {
  const auto& a = op.attributes;
  auto positive = [&](Attr attr) {
    const Dims& values = a.ints(attr);
    if (values.size() != 2 ||
        std::any_of(values.begin(), values.end(), [](int64_t v) { return v < 1 || v > INT32_MAX; })) {
      op.fail("Expected 2 positive " + std::string(name(attr)) + " (height, width), got " + text(values));
    }
  };
  positive(Attr::kStrides);
  positive(Attr::kDilations);
  if (a.has(Attr::kWindow)) positive(Attr::kWindow);
  const Dims& padding = a.ints(Attr::kPadding);
  if (padding.size() != 4 ||
      std::any_of(padding.begin(), padding.end(), [](int64_t v) { return v < 0 || v > INT32_MAX; })) {
    op.fail("Expected 4 paddings of 0 or more (top, bottom, left, right), got " + text(padding));
  }
}

// The output extent along a spatial axis, unknown where the input is.
int64_t window_extent(const Op& op, int axis, int64_t kernel, int64_t input, const Shape& source) {
  if (kernel == 0) op.fail("Expected a window of 1 or more, got 0");
  if (input == kUnknown || kernel == kUnknown) return kUnknown;
  const Window window = window_of(op.attributes, axis, kernel, input);
  // The extent of "same" is rounded up by its definition.
  const bool rounds_up =
      op.attributes.flag(Attr::kCeilMode) && !op.attributes.word(Attr::kPaddingStyle).starts_with("same");
  const int64_t extent = output_extent(window, input, rounds_up);
  if (extent < 1) {
    op.fail("A window of " + std::to_string(window.effective()) + " does not fit into the " +
            (axis == 0 ? "height" : "width") + " of " + text(source) + " with padding " +
            std::to_string(window.before) + " and " + std::to_string(window.after));
  }
  return extent;
}

void require_gradient_shape(const Op& op, const Type& gradient, const Shape& expected) {
  if (!unify(gradient.shape, expected)) {
    op.fail("Expected an incoming gradient of " + text(expected) + ", got " + text(gradient.shape));
  }
}

}  // namespace alloy::ir
