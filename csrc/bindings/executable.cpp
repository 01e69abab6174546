#include <pybind11/stl.h>

#include <functional>

#include "arrays.h"
#include "gil.h"
#include "graph.h"
#include "submission.h"
#include "user.h"

namespace py = pybind11;

namespace alloy::bindings {
namespace {

using Executable = engine::Executable;

constexpr const char* kBindDoc =
    "Keeps copies of arrays for placeholders, which are named by tensor or label, so that calls may omit them; None "
    "removes a copy.\n\n"
    "Arguments of a call take precedence. ValueError or TypeError, and nothing is bound: an unknown or ambiguous "
    "label, "
    "a different shape or dtype.";

// For example "'x' of model.py:3".
std::string described(const ir::Value& placeholder) {
  const ir::Op& op = *placeholder.op;
  return (op.name.empty() ? to_string(placeholder.type()) : "'" + op.name + "'") +
         (op.location.empty() ? "" : " of " + op.location);
}

std::string described(const std::vector<ir::Value>& placeholders) {
  std::string text;
  for (const ir::Value& v : placeholders) text += (text.empty() ? "" : ", ") + described(v);
  return text.empty() ? "none" : text;
}

// For example "[placeholder] 'x', built at model.py:3,".
std::string fed_to(const ir::Value& feed) {
  const ir::Op& op = *feed.op;
  return "[placeholder] " + (op.name.empty() ? "The placeholder" : "'" + op.name + "'") +
         (op.location.empty() ? "" : ", built at " + op.location + ",");
}

// The position of the only placeholder of that name.
size_t labelled(const std::vector<ir::Value>& placeholders, const std::string& name, const char* who) {
  std::vector<ir::Value> found;
  size_t at = 0;
  for (size_t i = 0; i < placeholders.size(); ++i) {
    if (placeholders[i].op->name != name) continue;
    found.push_back(placeholders[i]);
    at = i;
  }
  if (found.size() == 1 && !name.empty()) return at;
  throw ir::Error(ir::Error::Kind::kValue,
                  "[" + std::string(who) + "] Expected the name of one placeholder among " + described(placeholders) +
                      ", got '" + name + "'" +
                      (found.size() > 1 ? ", the name of " + std::to_string(found.size()) : "") + ".");
}

[[noreturn]] void wrong_feeds(const std::vector<ir::Value>& feeds, const std::string& given) {
  throw ir::Error(ir::Error::Kind::kValue, "[executable] Expected " + std::to_string(feeds.size()) + " feeds (" +
                                               described(feeds) + "), got " + given + ".");
}

// The step for these shapes; compiles it if necessary.
std::shared_ptr<engine::Compiled> step_for(const std::shared_ptr<Executable>& executable,
                                           const std::vector<ir::Shape>& shapes) {
  if (auto step = executable->find(shapes)) return step;
  const auto compiled = std::make_shared<std::shared_ptr<engine::Compiled>>();
  interruptibly([=] { *compiled = executable->specialize(shapes); });
  return *compiled;
}

// The arguments of a call, and the arrays for its results.
struct Call {
  std::vector<py::object> arrays;
  std::vector<engine::FeedBytes> feeds;
  std::shared_ptr<engine::Compiled> step;

  Call(const std::shared_ptr<Executable>& executable, const py::args& positional, const py::kwargs& by_label) {
    const std::vector<ir::Value>& declared = executable->feeds();
    if (positional.size() > declared.size()) wrong_feeds(declared, std::to_string(positional.size()));
    arrays.resize(declared.size());
    for (size_t i = 0; i < positional.size(); ++i) arrays[i] = positional[i];
    for (auto [label, array] : by_label) {
      const size_t i = labelled(declared, label.cast<std::string>(), "executable");
      if (arrays[i]) wrong_feeds(declared, described(declared[i]) + " twice");
      arrays[i] = py::reinterpret_borrow<py::object>(array);
    }
    std::vector<ir::Shape> shapes;
    shapes.reserve(declared.size());
    feeds.reserve(declared.size());
    for (size_t i = 0; i < declared.size(); ++i) {
      if (arrays[i]) {
        const ir::DType dtype = declared[i].dtype();
        if (!is_packed(arrays[i], dtype)) {
          if (py::isinstance<engine::Pending>(arrays[i])) {
            shapes.push_back(enter(arrays[i].cast<const engine::Pending&>(), declared[i]));
            continue;
          }
          arrays[i] = packed_array(arrays[i], dtype, fed_to(declared[i]));
        }
        feeds.push_back(feed_bytes(arrays[i]));
        shapes.push_back(shape_of(arrays[i]));
      } else if (auto contents = executable->graph()->bound(declared[i])) {
        shapes.push_back(contents->type().shape);
        feeds.push_back({contents->bytes().data(), std::move(contents)});
      } else {
        wrong_feeds(declared,
                    std::to_string(positional.size() + by_label.size()) + " without " + described(declared[i]));
      }
    }
    step = step_for(executable, shapes);
  }

