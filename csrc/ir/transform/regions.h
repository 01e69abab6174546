// What passes into regions and out of them. How an op runs its regions is a fact of its row (ops.def).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace alloy::ir {

// The types of the arguments of an op's next region, given the op's operands, the regions before and, for what runs
// backwards, the attributes: first the region's own arguments, then the values passed to it. Own arguments are scalars
// of the element types of the first operands.
std::vector<Type> argument_types(OpCode code, const std::vector<Value>& operands,
                                 std::span<const std::unique_ptr<Block>> before, const Attributes& attributes = {});

// How often the region of a counted loop runs; nothing where that is not known (yet).
std::optional<int64_t> iterations(const Op& op);

// The slots of the variables that the op, or an op in its regions, assigns; ascending.
std::vector<int64_t> assigned_slots(const Op& op);

}  // namespace alloy::ir
