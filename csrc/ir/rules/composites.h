// Composites: ops that are replaced by other ops when they are added to a graph. The graph holds only these parts,
// which give types, gradients and costs. The file of a composite's family in ops/ makes its parts.
#pragma once

#include "ir/rules/expr.h"

namespace alloy::ir {

enum class Composite : uint8_t {
#define ALLOY_COMPOSITE(name, ...) name,
#include "ir/ops.def"
};

// The rows, in the order of Composite.
std::span<const Signature> composite_table();
// The composite with this name, or nothing.
std::optional<Composite> find_composite(std::string_view name);

// Adds the parts to the graph and returns the results; each is the result of an added op. On a mistake, throws Error in
// the composite's name; parts added before stay in the graph, unused.
std::vector<Value> compose(Graph& graph, Composite composite, const std::vector<Value>& operands,
                           const Attributes& attributes = {});

// A copy of a graph in which other ops replace the ops for which is_replaced returns true; their rows must say
// `composed`.
std::unique_ptr<Graph> in_parts(const Graph& graph, bool (*is_replaced)(const Op& op));

// A composite and its operands, while its parts are added.
struct Composition {
  Graph& graph;
  const Signature& row;
  const std::vector<Value>& operands;
  const Attributes& attributes;

  Expr x(size_t i = 0) const { return Expr(graph, operands[i]); }
  std::vector<Expr> all() const;
  // An axis, by default the composite's own, of a tensor of the rank, counted from the front.
  int64_t axis_in(int64_t axis, int64_t rank) const;
  int64_t axis_in(int64_t rank) const;
  // Checks before a table is made: the result must fit into memory, and an axis must not be too long for a table of its
  // positions.
  void require_room(const Type& result) const;
  void require_places(int64_t count) const;
  // Throws Error with the message in the form of Op::fail.
  [[noreturn]] void fail(const std::string& message, Error::Kind kind = Error::Kind::kValue) const;
};

using Exprs = std::vector<Expr>;

#define ALLOY_COMPOSITE(name, ...) Exprs compose_##name(const Composition& c);
#define ALLOY_OP ALLOY_COMPOSITE
#include "ir/ops.def"

}  // namespace alloy::ir