 private:
  // Takes a result that is still on the device, and returns its shape.
  ir::Shape enter(const engine::Pending& pending, const ir::Value& placeholder) {
    if (pending.type().dtype != placeholder.dtype()) {
      mistake(ir::Error::Kind::kType, fed_to(placeholder) + " is " + std::string(name(placeholder.dtype())) +
                                          " but was given a result of " + std::string(name(pending.type().dtype)));
    }
    feeds.push_back({nullptr, nullptr, &pending});
    return pending.type().shape;
  }
};

py::list run(const std::shared_ptr<Executable>& executable, const py::args& positional, const py::kwargs& by_label) {
  const Call call(executable, positional, by_label);
  const Results results(call.step->result_types());
  {
    const WithoutGil released;
    executable->run(call.step, call.feeds.data(), results.memory.data());
  }
  return results.arrays;
}

using Moments = std::vector<std::pair<std::shared_ptr<engine::Event>, uint64_t>>;
using OrderArguments = std::tuple<std::shared_ptr<engine::Queue>, Moments, Moments, bool>;

// `staged`: the submission owns the arrays until it is over, so they need no copy. `given`: the fields of an
// engine::Order.
Submitted submit(const std::shared_ptr<Executable>& executable, bool staged, const std::optional<OrderArguments>& given,
                 const py::args& positional, const py::kwargs& by_label) {
  Call call(executable, positional, by_label);
  engine::Order order;
  if (given) {
    const auto& [queue, waits, signals, takes_turns] = *given;
    order = {queue, waits, signals, takes_turns};
  }
  for (size_t i = 0; i < call.arrays.size(); ++i) {
    if (call.arrays[i] && !staged) call.feeds[i].owner = nullptr;
  }
  const WithoutGil released;
  return {executable->submit(call.step, call.feeds.data(), order), {}};
}

py::object profile(const std::shared_ptr<Executable>& executable, int runs, const py::args& positional,
                   const py::kwargs& by_label) {
  const Call call(executable, positional, by_label);
  const Results results(call.step->result_types());
  std::optional<std::vector<engine::KernelTime>> kernels;
  {
    const WithoutGil released;
    kernels = executable->profile(call.step, call.feeds.data(), results.memory.data(), runs, check_signals);
  }
  if (!kernels) return py::none();
  py::list out;
  for (const engine::KernelTime& k : *kernels) {
    out.append(py::make_tuple(k.name, k.kind, shape_to(k.shape), k.dtype, k.flops, k.bytes, k.total, k.begin, k.end));
  }
  return out;
}

void bind(const std::shared_ptr<engine::Graph>& graph, const py::object& given) {
  const auto wrong_type = [](const char* expected, py::handle object) {
    throw ir::Error(ir::Error::Kind::kType,
                    "[bind] Expected " + std::string(expected) + ", got " + Py_TYPE(object.ptr())->tp_name + ".");
  };
  if (!py::isinstance<py::dict>(given)) wrong_type("a dictionary of arrays by placeholder or name", given);
  std::vector<ir::Value> placeholders;
  for (const auto& op : graph->ir().body().ops) {
    if (op->code == ir::OpCode::placeholder) placeholders.push_back({op.get(), 0});
  }
  std::vector<engine::Graph::Binding> bindings;
  for (auto [key, object] : given.cast<py::dict>()) {
    if (!py::isinstance<py::str>(key) && !py::isinstance<Tensor>(key)) wrong_type("a placeholder or its name", key);
    const ir::Value placeholder = py::isinstance<Tensor>(key)
                                      ? key.cast<const Tensor&>().value
                                      : placeholders[labelled(placeholders, key.cast<std::string>(), "bind")];
    const ir::DType dtype = placeholder.dtype();
    bindings.push_back(
        {placeholder, object.is_none() ? nullptr : literal(packed_array(object, dtype, fed_to(placeholder)), dtype)});
  }
  graph->bind(bindings);
}

py::object memory_plan(const std::shared_ptr<Executable>& executable, const std::vector<py::object>& shapes) {
  if (shapes.size() != executable->feeds().size()) {
    wrong_feeds(executable->feeds(), std::to_string(shapes.size()) + " shapes");
  }
  std::vector<ir::Shape> given;
  for (const py::object& shape : shapes) given.push_back(shape_from(shape, "memory_plan"));
  const auto plan = step_for(executable, given)->memory_plan();
  if (!plan) return py::none();
  py::dict out;
  out["variables"] = plan->variables;
  out["feeds"] = plan->feeds;
  out["results"] = plan->results;
  out["constants"] = plan->constants;
  out["arena"] = plan->arena;
  out["scratch"] = plan->scratch;
  out["layouts"] = plan->layouts;
  py::list at_peak;
  for (const auto& value : plan->at_peak) {
    at_peak.append(py::make_tuple(value.name, value.kind, shape_to(value.shape), value.bytes));
  }
  out["at_peak"] = at_peak;
  return out;
}

// `shapes`: the shapes of the feeds, in which None is an open dimension; if empty, the placeholders' shapes.
void write(const std::shared_ptr<Executable>& executable, const std::string& path,
           const std::vector<py::object>& shapes) {
  if (!shapes.empty() && shapes.size() != executable->feeds().size()) {
    wrong_feeds(executable->feeds(), std::to_string(shapes.size()) + " shapes");
  }
  std::vector<ir::Shape> given;
  for (const py::object& shape : shapes) given.push_back(shape_from(shape, "export"));
  interruptibly([=] { executable->write(path, given); });
}

std::vector<Tensor> tensors(const Executable& executable, const std::vector<ir::Value>& values) {
  std::vector<Tensor> out;
  for (const ir::Value& v : values) out.push_back({executable.graph(), v});
  return out;
}

std::vector<Update> updates(const Executable& executable) {
  std::vector<Update> out;
  for (ir::Op* op : executable.updates()) out.push_back({executable.graph(), op});
  return out;
}

std::shared_ptr<Executable> compile(const std::shared_ptr<engine::Graph>& graph, const std::vector<Tensor>& feeds,
                                    const std::vector<Tensor>& fetches, const std::vector<Update>& updates,
                                    std::optional<int64_t> steps) {
  return graph->compile(values_in(feeds), values_in(fetches), ops_in(updates), steps);
}

}  // namespace

void bind_executable(py::module_& m) {
  py::class_<Executable, std::shared_ptr<Executable>> executable(m, "Executable");
  forbid_new(executable);
  executable.def("_call", &run)
      .def("_submit", &submit)
      .def("_memory_plan", &memory_plan)
      .def("_profile", &profile)
      .def("_write", &write)
      .def_property_readonly(
          "graph", [](const Executable& e) { return e.graph(); }, "The graph it was compiled from.")
      .def_property_readonly(
          "feeds", [](const Executable& e) { return tensors(e, e.feeds()); },
          "The placeholders that a call takes arrays for, in order.")
      .def_property_readonly(
          "fetches", [](const Executable& e) { return tensors(e, e.fetches()); },
          "The tensors whose values a call returns, in order.")
      .def_property_readonly("updates", &updates, "The assignments to variables that each run makes.");
  py::class_<engine::Graph, std::shared_ptr<engine::Graph>> graph = m.attr("Graph");
  graph.def("_compile", &compile);
  graph.def("bind", &bind, py::arg("arrays"), kBindDoc);
}

}  // namespace alloy::bindings
