#include "engine/optimizer.h"

#include <string>

#include "ir/expr.h"
#include "ir/gradients.h"
#include "ir/names.h"

namespace alloy::engine {
namespace {

using ir::Expr;
using ir::OpCode;

std::string quoted(const ir::Op& op) { return op.name.empty() ? "" : " '" + op.name + "'"; }

void require_variable(const Graph& graph, ir::Value v) {
  graph.require_own(v, "variable");
  if (v.op->code != OpCode::variable) v.op->fail("Expected a variable, got the result of this op");
}

// What is added from now on is the optimizer's, for the variable of that name.
void name_after(Graph& graph, const std::string& name) { graph.ir().name = ir::name_in(ir::kOptimizer, name); }

// A step is taken in the type that its variable is computed in, and has its state in it; only the new value is rounded.
Expr wide(Graph& graph, ir::Value v) { return ir::cast(Expr(graph.ir(), v), computed_in(v.dtype())); }

Expr state(Graph& graph, const ir::Value& like, const std::string& suffix) {
  const std::string name = graph.ir().name;
  graph.ir().name += "/" + suffix;
  const ir::Type type{computed_in(like.dtype()), like.shape()};
  const Expr made(graph.ir(), graph.variable(ir::Literal::splat(type, 0), false));
  graph.ir().name = name;
  return made;
}

ir::Op* assign(Graph& graph, Expr variable, Expr value) {
  return graph.ir().add(OpCode::assign, {variable.value(), ir::cast(value, variable.value().dtype()).value()});
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

std::vector<ir::Op*> apply_sgd(Graph& graph, const std::vector<VariableGradient>& gradients, ir::Value rate) {
  require_own(graph, gradients);
  std::vector<ir::Op*> updates;
  for (const VariableGradient& pair : gradients) {
    const Expr x(graph.ir(), pair.variable);
    name_after(graph, pair.variable.op->name);
    updates.push_back(assign(
        graph, x,
        ir::apply(OpCode::sgd, {Expr(graph.ir(), rate), wide(graph, pair.variable), wide(graph, pair.gradient)})));
  }
  graph.ir().name.clear();
  return updates;
}

std::vector<ir::Op*> apply_adam(Graph& graph, const std::vector<VariableGradient>& gradients, ir::Value rate,
                                const AdamCoefficients& c) {
  require_own(graph, gradients);
  if (gradients.empty()) return {};
  const ir::Type scalar{rate.dtype(), ir::Shape({1})};
  std::vector<ir::Op*> updates;
  // The moments are kept divided by their correction, 1 - beta^t: the newest gradient then enters with the weight
  // (1 - beta) / (1 - beta^t), and the op's own beta is what is left of 1. So no step depends on beta^t, which drifts
  // away where beta is a float32 near 1. The correction advances by (1 - beta) of what it lacks: exact to rounding from
  // the first step on.
  auto decay = [&](double beta, const char* name) {
    name_after(graph, name);
    const Expr before(graph.ir(), graph.variable(ir::Literal::splat(scalar, 0), false));
    const Expr correction = before + (1.0 - before) * (1.0 - beta);
    updates.push_back(assign(graph, before, correction));
    return 1.0 - (1.0 - beta) / correction;
  };
  const Expr beta1 = decay(c.beta1, "correction1"), beta2 = decay(c.beta2, "correction2");
  name_after(graph, "epsilon");
  const Expr step(graph.ir(), rate), epsilon = step.scalar(c.epsilon);
  for (const VariableGradient& pair : gradients) {
    const Expr x(graph.ir(), pair.variable);
    name_after(graph, pair.variable.op->name);
    const Expr values = wide(graph, pair.variable), g = wide(graph, pair.gradient);
    const Expr m = state(graph, pair.variable, "first_moment"), v = state(graph, pair.variable, "second_moment");
    ir::Op* op = graph.ir().add(OpCode::adam, {step.value(), beta1.value(), beta2.value(), epsilon.value(),
                                               values.value(), m.value(), v.value(), g.value()});
    const Expr targets[] = {x, m, v};
    for (uint32_t r = 0; r < 3; ++r) updates.push_back(assign(graph, targets[r], Expr(graph.ir(), {op, r})));
  }
  graph.ir().name.clear();
  return updates;
}

}  // namespace alloy::engine
