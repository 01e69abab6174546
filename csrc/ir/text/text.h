// Graphs as text: print.cpp writes it, parse.cpp reads it.
#pragma once

#include <cstdint>
#include <functional>
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

// The elements of constants and variables can be kept outside the text, exactly. print calls `store` for each such op,
// in order, and writes the returned position; parse calls `load` to get the elements at the position.
using StoreLiteral = std::function<int64_t(const Op& op, const Literal& literal)>;
struct StoredLiteral {
  OpCode code;  // constant or variable
  Type type;
  int64_t at;
  bool is_splat;
};
using LoadLiteral = std::function<LiteralRef(const StoredLiteral& stored)>;
std::string print(const Graph& graph, const StoreLiteral& store);
// Reads into an empty graph; if it throws, the graph cannot be used.
void parse(std::string_view text, const LoadLiteral& load, Graph& graph);

// The most regions within one another that are read: code that walks over graphs needs stack for each.
inline constexpr int kMostNestedRegions = 64;

}  // namespace alloy::ir
