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

// The elements of constants and variables can be kept beside the text instead, all of them exactly: print writes where
// they are, which `place` tells, and parse has `find` give what is there. Both are called once for each such op, in
// their order.
using Place = std::function<int64_t(const Op& op, const Literal& literal)>;
struct Placed {
  OpCode code;  // constant or variable
  Type type;
  int64_t at;
  bool is_splat;
};
using Find = std::function<LiteralRef(const Placed& placed)>;
std::string print(const Graph& graph, const Place& place);
// Into an empty graph; where it throws, the graph is of no use any more.
void parse(std::string_view text, const Find& find, Graph& graph);

// How many regions may lie within one another in a text that is read: reading, as everything that walks over graphs,
// takes stack for each.
inline constexpr int kMostNestedRegions = 64;

}  // namespace alloy::ir
