#include <pybind11/stl.h>

#include "engine/gradients.h"
#include "graph.h"

namespace py = pybind11;

namespace alloy::bindings {
namespace {

std::vector<Tensor> loss_gradients(const std::shared_ptr<engine::Graph>& graph, const Tensor& loss,
                                   const std::vector<Variable>& variables, const std::string& location) {
  std::vector<ir::Value> values;
  for (const Variable& v : variables) values.push_back(v.value);
  const Building building(*graph, "", location);
  std::vector<Tensor> out;
  for (const engine::VariableGradient& pair : engine::loss_gradients(*graph, loss.value, values)) {
    out.push_back({graph, pair.gradient});
  }
  return out;
}

using Pairs = std::vector<std::pair<Tensor, Variable>>;

std::vector<engine::VariableGradient> gradients_in(const Pairs& pairs) {
  std::vector<engine::VariableGradient> gradients;
  for (const auto& [gradient, variable] : pairs) gradients.push_back({gradient.value, variable.value});
  return gradients;
}

}  // namespace

void bind_gradients(py::module_& m) {
  m.def("require_gradients", [](const Pairs& pairs) {
    if (!pairs.empty()) engine::require_own(*pairs[0].second.graph, gradients_in(pairs));
  });
  py::class_<engine::Graph, std::shared_ptr<engine::Graph>> graph = m.attr("Graph");
  graph.def("loss_gradients", &loss_gradients);
}

}  // namespace alloy::bindings
