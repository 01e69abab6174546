#include "submission.h"

#include <condition_variable>
#include <deque>
#include <mutex>

#include "arrays.h"
#include "gil.h"
#include "graph.h"

namespace py = pybind11;

namespace alloy::bindings {
namespace {

// The numbers of awaited submissions that are over. The framework's threads, which must not ask for Python's lock, add
// them; a Python thread takes them out. Never destroyed: that thread may wait here when the process ends.
struct Over {
  std::mutex mutex;
  std::condition_variable added;
  std::deque<uint64_t> numbers;

  static Over& all() {
    static Over& over = *new Over;
    return over;
  }
  void add(uint64_t number) {
    std::lock_guard lock(mutex);
    numbers.push_back(number);
    added.notify_one();
  }
  uint64_t take() {
    std::unique_lock lock(mutex);
    added.wait(lock, [&] { return !numbers.empty(); });
    const uint64_t number = numbers.front();
    numbers.pop_front();
    return number;
  }
};

engine::Pending pending(const Submitted& from, int64_t index) {
  const auto count = static_cast<int64_t>(from.submission->result_types().size());
  if (index < -count || index >= count) {
    throw py::index_error("[pending] Expected the index of one of " + std::to_string(count) + " fetches, got " +
                          std::to_string(index) + ".");
  }
  return {from.submission, static_cast<size_t>(index < 0 ? index + count : index)};
}

}  // namespace

Results::Results(const std::vector<ir::Type>& types) {
  memory.reserve(types.size());
  for (const ir::Type& type : types) {
    py::object array = new_array(type);
    memory.push_back(data_of(array));
    arrays.append(std::move(array));
  }
}

py::object Submitted::read() {
  if (arrays) return arrays;
  const Results results(submission->result_types());
  {
    const WithoutGil released;
    submission->read(results.memory.data());
  }
  if (!arrays) arrays = results.arrays;
  return arrays;
}

void bind_submission(py::module_& m) {
  py::class_<Submitted> submission(m, "Submission");
  forbid_new(submission);
  submission
      .def_property_readonly(
          "done", [](const Submitted& s) { return s.submission->is_over(); }, "True if reading would not wait.")
      .def(
          "wait",
          [](const Submitted& s) {
            const WithoutGil released;
            s.submission->wait();
          },
          "Waits until the step is over, even if it failed.")
      .def("_pending", &pending)
      .def("_read", &Submitted::read)
      .def("_tell",
           [](const Submitted& s, uint64_t number) { s.submission->when_over([number] { Over::all().add(number); }); })
      .def("__len__", [](const Submitted& s) { return s.submission->result_types().size(); })
      .def("__getitem__", [](Submitted& s, const py::object& index) { return s.read().attr("__getitem__")(index); })
      .def("__iter__", [](Submitted& s) { return py::iter(s.read()); });
  py::class_<engine::Pending> pending_class(m, "Pending");
  forbid_new(pending_class);
  pending_class
      .def_property_readonly(
          "shape", [](const engine::Pending& p) { return shape_to(p.type().shape); }, "The extents of its axes.")
      .def_property_readonly("_dtype", [](const engine::Pending& p) { return std::string(name(p.type().dtype)); });
  m.def(
      "_next_over",
      [] {
        const WithoutGil released;
        return Over::all().take();
      },
      "Waits for the end of an awaited submission and returns its number (Submission._tell).");
}

}  // namespace alloy::bindings
