// Lets a plan update variables while other steps still read their old values.
#pragma once

#include "device/plan.h"

namespace alloy::compiler {

// A product of a small variable that only its update must follow reads a copy instead, which the first steps make: a
// gradient of the weights need not wait for the gradient that the layers before get. `alignment` is that of offsets in
// the arena. Sets Step::follows of all steps.
void copy_early(device::Plan& plan, size_t alignment);

}  // namespace alloy::compiler
