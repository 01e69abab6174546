#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>

#include "engine/host_function.h"
#include "graph.h"

namespace py = pybind11;

namespace alloy::bindings {
namespace {

// The op all_reduce as a function of Python, which has lists of the operands' memory and the results' memory, and the
// name of their type, and whether the device computes meanwhile. Its exceptions are those of the step. `memory` returns
// an object, and its memory for operands and for results of these sizes; or None.
class PythonAllReduce : public engine::HostFunction {
 public:
  PythonAllReduce(py::function function, py::function memory, std::optional<uint64_t> call_bytes)
      : function_(function.release()), memory_(memory.release()), call_bytes_(call_bytes) {}

  uint64_t call_bytes() const override { return call_bytes_.value_or(HostFunction::call_bytes()); }

  Memory memory(const std::vector<ir::Type>& given, const std::vector<ir::Type>&) const override {
    const py::gil_scoped_acquire lock;
    py::list sizes;
    for (const ir::Type& type : given) sizes.append(py::int_(type.byte_count()));
    const py::object made = memory_(sizes);
    if (made.is_none()) return {};
    const auto [owner, operands, results] = made.cast<std::tuple<py::object, py::list, py::list>>();
    const auto addresses = [](const py::list& memories) {
      std::vector<void*> found;
      for (const py::handle one : memories) found.push_back(py::reinterpret_borrow<py::buffer>(one).request(true).ptr);
      return found;
    };
    return {addresses(operands), addresses(results), std::shared_ptr<void>(owner.inc_ref().ptr(), let_go)};
  }

  std::string compute(const std::vector<ir::Type>& given, const std::vector<const void*>& operands,
                      const std::vector<ir::Type>&, const std::vector<void*>& results, bool meanwhile) const override {
    const py::gil_scoped_acquire lock;
    py::list from, to;
    for (size_t i = 0; i < given.size(); ++i) {
      const auto bytes = static_cast<py::ssize_t>(given[i].byte_count());
      from.append(py::memoryview::from_memory(operands[i], bytes));
      to.append(py::memoryview::from_memory(results[i], bytes));
    }
    function_(from, to, py::str(std::string(ir::name(given[0].dtype))), meanwhile);
    return {};
  }

 private:
  // The interpreter may have ended before.
  static void let_go(void* owner) {
    if (!Py_IsInitialized()) return;
    const py::gil_scoped_acquire lock;
    Py_DECREF(static_cast<PyObject*>(owner));
  }

  const py::handle function_, memory_;  // never released: the interpreter may end before
  const std::optional<uint64_t> call_bytes_;
};

// Adds up float32 arrays, given as addresses.
void add_up(const std::vector<uintptr_t>& terms, const std::vector<uintptr_t>& sums, size_t count) {
  std::vector<const float*> from;
  std::vector<float*> to;
  for (const uintptr_t term : terms) from.push_back(reinterpret_cast<const float*>(term));
  for (const uintptr_t sum : sums) to.push_back(reinterpret_cast<float*>(sum));
  engine::add_up(from, to, count);
}

}  // namespace

void bind_distributed(py::module_& m) {
  m.def("set_all_reduce", [](py::function function, py::function memory, std::optional<uint64_t> call_bytes) {
    engine::set_all_reduce(std::make_shared<PythonAllReduce>(std::move(function), std::move(memory), call_bytes));
  });
  m.def("add_up", add_up, py::call_guard<py::gil_scoped_release>());
}

}  // namespace alloy::bindings
