// What is known of the elements of an integer tensor before a run: constants, shapes, and what is computed from them.
#pragma once

#include <optional>

#include "ir/graph.h"

namespace alloy::ir {

// The elements of a tensor of rank 0 or 1, which itself may come of others; nothing where not even their number is
// known.
std::optional<Elements> known_elements(Value value);

// True if the elements are made of constants and shapes alone, so that they are known at the latest when all types are.
bool is_made_of_shapes(Value value);

}  // namespace alloy::ir
