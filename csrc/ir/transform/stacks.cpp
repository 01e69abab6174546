// Turns the stacked results of counted loops into carried values.
#include <algorithm>

#include "ir/rules/elements.h"
#include "ir/transform/regions.h"
#include "ir/transform/rewrite.h"

namespace alloy::ir {
namespace {

// Writes `value` to row `at`, a scalar, of `stack`.
Value with_row(Graph& copy, Value stack, Value at, Value value) {
  const auto reshaped = [&](Value v, const Shape& shape) {
    return copy.value(OpCode::reshape, {v}, {{Attr::kShape, shape}});
  };
  Dims row = stack.shape().dims();
  row[0] = 1;
  return copy.value(OpCode::scatter, {stack, reshaped(value, Shape(row)), reshaped(at, Shape({1}))},
                    {{Attr::kAxis, int64_t{0}}, {Attr::kMode, std::string("set")}});
}

// The number of the iteration, from 0; it is the row of the stacks.
Value number_of(Graph& copy, Value index, Value lower, Value step) {
  const auto is = [](Value v, int64_t number) {
    const std::optional<Elements> known = known_elements(v);
    return known && known->size() == 1 && known->front() == number;
  };
  const auto scalar = [&](Value v) { return copy.value(OpCode::reshape, {v}, {{Attr::kShape, Shape()}}); };
  if (!is(lower, 0)) index = copy.value(OpCode::subtract, {index, scalar(lower)});
  if (!is(step, 1)) index = copy.value(OpCode::divide, {index, scalar(step)});
  const bool is_index = index.dtype() == DType::int32 || index.dtype() == DType::int64;
  return is_index ? index : copy.value(OpCode::cast, {index}, {{Attr::kDtype, DType::int32}});
}

// An iteration writes its row of each stack. Rows that are arguments are written first, before the memory of an
// argument is reused for the next carried value.
Replacement carry(Rewriter& rewriter, const Op& op, const std::vector<Value>& given) {
  const size_t carried = op.operands.size() - op.info().facts.regions.own_operands;
  if (op.info().facts.regions.run != RegionRun::kCounted || op.results.size() == carried) return std::nullopt;
  Graph& copy = rewriter.copy();
  const Block& region = *op.regions[0];
  std::vector<Value> operands = given;
  for (size_t i = carried; i < op.results.size(); ++i) {
    const Type& type = op.results[i];
    if (!type.is_static()) op.fail("The loop stacks " + to_string(type) + ", which is not of a known shape");
    operands.push_back(copy.value(OpCode::empty, {}, {{Attr::kShape, type.shape}, {Attr::kDtype, type.dtype}}));
  }
  const std::vector<Value> arguments = rewriter.open_copy(region, argument_types(op.code, operands, {}));
  const Value row = number_of(copy, arguments[0], given[0], given[2]);
  std::vector<Value> written(op.results.size());
  const auto is_argument = [&](Value v) { return v.op->block == &region && v.op->code == OpCode::argument; };
  for (size_t i = carried; i < written.size(); ++i) {
    const Value v = region.results[i];
    if (is_argument(v)) written[i] = with_row(copy, arguments[i + 1], row, rewriter.mapped(v));
  }
  std::vector<Value> next = rewriter.copy_block(region);
  for (size_t i = carried; i < next.size(); ++i) {
    next[i] = written[i] ? written[i] : with_row(copy, arguments[i + 1], row, next[i]);
  }
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(copy.close_region(std::move(next)));
  return rewriter.add_over(op, std::move(operands), std::move(regions));
}

}  // namespace

std::unique_ptr<Graph> carry_stacks(const Graph& graph) { return Rewriter(carry).run(graph); }

}  // namespace alloy::ir
