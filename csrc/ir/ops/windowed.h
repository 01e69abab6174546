// Checks shared by convolutions and poolings: windows that move over images, over volumes, or over four axes.
#pragma once

#include "ir/rules/rules.h"

namespace alloy::ir {

// The number of axes along which the windows of an op move.
int64_t window_axis_count(const Op& op);
// Checks that an operand is floating and has the axes of the op's layout; `role` is its name in the message.
void require_image(const Op& op, const Type& type, const char* role);
void require_window_attributes(const Op& op);
// The extent of the result along the `axis`-th axis; unknown if the input's is unknown.
int64_t window_extent(const Op& op, int64_t axis, int64_t kernel, int64_t input, const Shape& source);
void require_gradient_shape(const Op& op, const Type& gradient, const Shape& expected);

}  // namespace alloy::ir
