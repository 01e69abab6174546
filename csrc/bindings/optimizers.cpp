#include <pybind11/stl.h>

#include <variant>

#include "engine/optimizer.h"
#include "graph.h"
#include "ir/expr.h"

namespace py = pybind11;

namespace alloy::bindings {
namespace {

// A learning rate as Python gives it: a number or a tensor of one element.
using Rate = std::variant<double, ir::Value>;

Rate rate_in(const py::object& rate) {
  if (py::isinstance<Tensor>(rate)) return rate.cast<const Tensor&>().value;
  const double number = PyFloat_AsDouble(rate.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return number;
}

ir::Value value_of(const Rate& rate, engine::Graph& graph, const ir::Value& like) {
  if (const double* number = std::get_if<double>(&rate)) return ir::Expr(graph.ir(), like).scalar(*number).value();
  graph.require_own(std::get<ir::Value>(rate), "learning rate");
  return std::get<ir::Value>(rate);
}

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

// `step` makes the updates of the gradients with a rate.
template <class Step>
std::vector<Update> apply(const py::object& rate, const Pairs& pairs, const std::string& location, Step step) {
  if (pairs.empty()) return {};
  const std::shared_ptr<engine::Graph>& graph = pairs[0].second.graph;
  const std::vector<engine::VariableGradient> gradients = gradients_in(pairs);
  const Rate given = rate_in(rate);
  const Building building(*graph, "", location);
  std::vector<Update> updates;
  for (ir::Op* op : step(*graph, gradients, value_of(given, *graph, gradients[0].variable))) {
    updates.push_back({graph, op});
  }
  return updates;
}

}  // namespace

void bind_optimizers(py::module_& m) {
  m.def("require_gradients", [](const Pairs& pairs) {
    if (!pairs.empty()) engine::require_own(*pairs[0].second.graph, gradients_in(pairs));
  });
  m.def("apply_sgd", [](const py::object& rate, const Pairs& pairs, const std::string& location) {
    return apply(rate, pairs, location, engine::apply_sgd);
  });
  m.def("apply_adam", [](const py::object& rate, double beta1, double beta2, double epsilon, const Pairs& pairs,
                         const std::string& location) {
    return apply(rate, pairs, location,
                 [&](engine::Graph& graph, const std::vector<engine::VariableGradient>& gradients, ir::Value value) {
                   return engine::apply_adam(graph, gradients, value, {beta1, beta2, epsilon});
                 });
  });
  py::class_<engine::Graph, std::shared_ptr<engine::Graph>> graph = m.attr("Graph");
  graph.def("loss_gradients", &loss_gradients);
}

}  // namespace alloy::bindings
