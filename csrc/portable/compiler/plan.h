// Plans where every value of a pure graph is (outside memory, in a constant, or at an offset in one arena) and in which
// order kernels run. It prepares the kernels; an executor of the device runs them.
#pragma once

#include <vector>

#include "device/device.h"
#include "device/plan.h"
#include "ir/graph.h"

namespace alloy::compiler {

// Plans a graph whose body returns results and then the final values of the variables in `slots`, which ascend. `feeds`
// are its placeholders in the order in which runs give them. The device or, for ops that it lacks, `make_on_host` makes
// the kernels; throws what these throw.
device::Plan make_plan(const device::Device& device, const ir::Graph& graph, const std::vector<ir::Value>& feeds,
                       const std::vector<int64_t>& slots, const device::HostKernelMaker& make_on_host);

}  // namespace alloy::compiler
