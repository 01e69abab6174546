#include <pybind11/stl.h>

#include <variant>

#include "graph.h"
#include "engine/optimizer.h"
#include "ir/expr.h"

namespace py = pybind11;

namespace alloy::bindings {
namespace {

// A learning rate as Python gives it: a number or a tensor of one element.
struct Sgd {
  py::object rate;
};
struct Adam : Sgd {
  engine::AdamCoefficients coefficients;
};

using Rate = std::variant<double, ir::Value>;

Rate rate_in(const py::object& rate) {
  if (py::isinstance<Tensor>(rate)) return rate.cast<const Tensor&>().value;
  return rate.cast<double>();
}

ir::Value value_of(const Rate& rate, engine::Graph& graph, const ir::Value& like) {
  if (const double* number = std::get_if<double>(&rate)) return ir::Expr(graph.ir(), like).scalar(*number).value();
  graph.require_own(std::get<ir::Value>(rate), "learning rate");
  return std::get<ir::Value>(rate);
}

std::vector<Tensor> loss_gradients(const std::shared_ptr<engine::Graph>& graph, const Tensor& loss, const std::vector<Variable*>& variables,
                                   const std::string& location) {
  std::vector<ir::Value> values;
  for (const Variable* v : variables) values.push_back(v->value);
  const Building building(*graph, "", location);
  std::vector<Tensor> out;
  for (const engine::VariableGradient& pair : engine::loss_gradients(*graph, loss.value, values)) out.push_back({graph, pair.gradient});
  return out;
}

// `step` makes the updates of the gradients with a rate.
template <class Step>
std::vector<Update> apply(const py::object& rate, const std::vector<std::pair<Tensor*, Variable*>>& pairs, const std::string& location, Step step) {
  if (pairs.empty()) return {};
  const std::shared_ptr<engine::Graph>& graph = pairs[0].second->graph;
  std::vector<engine::VariableGradient> gradients;
  for (const auto& [gradient, variable] : pairs) gradients.push_back({gradient->value, variable->value});
  const Rate given = rate_in(rate);
  const Building building(*graph, "", location);
  std::vector<Update> updates;
  for (ir::Op* op : step(*graph, gradients, value_of(given, *graph, gradients[0].variable))) updates.push_back({graph, op});
  return updates;
}

}  // namespace

void bind_optimizers(py::module_& m) {
  using Pairs = std::vector<std::pair<Tensor*, Variable*>>;
  py::class_<Sgd>(m, "SGD")
      .def(py::init([](py::object rate) { return Sgd{std::move(rate)}; }))
      .def("apply", [](const Sgd& self, const Pairs& pairs, const std::string& location) { return apply(self.rate, pairs, location, engine::apply_sgd); });
  py::class_<Adam>(m, "Adam")
      .def(py::init([](py::object rate, double beta1, double beta2, double epsilon) { return Adam{{std::move(rate)}, {beta1, beta2, epsilon}}; }))
      .def("apply", [](const Adam& self, const Pairs& pairs, const std::string& location) {
        return apply(self.rate, pairs, location, [&](engine::Graph& graph, const std::vector<engine::VariableGradient>& gradients, ir::Value rate) {
          return engine::apply_adam(graph, gradients, rate, self.coefficients);
        });
      });
  py::class_<engine::Graph, std::shared_ptr<engine::Graph>> graph = m.attr("Graph");
  graph.def("loss_gradients", &loss_gradients);
}

}  // namespace alloy::bindings
