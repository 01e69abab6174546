// The elements of integer tensors that are known before a run: from constants, shapes, and values computed from these.
#pragma once

#include <optional>

#include "ir/graph.h"

namespace alloy::ir {

// The known elements of a tensor of rank 0 or 1; nothing if not even their number is known.
std::optional<Elements> known_elements(Value value);

// True if the elements are computed from constants and shapes alone: they are known once all types are.
bool is_made_of_shapes(Value value);

}  // namespace alloy::ir
