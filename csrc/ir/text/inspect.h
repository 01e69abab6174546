// A graph as a list of its ops, to look at before a run.
#pragma once

#include <optional>
#include <vector>

#include "ir/rules/cost.h"
#include "ir/transform/rewrite.h"

namespace alloy::ir {

// One op of the graph, with the types and the cost that specialising gives it.
struct Inspected {
  const Op* op;
  size_t stage;               // see stages()
  std::vector<Type> results;  // types after specialising
  std::optional<Cost> cost;   // if operands and results have static types
};

// All ops that `results` and `effects` need, stage by stage, specialised for the feeds. Other placeholders keep their
// types. Throws Error like specialize.
std::vector<Inspected> inspect(const std::vector<Feed>& feeds, const std::vector<Value>& results,
                               const std::vector<Op*>& effects);

}  // namespace alloy::ir
