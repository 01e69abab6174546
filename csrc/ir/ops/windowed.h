// The rules that convolutions and poolings share: windows that move over images, over volumes, or over four axes.
#pragma once

#include "ir/rules/rules.h"

namespace alloy::ir {

// Along how many axes the windows of an op move.
int64_t window_axis_count(const Op& op);
// Refuses all but a floating operand with these axes, and what else the op's tensors have; `role` is what the message
// calls it.
void require_image(const Op& op, const Type& type, const char* role);
void require_window_attributes(const Op& op);
// The output extent along the `axis`-th of the axes, unknown where the input is.
int64_t window_extent(const Op& op, int64_t axis, int64_t kernel, int64_t input, const Shape& source);
void require_gradient_shape(const Op& op, const Type& gradient, const Shape& expected);

}  // namespace alloy::ir
