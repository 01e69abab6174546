// alloy._core: the module, its exceptions, its counters, and the op table from which Python's functions are made.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "arrays.h"
#include "engine/device_info.h"
#include "engine/error.h"
#include "engine/interruption.h"
#include "engine/stats.h"
#include "files.h"
#include "gil.h"
#include "graph.h"
#include "ir/names.h"
#include "ir/rules/composites.h"
#include "submission.h"
#include "user.h"

namespace py = pybind11;

namespace alloy::bindings {
namespace {

py::dict row_of(const ir::Signature& row, std::string_view family) {
  py::list attributes;
  for (const ir::Attr attr : ir::attributes_of(row)) {
    attributes.append(py::make_tuple(name(attr), ir::kind_name(attr), ir::words(attr)));
  }
  py::dict out;
  out["name"] = row.name;
  out["family"] = family;
  out["operands"] = py::make_tuple(row.fewest_operands, row.most_operands);
  out["attributes"] = attributes;
  out["types"] = ir::name(row.types);
  out["domain"] = ir::name(row.domain);
  out["doc"] = row.doc;
  return out;
}

py::list op_table() {
  py::list rows;
  for (const ir::OpInfo& row : ir::op_table()) rows.append(row_of(row, ir::name(row.family)));
  for (const ir::Signature& row : ir::composite_table()) rows.append(row_of(row, "composite"));
  return rows;
}

py::dict counts(const engine::Stats& stats) {
  py::dict out;
  out["dispatches"] = stats.dispatches;
  out["compilations"] = stats.compilations;
  out["bytes_to_device"] = stats.bytes_to_device;
  out["bytes_from_device"] = stats.bytes_from_device;
  return out;
}

constexpr const char* kStatsDoc =
    "Returns counts of the engine since the process started. compiled_for counts the reasons to compile: the first "
    "shapes "
    "of an executable, new shapes, shapes "
    "compiled before but dropped since (evicted: it keeps the last 32), or a framework graph that had "
    "grown too large and was "
    "replaced. live_steps: compiled steps now; live_objects: graphs and executables now.";

void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const ir::Error& error) {
    PyErr_SetString(error.kind == ir::Error::Kind::kType ? PyExc_TypeError : PyExc_ValueError,
                    error.with(in_layer()).what());
  } catch (const engine::OutOfMemory& error) {
    const std::string limit = std::to_string(engine::memory_limit());
    const bool is_limited = engine::memory_limit() != UINT64_MAX;
    const std::string why = is_limited ? " (al.set_memory_limit allows " + limit + " bytes)" : "";
    PyErr_SetString(PyExc_MemoryError, (error.what() + why).c_str());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "Memory is exhausted.");
  } catch (const py::cast_error&) {
    PyErr_SetString(PyExc_TypeError, "[core] An argument has another type than the method takes.");
  }
}

// Counters, devices and the number of threads.
void bind_device(py::module_& m) {
  m.def(
      "stats",
      [] {
        const engine::Stats stats = engine::stats();
        py::dict out = counts(stats), reasons;
        for (size_t i = 0; i < std::size(engine::kReasons); ++i) reasons[engine::kReasons[i]] = stats.compiled_for[i];
        out["compiled_for"] = reasons;
        out["live_steps"] = stats.live_steps;
        out["live_objects"] = stats.live_objects;
        return out;
      },
      kStatsDoc);
  m.def(
      "device_stats",
      []() -> py::object {
        const auto stats = engine::device_stats();
        if (!stats) return py::none();
        py::dict out = counts(*stats);
        out["launches"] = stats->launches;
        out["allocated_bytes"] = stats->allocated_bytes;
        return out;
      },
      "Returns the device's counts and the bytes that it has allocated, or None if it has no counts.");
  m.def(
      "devices",
      [] {
        py::list out;
        for (const engine::DeviceInfo& info : engine::devices()) {
          out.append(py::dict(py::arg("kind") = info.kind, py::arg("number") = info.number, py::arg("name") = info.name,
                              py::arg("memory") = info.memory, py::arg("unified_memory") = info.unified_memory,
                              py::arg("system") = info.system));
        }
        return out;
      },
      "Describes each device in a dict; the first one is the default.");
  m.def("set_threads", &engine::set_threads);
  m.def("threads", &engine::threads);
  m.def("set_memory_limit", &engine::set_memory_limit);
}

// Reads arguments for Python's own functions.
void bind_arguments(py::module_& m) {
  m.def(
      "as_shape", [](const py::object& shape, const std::string& op) { return shape_to(shape_from(shape, op)); },
      py::arg("shape"), py::arg("op"), "Returns a shape as a tuple, or None for an unknown rank.");
  m.def(
      "as_dtype", [](const py::object& dtype, const std::string& op) { return name(dtype_from(dtype, op)); },
      py::arg("dtype"), py::arg("op"),
      "Returns the name of an element type; takes a name, a NumPy dtype, or a type of NumPy or Python.");
  m.def(
      "as_array",
      [](const py::object& value, const std::string& op) {
        ir::DType dtype;
        return typed_array(value, &dtype, "[" + op + "] The value");
      },
      py::arg("value"), py::arg("op"), "Returns the value as an array of a tensor type, as Graph.constant does.");
}

}  // namespace

PYBIND11_MODULE(_core, m) {
  import_numpy();
  m.doc() = "The engine of Alloy: graphs, variables and compiled steps.";
  py::register_exception<engine::DeviceError>(m, "DeviceError", PyExc_RuntimeError).doc() =
      "The device failed, or there is none.";
  py::register_exception<engine::WouldAbort>(m, "WouldAbort", PyExc_SystemError);
  py::register_exception_translator(&translate);
  // The beginnings of the names of ops that compute gradients, or that belong to an optimizer.
  m.attr("GRADIENTS") = ir::kGradients;
  m.attr("OPTIMIZER") = ir::kOptimizer;
  m.def("op_table", &op_table, "Every op, a dict each.");
  bind_device(m);
  bind_arguments(m);
  bind_files(m);
  bind_graph(m);
  bind_queues(m);
  bind_submission(m);
  bind_executable(m);
  bind_package(m);
  remember_main_thread();
  engine::set_interruption(&check_signals);
  bind_gradients(m);
  bind_op_library(m);
  bind_distributed(m);
}

}  // namespace alloy::bindings
