// Regions, and what only steers.
#include <algorithm>

#include "ir/rules.h"

namespace alloy::ir {

Types infer_stop_gradient(const Op& op) { return {operand(op, 0)}; }

void gradient_stop_gradient(GradientRule&) {}

Cost cost_stop_gradient(const Op&) { return {}; }

Types infer_if_else(const Op& op) {
  const Type& predicate = operand(op, 0);
  if (predicate.shape.is_static() && predicate.shape.element_count() != 1) {
    op.fail("Expected a predicate of one element, got " + text(predicate));
  }
  const auto& yes = op.regions[0]->results;
  const auto& no = op.regions[1]->results;
  if (yes.size() != no.size()) {
    op.fail("The branches give " + std::to_string(yes.size()) + " and " + std::to_string(no.size()) + " results");
  }
  Types types;
  for (size_t i = 0; i < yes.size(); ++i) {
    const Type &a = yes[i].type(), &b = no[i].type();
    auto shape = unify(a.shape, b.shape);
    if (a.dtype != b.dtype || !shape) {
      op.fail("Result " + std::to_string(i) + " is " + text(a) + " in one branch and " + text(b) + " in the other");
    }
    types.push_back({a.dtype, *shape});
  }
  return types;
}

// The walk differentiates conditionals itself.
void gradient_if_else(GradientRule&) {}

namespace {

Cost total(const Block& block) {
  Cost sum;
  for (const auto& op : block.ops) {
    const Cost one = cost(*op);
    sum.flops += one.flops;
    sum.bytes_read += one.bytes_read;
    sum.bytes_written += one.bytes_written;
  }
  return sum;
}

Cost dearer(const Cost& a, const Cost& b) {
  return {std::max(a.flops, b.flops), std::max(a.bytes_read, b.bytes_read), std::max(a.bytes_written, b.bytes_written)};
}

}  // namespace

Cost cost_if_else(const Op& op) {
  Cost branch = dearer(total(*op.regions[0]), total(*op.regions[1]));
  branch.bytes_read += op.operands[0].type().byte_count();
  return branch;
}

Types infer_fused(const Op& op) {
  Types types;
  for (const Value& v : op.regions[0]->results) types.push_back(v.type());
  return types;
}

void gradient_fused(GradientRule& r) { r.op().fail("What the compiler has fused has no gradient"); }

Cost cost_fused(const Op& op) { return cost_of(op, total(*op.regions[0]).flops); }

}  // namespace alloy::ir
