#include "compiler/passes.h"

#include <algorithm>
#include <optional>

#include "ir/rules/composites.h"
#include "ir/rules/elements.h"
#include "ir/transform/regions.h"
#include "ir/transform/rewrite.h"
#include "ir/transform/walk.h"

namespace alloy::compiler {
namespace {

using ir::Attr;
using ir::Graph;
using ir::Op;
using ir::OpCode;
using ir::Replacement;
using ir::Shape;
using ir::Type;
using ir::Value;

Value empty_like(Graph& graph, Value v) {
  return graph.value(OpCode::empty, {}, {{Attr::kShape, v.shape()}, {Attr::kDtype, v.dtype()}});
}

bool reads_nothing(const Op& op) {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (op.info().reads(i)) return false;
  }
  return true;
}

// The result of an op that only looks at shapes: one number, or a vector of int32.
Value read_off_shapes(Graph& graph, const Op& op) {
  const Type& type = op.results[0];
  const std::optional<ir::Elements> elements = op.info().elements(op, {});
  if (!elements || std::find(elements->begin(), elements->end(), std::nullopt) != elements->end()) {
    op.fail("Expected a known shape, got " + to_string(op.operands[0].shape()));
  }
  if (type.shape == Shape()) return constant(graph, type, static_cast<double>(*elements->front()));
  std::vector<int32_t> numbers;
  for (const auto& element : *elements) numbers.push_back(static_cast<int32_t>(*element));
  return graph.value(OpCode::constant, {},
                     {{Attr::kValue, std::make_shared<ir::Literal>(type, std::as_bytes(std::span(numbers)))}});
}

// The op with `empty` for each operand that is used only for its shape; nothing if there is none.
Replacement without_lent(Graph& copy, const Op& op, std::vector<Value> operands) {
  if (op.info().facts.lent == 0) return std::nullopt;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!op.info().reads(i)) operands[i] = empty_like(copy, operands[i]);
  }
  const Op* made = copy.add(op.code, operands, op.attributes);
  std::vector<Value> results;
  for (uint32_t i = 0; i < made->results.size(); ++i) results.push_back(made->result(i));
  return results;
}

void expect_static_arguments(const Op& op) {
  for (const auto& region : op.regions) {
    for (const auto& argument : region->arguments) {
      const Type& type = argument->results[0];
      if (!type.is_static()) op.fail("The loop carries " + to_string(type) + ", which is not of a known shape");
    }
  }
}

// Turns a counted loop into one that carries the index as its first value and ends where the index reaches the upper
// bound.
std::vector<Value> count_up(ir::Rewriter& rewriter, const Op& op, const std::vector<Value>& operands) {
  Graph& copy = rewriter.copy();
  const auto scalar = [&](Value v) {
    return v.shape() == Shape() ? v : copy.value(OpCode::reshape, {v}, {{Attr::kShape, Shape()}});
  };
  const Value lower = scalar(operands[0]), step = scalar(operands[2]);
  // A step of 0 or less means no iteration.
  const Value counts = copy.value(OpCode::greater, {step, constant(copy, step.type(), 0)});
  const Value upper = copy.value(OpCode::select, {counts, scalar(operands[1]), lower});
  std::vector<Value> carried = {lower};
  carried.insert(carried.end(), operands.begin() + 3, operands.end());
  std::vector<std::unique_ptr<ir::Block>> regions;
  std::vector<Value> passed = copy.open_region(ir::argument_types(OpCode::while_loop, carried, regions));
  passed.insert(passed.begin(), copy.value(OpCode::less, {passed[0], upper}));
  regions.push_back(copy.close_region(passed));
  const std::vector<Type> types = ir::argument_types(OpCode::while_loop, carried, regions);
  const Value index = rewriter.open_copy(*op.regions[0], types)[0];
  std::vector<Value> next = rewriter.copy_block(*op.regions[0]);
  // The sum wraps around after the greatest number; then the loop ends.
  const Value sum = copy.value(OpCode::add, {index, step}), grows = copy.value(OpCode::greater, {sum, index});
  next.insert(next.begin(), copy.value(OpCode::select, {grows, sum, upper}));
  regions.push_back(copy.close_region(std::move(next)));
  rewriter.label_as(op);
  ir::Attributes known;
  if (const std::optional<int64_t> count = ir::iterations(op)) known.set(Attr::kTripCount, *count);
  Op* made = copy.add(OpCode::while_loop, std::move(carried), std::move(known), std::move(regions));
  std::vector<Value> results;
  for (uint32_t i = 1; i < made->results.size(); ++i) results.push_back({made, i});
  return results;
}

// `empty`, of the shape that the op's operand contains.
Value shaped(Graph& copy, const Op& op) {
  const std::optional<ir::Elements> dims = ir::known_elements(op.operands[0]);
  if (!dims || std::find(dims->begin(), dims->end(), std::nullopt) != dims->end()) {
    op.fail("Expected a shape made of constants and shapes, got one that only a run knows");
  }
  return empty_like(copy, op.result());
}

// Decides by the facts of the op's row, except for `shaped` and `empty`, which only stand for a shape. `empty` may keep
// an open shape: it replaces values of the branch not taken that a gradient reads from the branch taken, and the shape
// operand of a reshape, which may leave one length open.
Replacement resolve(ir::Rewriter& rewriter, const Op& op, const std::vector<Value>& operands) {
  Graph& copy = rewriter.copy();
  if (op.code == OpCode::shaped) return {{shaped(copy, op)}};
  for (const Type& type : op.results) {
    const bool may_be_open = op.code == OpCode::empty;
    if (!type.is_static() && !may_be_open) op.fail("The result " + to_string(type) + " is not of a known shape");
  }
  expect_static_arguments(op);
  const ir::Facts& facts = op.info().facts;
  const auto with_shape = [&](OpCode code) {
    return Replacement({copy.value(code, {operands[0]}, {{Attr::kShape, op.results[0].shape}})});
  };
  if (facts.keeps && operands[0].type() == op.results[0]) return {{operands[0]}};
  if (facts.renames && operands[0].dtype() == op.results[0].dtype) return with_shape(OpCode::reshape);
  if (facts.repeats) return with_shape(OpCode::broadcast_to);
  if (facts.regions.run == ir::RegionRun::kCounted) return count_up(rewriter, op, operands);
  if (op.info().elements != nullptr && !operands.empty() && reads_nothing(op)) return {{read_off_shapes(copy, op)}};
  return without_lent(copy, op, operands);
}

}  // namespace

std::unique_ptr<Graph> resolve_shapes(const Graph& graph) {
  const auto is_composed = [](const Op& op) { return op.info().facts.composed; };
  if (!ir::has_op(graph, is_composed)) return ir::Rewriter(resolve).run(graph);
  return ir::Rewriter(resolve).run(*ir::in_parts(graph, is_composed));
}

}  // namespace alloy::compiler
