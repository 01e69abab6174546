// The grammar of ops: the conditions that the table's columns set for any op, checked before its rule looks at types.
#pragma once

#include <optional>
#include <string>

#include "ir/graph.h"

namespace alloy::ir {

// The mistake in the number of operands or in the attributes, or nothing.
std::optional<std::string> signature_mistake(const Signature& row, const std::vector<Value>& operands,
                                             const Attributes& attributes);

// The mistake in the op's operands, attributes, regions or position, or nothing. The rules check types.
std::optional<std::string> grammar_mistake(const Op& op);

// Checks the whole graph against the grammar and returns every mistake; an empty list means legal.
std::vector<std::string> verify(const Graph& graph);

}  // namespace alloy::ir
