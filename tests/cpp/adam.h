// Adam for graphs built in C++; Python's optimizers use the same op.
#pragma once

#include <vector>

#include "engine/gradients.h"
#include "ir/rules/expr.h"

namespace alloy {

// Adds the updates of variables and of their moments, which are new variables; without bias correction.
inline std::vector<ir::Op*> adam_updates(engine::Graph& graph, const std::vector<engine::VariableGradient>& gradients) {
  std::vector<ir::Op*> updates;
  for (const engine::VariableGradient& pair : gradients) {
    const ir::Expr x(graph.ir(), pair.variable), g(graph.ir(), pair.gradient);
    const auto moment = [&] { return graph.variable(ir::Literal::splat(pair.variable.type(), 0), false); };
    const ir::Value m = moment(), v = moment();
    ir::Op* step =
        graph.ir().add(ir::OpCode::adam, {x.scalar(1e-3).value(), x.scalar(0.9).value(), x.scalar(0.999).value(),
                                          x.scalar(1e-8).value(), x.value(), m, v, g.value()});
    const ir::Value targets[] = {pair.variable, m, v};
    for (uint32_t r = 0; r < 3; ++r) {
      updates.push_back(graph.ir().add(ir::OpCode::assign, {targets[r], ir::Value{step, r}}));
    }
  }
  return updates;
}

}  // namespace alloy
