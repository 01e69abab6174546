// Casts around ops of types in which kernels do not compute.
#include <algorithm>

#include "compiler/passes.h"
#include "ir/transform/rewrite.h"
#include "ir/transform/walk.h"

namespace alloy::compiler {
namespace {

using ir::Attr;
using ir::DType;
using ir::Graph;
using ir::Op;
using ir::OpCode;
using ir::Replacement;
using ir::Value;

bool is_computed_wider(DType dtype) { return computed_in(dtype) != dtype; }

// True if the op computes with elements, rather than moving or converting them or running regions.
bool is_arithmetic(const Op& op) {
  return !op.info().facts.every_type && op.code != OpCode::cast && op.info().facts.regions.run == ir::RegionRun::kNever;
}

Value converted(Graph& graph, Value v, DType dtype) {
  if (v.dtype() == dtype) return v;
  if (v.op->code == OpCode::empty) {
    return graph.value(OpCode::empty, {}, {{Attr::kShape, v.shape()}, {Attr::kDtype, dtype}});
  }
  return ir::cast(graph, v, dtype);
}

// population_count must not count the copies of the sign bit that widening a negative number adds.
Value without_sign(Graph& graph, const Op& op, Value v) {
  if (op.code != OpCode::population_count || kind(v.dtype()) != ir::DTypeKind::kSigned) return v;
  return converted(graph, v, size_of(v.dtype()) == 1 ? DType::uint8 : DType::uint16);
}

}  // namespace

std::unique_ptr<Graph> widen(const Graph& graph, const device::Device& device) {
  const auto is_to_widen = [&](const Op& op) {
    const auto takes = [](Value v) { return is_computed_wider(v.dtype()); };
    const auto gives = [](const ir::Type& type) { return is_computed_wider(type.dtype); };
    return is_arithmetic(op) &&
           (std::any_of(op.operands.begin(), op.operands.end(), takes) ||
            std::any_of(op.results.begin(), op.results.end(), gives)) &&
           !device.computes_narrow(op);
  };
  if (!ir::has_op(graph, is_to_widen)) return nullptr;
  const auto rule = [&](ir::Rewriter& rewriter, const Op& op, std::vector<Value> operands) -> Replacement {
    if (!is_to_widen(op)) return std::nullopt;
    Graph& copy = rewriter.copy();
    for (Value& v : operands) v = converted(copy, without_sign(copy, op, v), computed_in(v.dtype()));
    ir::Attributes attributes = op.attributes;
    if (attributes.has(Attr::kDtype)) {
      attributes.set(Attr::kDtype, computed_in(attributes.get<DType>(Attr::kDtype)));
    }
    const Op* wide = copy.add(op.code, std::move(operands), std::move(attributes));
    std::vector<Value> results;
    for (uint32_t i = 0; i < op.results.size(); ++i) {
      results.push_back(converted(copy, wide->result(i), op.results[i].dtype));
    }
    return results;
  };
  return ir::Rewriter(rule).run(graph);
}

}  // namespace alloy::compiler
