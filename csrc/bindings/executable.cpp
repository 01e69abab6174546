#include <pybind11/stl.h>

#include "arrays.h"
#include "graph.h"

namespace py = pybind11;

namespace alloy::bindings {
namespace {

using Executable = engine::Executable;

std::string feed_names(const Executable& executable) {
  std::string names;
  for (const ir::Value& v : executable.feeds()) {
    const ir::Op& op = *v.op;
    names += (names.empty() ? "" : ", ") + (op.name.empty() ? to_string(v.type()) : "'" + op.name + "'") + (op.location.empty() ? "" : " of " + op.location);
  }
  return names;
}

// "[placeholder] 'x', built at model.py:3,"
std::string feed_label(const ir::Value& feed) {
  const ir::Op& op = *feed.op;
  return "[placeholder] " + (op.name.empty() ? "The placeholder" : "'" + op.name + "'") + (op.location.empty() ? "" : ", built at " + op.location + ",");
}

py::list run(Executable& executable, const py::args& given) {
  const size_t count = executable.feeds().size();
  if (given.size() != count) {
    throw ir::Error(ir::Error::Kind::kValue, "[executable] Expected " + std::to_string(count) + " feeds (" + feed_names(executable) + "), got " +
                                                 std::to_string(given.size()) + ".");
  }
  std::vector<py::object> arrays;
  std::vector<const void*> feeds;
  std::vector<ir::Shape> shapes;
  for (size_t i = 0; i < count; ++i) {
    arrays.push_back(packed_array(given[i], executable.feeds()[i].dtype(), feed_label(executable.feeds()[i])));
    feeds.push_back(data_of(arrays.back()));
    shapes.push_back(shape_of(arrays.back()));
  }
  engine::Compiled& compiled = executable.specialize(shapes);
  py::list out;
  std::vector<void*> results;
  for (const ir::Type& type : compiled.result_types()) {
    py::object array = new_array(type);
    results.push_back(data_of(array));
    out.append(std::move(array));
  }
  py::gil_scoped_release release;
  compiled.run(feeds.data(), results.data());
  return out;
}

std::vector<Tensor> tensors(const Executable& executable, const std::vector<ir::Value>& values) {
  std::vector<Tensor> out;
  for (const ir::Value& v : values) out.push_back({executable.graph(), v});
  return out;
}

std::shared_ptr<Executable> compile(engine::Graph& graph, const std::vector<Tensor*>& feeds, const std::vector<Tensor*>& fetches,
                                    const std::vector<Update*>& updates) {
  std::vector<ir::Value> feed_values, fetch_values;
  std::vector<ir::Op*> ops;
  for (const Tensor* t : feeds) feed_values.push_back(t->value);
  for (const Tensor* t : fetches) fetch_values.push_back(t->value);
  for (const Update* u : updates) ops.push_back(u->op);
  return graph.compile(std::move(feed_values), std::move(fetch_values), std::move(ops));
}

}  // namespace

void bind_executable(py::module_& m) {
  py::class_<Executable, std::shared_ptr<Executable>>(m, "Executable", "A compiled step: arrays in, arrays out, updates done.")
      .def("__call__", &run)
      .def_property_readonly("feeds", [](const Executable& e) { return tensors(e, e.feeds()); })
      .def_property_readonly("fetches", [](const Executable& e) { return tensors(e, e.fetches()); });
  py::class_<engine::Graph, std::shared_ptr<engine::Graph>> graph = m.attr("Graph");
  graph.def("compile", &compile);
}

}  // namespace alloy::bindings
