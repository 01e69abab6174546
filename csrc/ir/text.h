// Graphs as text: print.cpp writes it, parse.cpp reads it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace alloy::ir {

// The stable text form (ir/README.md). parse(print(g)) prints the same text again, except that constants of over 64
// elements are abridged.
std::string print(const Graph& graph);
// Throws Error with the line of the first mistake.
std::unique_ptr<Graph> parse(std::string_view text);

}  // namespace alloy::ir
