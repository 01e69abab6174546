// Where every value of a pure graph lives: outside memory, a constant, or an offset in one arena, and in which order
// kernels run. Decides about memory only. It prepares the kernels; an executor of the device runs them.
#pragma once

#include <vector>

#include "device/device.h"
#include "device/plan.h"
#include "ir/graph.h"

namespace alloy::compiler {

// Plans a graph whose body gives `results` first and then the final values of the variables in `slots`, ascending.
// `feeds` are its placeholders in the order in which runs give them. Throws ir::Error for an op that the device lacks.
device::Plan make_plan(const device::Device& device, const ir::Graph& graph, const std::vector<ir::Value>& feeds,
                       const std::vector<int64_t>& slots);

}  // namespace alloy::compiler
