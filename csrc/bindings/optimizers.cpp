#include <pybind11/stl.h>

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

ir::Value rate_in(const py::object& rate, const Tensor& loss) {
  if (!py::isinstance<Tensor>(rate)) return ir::Expr(loss.graph->ir(), loss.value).scalar(rate.cast<double>()).value();
  const Tensor& tensor = rate.cast<const Tensor&>();
  loss.graph->require_own(tensor.value, "learning rate");
  return tensor.value;
}

template <class Minimize>
std::vector<Update> minimize(const Tensor& loss, const std::vector<Variable*>& variables, const std::string& location, Minimize step) {
  std::vector<ir::Value> values;
  for (const Variable* v : variables) values.push_back(v->value);
  Labels labels(loss.graph->ir(), "", location);
  const std::vector<ir::Op*> ops = step(*loss.graph, values);
  std::vector<Update> updates;
  for (ir::Op* op : ops) updates.push_back({loss.graph, op});
  return updates;
}

}  // namespace

void bind_optimizers(py::module_& m) {
  py::class_<Sgd>(m, "SGD")
      .def(py::init([](py::object rate) { return Sgd{std::move(rate)}; }))
      .def("minimize", [](const Sgd& self, const Tensor& loss, const std::vector<Variable*>& variables, const std::string& location) {
        return minimize(loss, variables, location, [&](engine::Graph& graph, const std::vector<ir::Value>& values) {
          return engine::minimize_sgd(graph, loss.value, values, rate_in(self.rate, loss));
        });
      });
  py::class_<Adam>(m, "Adam")
      .def(py::init([](py::object rate, double beta1, double beta2, double epsilon) { return Adam{{std::move(rate)}, {beta1, beta2, epsilon}}; }))
      .def("minimize", [](const Adam& self, const Tensor& loss, const std::vector<Variable*>& variables, const std::string& location) {
        return minimize(loss, variables, location, [&](engine::Graph& graph, const std::vector<ir::Value>& values) {
          return engine::minimize_adam(graph, loss.value, values, rate_in(self.rate, loss), self.coefficients);
        });
      });
}

}  // namespace alloy::bindings
