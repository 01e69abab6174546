#include "engine/op_library.h"

#include <pybind11/stl.h>

#include "graph.h"

namespace py = pybind11;

namespace alloy::bindings {

// Returns the name of a library and, for each of its functions, the full name, the number of operands and the text.
void bind_op_library(py::module_& m) {
  m.def("load_op_library", [](const std::string& path) {
    const engine::OpLibrary& library = engine::load_op_library(path);
    py::list functions;
    for (const auto& function : library.functions) {
      functions.append(py::make_tuple(function->name, function->operands, function->text()));
    }
    return py::make_tuple(library.name, library.path, functions);
  });
}

}  // namespace alloy::bindings
