// The rules that convolutions and poolings share: windows that move over images.
#pragma once

#include "ir/rules.h"

namespace alloy::ir {

// Refuses all but a four-dimensional floating operand; `role` is what the message calls it.
void require_image(const Op& op, const Type& type, const char* role);
void require_window_attributes(const Op& op);
// The output extent along a spatial axis, unknown where the input is.
int64_t window_extent(const Op& op, int axis, int64_t kernel, int64_t input, const Shape& source);
void require_gradient_shape(const Op& op, const Type& gradient, const Shape& expected);

}  // namespace alloy::ir
