// Queues and events as Python classes.
#include <pybind11/stl.h>

#include "engine/queue.h"
#include "gil.h"
#include "graph.h"

namespace py = pybind11;

namespace alloy::bindings {
namespace {

std::shared_ptr<engine::Event> new_event() { return std::make_shared<engine::Event>(); }

std::shared_ptr<engine::Queue> new_queue(const std::string& device) { return std::make_shared<engine::Queue>(device); }

bool wait(const engine::Event& event, uint64_t value, std::optional<double> timeout) {
  const WithoutGil released;
  return event.wait(value, timeout);
}

}  // namespace

void bind_queues(py::module_& m) {
  py::class_<engine::Event, std::shared_ptr<engine::Event>>(m, "Event")
      .def(py::init(&new_event))
      .def_property_readonly("value", &engine::Event::value, "The value it has reached.")
      .def("_signal",
           [](engine::Event& event, uint64_t value) {
             const WithoutGil released;
             event.signal(value);
           })
      .def("_wait", &wait);
  py::class_<engine::Queue, std::shared_ptr<engine::Queue>>(m, "Queue")
      .def(py::init(&new_queue), py::arg("device"))
      .def_property_readonly("device", &engine::Queue::device_name, "The name of its device.");
}

}  // namespace alloy::bindings
