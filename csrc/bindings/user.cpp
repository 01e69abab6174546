#include "user.h"

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace alloy::bindings {
namespace {

py::module_ location() { return py::module_::import("alloy.messages.location"); }

}  // namespace

std::string in_layer() { return location().attr("in_layer")().cast<std::string>(); }

void mistake(ir::Error::Kind kind, const std::string& message) {
  const auto line = location().attr("user_location")().cast<std::string>();
  throw ir::Error(kind, message + in_layer() + "; at " + line + ".");
}

void warn_user(const std::string& message) { location().attr("warn_user")(message); }

}  // namespace alloy::bindings
