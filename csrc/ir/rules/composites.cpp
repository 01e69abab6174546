#include "ir/rules/composites.h"

#include <algorithm>

#include "ir/grammar.h"
#include "ir/transform/rewrite.h"

namespace alloy::ir {
namespace {

Exprs make(Composite composite, const Composition& c) {
  switch (composite) {
#define ALLOY_COMPOSITE(name, ...) \
  case Composite::name: return compose_##name(c);
#include "ir/ops.def"
  }
  c.fail("Unknown composite");
}

}  // namespace

std::optional<Composite> find_composite(std::string_view name) {
  const auto rows = composite_table();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Signature& s) { return s.name == name; });
  if (row == rows.end()) return std::nullopt;
  return static_cast<Composite>(row - rows.begin());
}

std::vector<Value> compose(Graph& graph, Composite composite, const std::vector<Value>& operands,
                           const Attributes& attributes) {
  const Composition c{graph, composite_table()[static_cast<size_t>(composite)], operands, attributes};
  struct Restore {
    Graph& graph;
    std::string typed = graph.typed;
    ~Restore() { graph.typed = std::move(typed); }
  } restore{graph};
  if (graph.typed.empty()) graph.typed = c.row.name;  // its parts report mistakes in its name
  if (auto mistake = signature_mistake(c.row, operands, attributes)) c.fail(*mistake);
  std::vector<Value> results;
  for (const Expr& result : make(composite, c)) {
    const bool is_operand = std::find(operands.begin(), operands.end(), result.value()) != operands.end();
    results.push_back(is_operand ? identity(result).value() : result.value());
  }
  return results;
}

std::unique_ptr<Graph> in_parts(const Graph& graph, bool (*is_replaced)(const Op& op)) {
  return Rewriter([&](Rewriter& r, const Op& op, const std::vector<Value>& operands) -> Replacement {
           if (!is_replaced(op)) return std::nullopt;
           std::vector<Value> results;
           for (const Expr& e : op.info().compose({r.copy(), op.info(), operands, op.attributes})) {
             results.push_back(e.value());
           }
           return results;
         })
      .run(graph);
}

Exprs Composition::all() const {
  Exprs all;
  for (const Value& v : operands) all.emplace_back(graph, v);
  return all;
}

int64_t Composition::axis_in(int64_t axis, int64_t rank) const {
  if (const auto found = normalize_axis(axis, rank)) return *found;
  fail("Axis " + std::to_string(axis) + " is outside a tensor of rank " + std::to_string(rank));
}

int64_t Composition::axis_in(int64_t rank) const { return axis_in(attributes.integer(Attr::kAxis), rank); }

void Composition::require_room(const Type& result) const {
  if (!result.is_addressable()) fail("The result " + to_string(result) + " is larger than any memory");
}

void Composition::require_places(int64_t count) const {
  constexpr int64_t kMost = 1 << 28;  // a table of so many positions takes a gigabyte or two
  if (count > kMost) {
    fail("Expected at most " + std::to_string(kMost) + " positions along an axis, got " + std::to_string(count));
  }
}

void Composition::fail(const std::string& message, Error::Kind kind) const {
  throw Error(kind, "[" + graph.typed + "] " + message, graph.location);
}

}  // namespace alloy::ir
