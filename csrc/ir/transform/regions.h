// Arguments, iterations and effects of regions. An op's row tells how it runs its regions (ops.def).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace alloy::ir {

// The types of the arguments of an op's next region, from the op's operands, the regions before and, for a custom
// gradient, the attributes: first the region's own arguments, then the values passed to it. The own arguments are
// scalars with the element types of the first operands.
std::vector<Type> argument_types(OpCode code, const std::vector<Value>& operands,
                                 std::span<const std::unique_ptr<Block>> before, const Attributes& attributes = {});

// The number of iterations of a counted loop; nothing if it is not known yet.
std::optional<int64_t> iterations(const Op& op);

// The slots of the variables that the op, or an op in its regions, assigns, ascending.
std::vector<int64_t> assigned_slots(const Op& op);

}  // namespace alloy::ir
