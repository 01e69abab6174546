// The grammar of ops: what the table's columns demand of any op, before its rule looks at types.
#pragma once

#include <optional>
#include <string>

#include "ir/graph.h"

namespace alloy::ir {

// What is wrong with the number of operands, or with attributes, for that row; or nothing.
std::optional<std::string> signature_mistake(const Signature& row, const std::vector<Value>& operands,
                                             const Attributes& attributes);

// What is wrong with the op's operands, attributes, regions or place, or nothing. Types are the rule's business.
std::optional<std::string> grammar_mistake(const Op& op);

// Checks the whole graph against the grammar and returns every violation; empty means legal.
std::vector<std::string> verify(const Graph& graph);

}  // namespace alloy::ir
