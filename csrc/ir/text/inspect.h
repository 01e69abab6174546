// A graph as a list of what it does, to look at before it runs.
#pragma once

#include <optional>
#include <vector>

#include "ir/rules/cost.h"
#include "ir/transform/rewrite.h"

namespace alloy::ir {

// One op of the graph, with what specialising makes of it.
struct Inspected {
  const Op* op;
  size_t stage;               // as in stages()
  std::vector<Type> results;  // the types it has when specialised
  std::optional<Cost> cost;   // where those of operands and results are static
};

// Everything that `results` and `effects` need, stage by stage, specialised for the feeds; placeholders that are not
// among them keep their types. Throws Error as specialize does.
std::vector<Inspected> inspect(const std::vector<Feed>& feeds, const std::vector<Value>& results,
                               const std::vector<Op*>& effects);

}  // namespace alloy::ir
