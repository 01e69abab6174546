#include <pybind11/pybind11.h>

#include "engine/host_function.h"
#include "graph.h"

namespace py = pybind11;

namespace alloy::bindings {
namespace {

// The op all_reduce as a function of Python, which has lists of the operands' memory, the results' memory, and the
// types' names. Its exceptions are those of the step.
class PythonAllReduce : public engine::HostFunction {
 public:
  explicit PythonAllReduce(py::function function) : function_(function.release()) {}

  std::string compute(const std::vector<ir::Type>& given, const std::vector<const void*>& operands,
                      const std::vector<ir::Type>&, const std::vector<void*>& results) const override {
    const py::gil_scoped_acquire lock;
    py::list from, to, types;
    for (size_t i = 0; i < given.size(); ++i) {
      const auto bytes = static_cast<py::ssize_t>(given[i].byte_count());
      from.append(py::memoryview::from_memory(operands[i], bytes));
      to.append(py::memoryview::from_memory(results[i], bytes));
      types.append(py::str(std::string(ir::name(given[i].dtype))));
    }
    function_(from, to, types);
    return {};
  }

 private:
  const py::handle function_;  // never released: the interpreter may end before
};

}  // namespace

void bind_distributed(py::module_& m) {
  m.def("set_all_reduce",
        [](py::function function) { engine::set_all_reduce(std::make_shared<PythonAllReduce>(std::move(function))); });
}

}  // namespace alloy::bindings
