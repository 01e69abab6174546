#include "engine/gradients.h"

#include <string>

#include "ir/transform/gradients.h"

namespace alloy::engine {
namespace {

using ir::OpCode;

std::string quoted(const ir::Op& op) { return op.name.empty() ? "" : " '" + op.name + "'"; }

void require_variable(const Graph& graph, ir::Value v) {
  graph.require_own(v, "variable");
  if (v.op->code != OpCode::variable) v.op->fail("Expected a variable, got the result of this op");
}

}  // namespace

void require_own(const Graph& graph, const std::vector<VariableGradient>& gradients) {
  for (const VariableGradient& pair : gradients) {
    require_variable(graph, pair.variable);
    graph.require_own(pair.gradient, "gradient");
    const bool same_dtype = pair.gradient.dtype() == pair.variable.dtype();
    if (same_dtype && ir::unify(pair.gradient.shape(), pair.variable.shape())) continue;
    pair.gradient.op->fail("The gradient is " + to_string(pair.gradient.type()) + " but the variable" +
                               quoted(*pair.variable.op) + " is " + to_string(pair.variable.type()),
                           same_dtype ? ir::Error::Kind::kValue : ir::Error::Kind::kType);
  }
}

std::vector<VariableGradient> loss_gradients(Graph& graph, ir::Value loss, const std::vector<ir::Value>& variables) {
  graph.require_own(loss, "loss");
  if (!loss.shape().is_static() || loss.shape().element_count() != 1) {
    loss.op->fail("Expected a loss of one element, got shape " + to_string(loss.shape()));
  }
  for (const ir::Value& v : variables) require_variable(graph, v);
  const std::vector<ir::Value> found = ir::gradients(graph.ir(), loss, variables);
  std::vector<VariableGradient> gradients;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) variables[i].op->fail("The loss does not depend on the variable" + quoted(*variables[i].op));
    gradients.push_back({found[i], variables[i]});
  }
  return gradients;
}

}  // namespace alloy::engine
