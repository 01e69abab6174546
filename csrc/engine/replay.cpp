#include "engine/replay.h"

#include <algorithm>

#include "ir/transform/rewrite.h"
#include "reference/reference.h"

namespace alloy::engine {

std::optional<std::vector<Elements>> reference_results(const ir::Op& op, std::vector<Elements> operands) {
  const auto is_complex = [](ir::DType dtype) { return kind(dtype) == ir::DTypeKind::kComplex; };
  bool may_tell = !op.operands.empty() && op.regions.empty() && !op.info().facts.effect && !op.info().facts.host &&
                  op.code != ir::OpCode::random;
  for (const ir::Value& v : op.operands) may_tell = may_tell && !is_complex(v.dtype());
  // The reference counts the bits of the wider type that it computes with.
  const bool counts_bits = op.code == ir::OpCode::population_count;
  may_tell = may_tell && !(counts_bits && ir::computed_in(op.operands[0].dtype()) != op.operands[0].dtype());
  for (const ir::Type& type : op.results) may_tell = may_tell && !is_complex(type.dtype);
  // The engine lowers a reduction over no axes to its operand, which need not be 0 or 1.
  const bool is_logical = op.code == ir::OpCode::all || op.code == ir::OpCode::any;
  if (is_logical && op.attributes.has(ir::Attr::kAxes) && op.attributes.ints(ir::Attr::kAxes).empty()) may_tell = false;
  if (!may_tell) return std::nullopt;
  ir::Graph graph;
  ir::ValueMap<ir::Value> values;
  std::vector<reference::Array> given;
  for (size_t i = 0; i < operands.size(); ++i) {
    const ir::Type type{op.operands[i].dtype(), ir::Shape(operands[i].dims)};
    values[op.operands[i]] =
        graph.value(ir::OpCode::placeholder, {}, {{ir::Attr::kShape, type.shape}, {ir::Attr::kDtype, type.dtype}});
    given.emplace_back(std::move(operands[i].dims), std::move(operands[i].values));
  }
  const ir::Op* const copy = ir::copy_into(graph, op, values);
  const auto is_static = [](const ir::Type& type) { return type.is_static(); };
  if (!std::all_of(copy->results.begin(), copy->results.end(), is_static) || !reference::has_function(*copy)) {
    return std::nullopt;
  }
  std::vector<Elements> out;
  for (reference::Array& made : reference::compute(*copy, given)) {
    out.push_back({std::move(made.dims), std::move(made.values)});
  }
  return out;
}

}  // namespace alloy::engine
