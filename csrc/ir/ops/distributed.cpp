// Sums over processes.
#include "ir/rules/rules.h"

namespace alloy::ir {

Types infer_all_reduce(const Op& op) {
  Types types;
  for (const Value& v : op.operands) {
    if (!accepts(TypeClass::numeric, v.dtype())) {
      op.fail("Expected numbers, which have a sum, got " + text(v.type()), Error::Kind::kType);
    }
    types.push_back(v.type());
  }
  return types;
}

// The loss is the sum of the processes' losses, so an operand's gradient is the sum of theirs of the result.
void gradient_all_reduce(GradientRule& r) {
  std::vector<size_t> wanted;
  std::vector<Value> gradients;
  for (size_t i = 0; i < r.op().operands.size(); ++i) {
    if (!r.g(i) || !r.wants(i)) continue;
    wanted.push_back(i);
    gradients.push_back(r.g(i).value());
  }
  if (wanted.empty()) return;
  Graph& graph = r.x().graph();
  const Op* const made = graph.add(OpCode::all_reduce, gradients);
  for (uint32_t i = 0; i < wanted.size(); ++i) r.give(wanted[i], Expr(graph, made->result(i)));
}

// The time is that of the network, which is unknown.
Cost cost_all_reduce(const Op& op) { return cost_of(op, 0); }

}  // namespace alloy::ir
