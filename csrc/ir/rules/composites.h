// Composites: ops that are made of others at once when they are added to a graph. A graph holds their parts alone,
// which give them their types, gradients and costs. What each is made of stands in ops/, in its family's file.
#pragma once

#include "ir/rules/expr.h"

namespace alloy::ir {

enum class Composite : uint8_t {
#define ALLOY_COMPOSITE(name, ...) name,
#include "ir/ops.def"
};

// The rows, in the order of Composite.
std::span<const Signature> composite_table();
// The composite of that name, or nothing.
std::optional<Composite> find_composite(std::string_view name);

// Adds the parts to the graph and returns the results, each of an op that was added. Throws Error, in the composite's
// name, where the row or a part refuses; parts that were made before stay in the graph, unused.
std::vector<Value> compose(Graph& graph, Composite composite, const std::vector<Value>& operands,
                           const Attributes& attributes = {});

// One composite being made.
struct Composition {
  Graph& graph;
  const Signature& row;
  const std::vector<Value>& operands;
  const Attributes& attributes;

  Expr x(size_t i = 0) const { return Expr(graph, operands[i]); }
  std::vector<Expr> all() const;
  // An axis, by default its own, of a tensor of that rank, counted from the front.
  int64_t axis_in(int64_t axis, int64_t rank) const;
  int64_t axis_in(int64_t rank) const;
  // Refuse, before a table is made: a result that no memory holds, and an axis too long for a table of its places.
  void require_room(const Type& result) const;
  void require_places(int64_t count) const;
  // The mistake, as Op::fail words it.
  [[noreturn]] void fail(const std::string& message, Error::Kind kind = Error::Kind::kValue) const;
};

using Exprs = std::vector<Expr>;

#define ALLOY_COMPOSITE(name, ...) Exprs compose_##name(const Composition& c);
#include "ir/ops.def"

}  // namespace alloy::ir
