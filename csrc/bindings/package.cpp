#include "engine/package/package.h"

#include <pybind11/stl.h>

#include "arrays.h"
#include "engine/error.h"
#include "gil.h"
#include "graph.h"
#include "user.h"

namespace py = pybind11;

namespace alloy::bindings {
namespace {

using engine::Package;

// A list of (name, shape, dtype).
py::list ports(const std::vector<Package::Port>& given) {
  py::list out;
  for (const Package::Port& port : given) {
    out.append(py::make_tuple(port.name, shape_to(port.type.shape), std::string(name(port.type.dtype))));
  }
  return out;
}

// Throws ir::Error if an array of that shape cannot be fed.
void require_fits(const Package::Port& port, const ir::Shape& shape) {
  if (shape.element_count() == 0) {
    mistake(ir::Error::Kind::kValue, "[executable] '" + port.name + "' was fed shape " + to_string(shape) +
                                         ", which has no elements; at least one was expected");
  }
  if (unify(port.type.shape, shape)) return;
  mistake(ir::Error::Kind::kValue, "[executable] '" + port.name + "' has shape " + to_string(port.type.shape) +
                                       " but was fed shape " + to_string(shape));
}

// The types of the results for these shapes, which the user of the package chose.
std::vector<ir::Type> result_types(const std::shared_ptr<Package>& package, const std::vector<ir::Shape>& shapes) {
  const WithoutGil released;
  try {
    return package->result_types(shapes);
  } catch (const engine::DeviceError& error) {
    throw ir::Error(ir::Error::Kind::kValue, error.what());
  }
}

py::list run_package(const std::shared_ptr<Package>& package, const std::vector<py::object>& arrays) {
  if (arrays.size() != package->feeds().size()) {
    throw ir::Error(ir::Error::Kind::kValue, "[executable] Expected " + std::to_string(package->feeds().size()) +
                                                 " feeds, got " + std::to_string(arrays.size()) + ".");
  }
  std::vector<py::object> packed;
  std::vector<engine::FeedBytes> feeds;
  std::vector<ir::Shape> shapes;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const Package::Port& port = package->feeds()[i];
    packed.push_back(packed_array(arrays[i], port.type.dtype, "[executable] '" + port.name + "'"));
    shapes.push_back(shape_of(packed.back()));
    require_fits(port, shapes.back());
    feeds.push_back(feed_bytes(packed.back()));
  }
  py::list results;
  std::vector<void*> memory;
  for (const ir::Type& type : result_types(package, shapes)) {
    py::object array = new_array(type);
    memory.push_back(data_of(array));
    results.append(std::move(array));
  }
  const WithoutGil released;
  package->run(shapes, feeds.data(), memory.data());
  return results;
}

}  // namespace

void bind_package(py::module_& m) {
  py::class_<Package, std::shared_ptr<Package>>(m, "Package", "A step that was loaded from a file.")
      .def(py::init([](const std::string& path, const std::string& device) {
             const WithoutGil released;
             return std::make_shared<Package>(path, device);
           }),
           py::arg("path"), py::arg("device"))
      .def_property_readonly("feeds", [](const Package& p) { return ports(p.feeds()); })
      .def_property_readonly("fetches", [](const Package& p) { return ports(p.fetches()); })
      .def("run", &run_package, py::arg("arrays"), "Returns the fetches; takes an array for each feed.")
      .def(
          "write",
          [](Package& p, const std::string& path) {
            const WithoutGil released;
            p.write(path);
          },
          py::arg("path"));
}

}  // namespace alloy::bindings
