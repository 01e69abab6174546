// Finds which steps of a plan must follow which others.
#pragma once

#include "device/plan.h"

namespace alloy::compiler {

// Sets Step::follows of all steps by the bytes that each reads and writes; a conditional or loop reads and writes all
// that its regions do.
void find_edges(device::Plan& plan);

}  // namespace alloy::compiler
