#include "graph.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>

#include "arrays.h"
#include "engine/replay.h"
#include "files.h"
#include "gil.h"
#include "ir/rules/complex.h"
#include "ir/rules/composites.h"
#include "ir/rules/random_state.h"
#include "ir/text/text.h"
#include "ir/transform/gradients.h"
#include "ir/transform/regions.h"
#include "ir/transform/rewrite.h"
#include "user.h"

namespace py = pybind11;

namespace alloy::bindings {
namespace {

using ir::Attr;
using ir::OpCode;

std::string named(const std::string& op, const std::string& name) {
  return "[" + op + "] " + (name.empty() ? "The value" : "'" + name + "'");
}

// Names the values that an attribute of that kind accepts; `value` is not one of them. Python's integers may have more
// than 64 bits.
std::string expected_of(ir::AttrKind kind, py::handle value) {
  switch (kind) {
    case ir::AttrKind::Int: return PyLong_Check(value.ptr()) ? "an integer of 64 bits" : "an integer";
    case ir::AttrKind::Ints: return "integers of 64 bits";
    case ir::AttrKind::Float: return "a number";
    case ir::AttrKind::Bool: return "True or False";
    default: return "a word";
  }
}

// Attributes that only a device's passes or the graph may set.
constexpr Attr kOfPasses[] = {Attr::kStepsFirst, Attr::kDropout, Attr::kUnread, Attr::kPrecision};

ir::Attributes attributes_from(const py::dict& given, const std::string& typed, const std::string& location) {
  const auto fail = [&](const std::string& message) {
    throw ir::Error(ir::Error::Kind::kType, "[" + typed + "] " + message, location);
  };
  ir::Attributes attributes;
  for (auto [key, value] : given) {
    const std::string text = key.cast<std::string>();
    auto set = [&](Attr attr, ir::AttrKind kind) {
      switch (kind) {
        case ir::AttrKind::Bool: return attributes.set(attr, value.cast<bool>());
        case ir::AttrKind::Int: return attributes.set(attr, value.cast<int64_t>());
        case ir::AttrKind::Float: return attributes.set(attr, value.cast<double>());
        case ir::AttrKind::Word: return attributes.set(attr, value.cast<std::string>());
        case ir::AttrKind::Ints: {
          const auto numbers = value.cast<std::vector<int64_t>>();
          return attributes.set(attr, ir::Dims(numbers.begin(), numbers.end()));
        }
        case ir::AttrKind::Shape: return attributes.set(attr, shape_from(value, typed));
        case ir::AttrKind::DType: return attributes.set(attr, dtype_from(value, typed));
        case ir::AttrKind::Literal: break;  // refused before
      }
    };
    const auto attr = ir::attr_named(text);
    if (!attr) fail("Unknown attribute " + text);
    if (ir::kind(*attr) == ir::AttrKind::Literal || std::ranges::count(kOfPasses, *attr) > 0) {
      fail("The attribute " + text + " cannot be given here");
    }
    try {
      set(*attr, ir::kind(*attr));
    } catch (const py::cast_error&) {
      const std::string expected = expected_of(ir::kind(*attr), value);
      fail("Expected " + expected + " as the " + text + ", got " + std::string(py::repr(value)));
    }
  }
  return attributes;
}

std::vector<ir::Value> values_of(engine::Graph& graph, const std::vector<Tensor>& tensors) {
  std::vector<ir::Value> values;
  for (const Tensor& tensor : tensors) {
    if (!graph.ir().sees(tensor.value)) {
      graph.require_own(tensor.value, "operand");
      tensor.value.op->fail(
          "The tensor belongs to a function that a loop, a conditional or a custom gradient has called, and can be "
          "used only there; return it from the function");
    }
    values.push_back(tensor.value);
  }
  return values;
}

constexpr const char* kStorages[] = {"variable", "buffers"};  // by engine::VariableStorage

engine::VariableStorage storage_named(const std::string& name) {
  for (size_t i = 0; i < std::size(kStorages); ++i) {
    if (name == kStorages[i]) return static_cast<engine::VariableStorage>(i);
  }
  throw ir::Error(ir::Error::Kind::kValue, "[graph] Expected the storage 'variable' or 'buffers', got '" + name + "'.");
}

// The attribute for the name of a precision.
std::string precision_named(const std::string& name) {
  if (name == "float32") return {};
  if (ir::is_legal(Attr::kPrecision, name)) return name;
  throw ir::Error(ir::Error::Kind::kValue, "[graph] Expected the precision 'float32' or 'tf32', got '" + name + "'.");
}

using GraphRef = std::shared_ptr<engine::Graph>;

Tensor placeholder(const GraphRef& graph, const py::object& shape, const py::object& dtype, const std::string& name,
                   const std::string& location) {
  ir::Attributes attributes{{Attr::kShape, shape_from(shape, "placeholder")},
                            {Attr::kDtype, dtype_from(dtype, "placeholder")}};
  const Building building(*graph, name, location);
  return {graph, graph->ir().value(OpCode::placeholder, {}, std::move(attributes))};
}

// `op` is the op that takes the value, for messages. `number_type` is the type for a number; None if the value has its
// own.
Tensor constant(const GraphRef& graph, const std::string& op, const py::object& value, const py::object& number_type,
                const std::string& name, const std::string& location) {
  const std::string argument = named(op, name);
  ir::DType dtype;
  py::object array;
  if (number_type.is_none()) {
    array = typed_array(value, &dtype, argument);
  } else {
    dtype = dtype_from(number_type, op);
    array = packed_number(value, dtype, argument);
  }
  ir::LiteralRef contents = literal(array, dtype);
  const Building building(*graph, name, location);
  return {graph, graph->ir().value(OpCode::constant, {}, {{Attr::kValue, std::move(contents)}})};
}

Variable variable(const GraphRef& graph, const py::object& value, const std::string& name,
                  const std::string& location) {
  ir::LiteralRef initial;
  if (py::isinstance<FileValues>(value)) {
    initial = value.cast<const FileValues&>().literal();
  } else {
    ir::DType dtype;
    const py::object array = typed_array(value, &dtype, named("variable", name));
    initial = literal(array, dtype);
  }
  const Building building(*graph, name, location);
  return {{graph, graph->variable(std::move(initial))}};
}

std::vector<ir::Value> results_of(const ir::Op& op) {
  std::vector<ir::Value> values;
  for (uint32_t i = 0; i < op.results.size(); ++i) values.push_back(op.result(i));
  return values;
}

std::vector<Tensor> apply(const GraphRef& graph, const std::string& op, const std::vector<Tensor>& tensors,
                          const py::dict& attributes, const std::string& name, const std::string& location,
                          const std::string& typed) {
  const auto composite = ir::find_composite(op);
  const ir::OpInfo* const row = ir::find_op(op);
  if (row == nullptr && !composite) throw ir::Error(ir::Error::Kind::kValue, "[" + op + "] There is no such op.");
  ir::Attributes given = attributes_from(attributes, typed.empty() ? op : typed, location);
  const Building building(*graph, name, location, typed);
  const std::vector<ir::Value> operands = values_of(*graph, tensors);
  std::vector<Tensor> out;
  for (const ir::Value& result : composite
                                     ? ir::compose(graph->ir(), *composite, operands, given)
                                     : results_of(*ir::add_op(graph->ir(), row->code, operands, std::move(given)))) {
    out.push_back({graph, result});
  }
  return out;
}

std::vector<Tensor> gradients(const GraphRef& graph, const Tensor& loss, const std::vector<Tensor>& tensors,
                              const std::string& location) {
  values_of(*graph, {loss});
  const Building building(*graph, "", location);
  const std::vector<ir::Value> targets = values_of(*graph, tensors);
  std::vector<ir::Value> found = ir::gradients(graph->ir(), loss.value, targets);
  std::vector<Tensor> out;
  for (size_t i = 0; i < found.size(); ++i) {
    const ir::Expr target(graph->ir(), targets[i]);
    out.push_back({graph, found[i] ? found[i] : ir::broadcast_like(target.scalar(0), target).value()});
  }
  return out;
}

Update assign(const GraphRef& graph, const Variable& target, const Tensor& value, const std::string& location) {
  const Building building(*graph, "", location);
  values_of(*graph, {target, value});
  if (graph->ir().is_in_region()) {
    target.value.op->fail(
        "A function that a loop, a conditional or a custom gradient calls cannot assign a variable; return the "
        "value from it, and assign the result");
  }
  return {graph, graph->ir().add(OpCode::assign, {target.value, value.value})};
}

engine::Graph::VariableEntry& entry(const Variable& v) {
  return v.graph->variables()[v.value.op->attributes.integer(Attr::kSlot)];
}

std::vector<Variable> variables(const GraphRef& graph) {
  std::vector<Variable> out;
  for (const auto& variable : graph->variables()) out.push_back({{graph, variable.value}});
  return out;
}

void require_shape(const Variable& v, const py::object& array) {
  if (shape_of(array) == v.value.shape()) return;
  v.value.op->fail("The variable has shape " + to_string(v.value.shape()) + " but the value has shape " +
                   to_string(shape_of(array)));
}

py::list read_variables(const GraphRef& graph, const std::vector<Variable>& variables) {
  py::list arrays;
  std::vector<ir::Value> values;
  std::vector<void*> out;
  for (const Variable& v : variables) {
    py::object array = new_array(v.value.type());
    values.push_back(v.value);
    out.push_back(data_of(array));
    arrays.append(std::move(array));
  }
  const WithoutGil released;
  graph->read(values, out.data());
  return arrays;
}

void assign_variables(const GraphRef& graph, const std::vector<Variable>& variables,
                      const std::vector<py::object>& given) {
  if (given.size() != variables.size()) {
    throw ir::Error(ir::Error::Kind::kValue, "[assign] Expected " + std::to_string(variables.size()) +
                                                 " values, one for each variable, got " + std::to_string(given.size()) +
                                                 ".");
  }
  std::vector<py::object> arrays;
  std::vector<ir::Value> values;
  std::vector<const void*> bytes;
  for (size_t i = 0; i < variables.size(); ++i) {
    const Variable& v = variables[i];
    arrays.push_back(packed_array(given[i], v.value.dtype(), named("assign", v.value.op->name)));
    require_shape(v, arrays.back());
    values.push_back(v.value);
    bytes.push_back(data_of(arrays.back()));
  }
  const WithoutGil released;
  graph->assign(values, bytes.data());
}

py::object read_variable(const Variable& v) { return read_variables(v.graph, {v})[0]; }

void assign_variable(const Variable& v, const py::object& value) { assign_variables(v.graph, {v}, {value}); }

std::vector<ir::Feed> feeds_of(const std::string& op, const std::vector<Tensor>& tensors,
                               const std::vector<py::object>& shapes) {
  if (shapes.size() != tensors.size()) {
    throw ir::Error(ir::Error::Kind::kValue, "[" + op + "] Expected " + std::to_string(tensors.size()) +
                                                 " shapes, one for each feed, got " + std::to_string(shapes.size()) +
                                                 ".");
  }
  std::vector<ir::Feed> feeds;
  for (size_t i = 0; i < tensors.size(); ++i) {
    feeds.push_back({tensors[i].value, {tensors[i].value.dtype(), shape_from(shapes[i], op)}});
  }
  return feeds;
}

std::vector<std::string> verify(const GraphRef& graph, const std::vector<Tensor>& feeds,
                                const std::vector<py::object>& shapes, const std::vector<Tensor>& fetches,
                                const std::vector<Update>& updates) {
  return graph->verify(feeds_of("verify", feeds, shapes), values_in(fetches), ops_in(updates));
}

// The results of the op of this tensor, by the reference; None if it cannot tell. The arrays are its operands'.
py::object reference_results(const Tensor& result, const std::vector<py::array_t<double, py::array::c_style>>& given) {
  std::vector<engine::Elements> operands;
  for (const auto& array : given) {
    operands.push_back({ir::Dims(array.shape(), array.shape() + array.ndim()),
                        std::vector<double>(array.data(), array.data() + array.size())});
  }
  std::optional<std::vector<engine::Elements>> found;
  {
    const WithoutGil without_gil;
    found = engine::reference_results(*result.value.op, std::move(operands));
  }
  if (!found) return py::none();
  py::list out;
  for (const engine::Elements& made : *found) {
    py::array_t<double> array(std::vector<py::ssize_t>(made.dims.begin(), made.dims.end()));
    std::copy(made.values.begin(), made.values.end(), array.mutable_data());
    out.append(array);
  }
  return out;
}

std::vector<Inspected> inspect(const GraphRef& graph, const std::vector<Tensor>& feeds,
                               const std::vector<py::object>& shapes, const std::vector<Tensor>& fetches,
                               const std::vector<Update>& updates) {
  std::vector<Inspected> out;
  for (ir::Inspected& op : graph->inspect(feeds_of("inspect", feeds, shapes), values_in(fetches), ops_in(updates))) {
    out.push_back({graph, std::move(op)});
  }
  return out;
}

std::vector<py::object> tensors_of(const GraphRef& graph, const std::vector<ir::Value>& values) {
  std::vector<py::object> out;
  for (const ir::Value& v : values) {
    out.push_back(v.op->code == OpCode::variable ? py::cast(Variable{{graph, v}}) : py::cast(Tensor{graph, v}));
  }
  return out;
}

// An integer of 0 or more; nothing if it does not fit. Throws TypeError if it is no integer.
std::optional<int64_t> extent_from(py::handle object) {
  const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!integer) throw py::error_already_set();
  int overflow = 0;
  const int64_t extent = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  return overflow == 0 && extent >= 0 ? std::optional(extent) : std::nullopt;
}

}  // namespace

ir::Shape shape_from(py::handle object, std::string_view op) {
  if (object.is_none()) return ir::Shape::unranked();
  const std::string who = "[" + std::string(op) + "] ";
  ir::Dims dims;
  bool fits = true;
  try {
    for (py::handle extent : py::iter(object)) {
      const auto known = extent.is_none() ? std::nullopt : extent_from(extent);
      fits = fits && (known || extent.is_none());
      dims.push_back(known.value_or(ir::kUnknown));
    }
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    mistake(ir::Error::Kind::kType,
            who + "Expected a shape of integers and None, got " + std::string(py::repr(object)));
  }
  if (fits) return ir::Shape(dims);
  mistake(ir::Error::Kind::kValue,
          who + "Expected dimensions of 0 or more and below 2^63, or None, got " + std::string(py::str(object)));
}

py::object shape_to(const ir::Shape& shape) {
  if (!shape.ranked()) return py::none();
  py::tuple out(shape.rank());
  for (int64_t i = 0; i < shape.rank(); ++i) {
    out[i] = shape[i] == ir::kUnknown ? py::object(py::none()) : py::object(py::int_(shape[i]));
  }
  return out;
}

std::vector<ir::Value> values_in(const std::vector<Tensor>& tensors) {
  std::vector<ir::Value> values;
  for (const Tensor& t : tensors) values.push_back(t.value);
  return values;
}

std::vector<ir::Op*> ops_in(const std::vector<Update>& updates) {
  std::vector<ir::Op*> ops;
  for (const Update& u : updates) ops.push_back(u.op);
  return ops;
}

void forbid_new(const py::object& cls) {
  reinterpret_cast<PyTypeObject*>(cls.ptr())->tp_new = [](PyTypeObject* type, PyObject*, PyObject*) -> PyObject* {
    const std::string name = type->tp_name;
    PyErr_SetString(PyExc_TypeError,
                    ("[" + name.substr(name.rfind('.') + 1) +
                     "] Expected a graph to make it, as graph.variable(...) and graph.placeholder(...) "
                     "do, got a call of the class")
                        .c_str());
    return nullptr;
  };
}

namespace {

void bind_tensors(py::module_& m) {
  py::class_<Tensor> tensor(m, "Tensor");
  forbid_new(tensor);
  tensor
      .def_property_readonly(
          "shape", [](const Tensor& t) { return shape_to(t.value.shape()); },
          "The extents, with None for an unknown one; None if the rank is unknown.")
      .def_property_readonly("_dtype", [](const Tensor& t) { return std::string(name(t.value.dtype())); })
      .def_property_readonly(
          "name", [](const Tensor& t) { return t.value.op->name; }, "The name that the user gave, or an empty string.")
      .def_property_readonly(
          "location", [](const Tensor& t) { return t.value.op->location; }, "The file:line that built it.")
      .def_property_readonly(
          "graph", [](const Tensor& t) { return t.graph; }, "Its graph.")
      .def("__hash__", [](const Tensor& t) { return ir::ValueHash()(t.value); })
      .def("_is", [](const Tensor& t, const Tensor& other) { return other.value == t.value; });

  py::class_<Variable, Tensor> variable(m, "Variable");
  forbid_new(variable);
  variable.def("numpy", &read_variable, "Returns a copy of the value. DeviceError: the device failed.")
      .def("_assign", &assign_variable)
      .def_property(
          "trainable", [](const Variable& v) { return entry(v).trainable; },
          [](const Variable& v, bool trainable) { entry(v).trainable = trainable; },
          "True if optimizers update it by default.")
      .def("weak", [](const Variable& v) { return WeakVariable{v.graph, v.value}; });

  py::class_<WeakVariable> weak(m, "WeakVariable");
  forbid_new(weak);
  weak.def(
      "__call__",
      [](const WeakVariable& w) -> std::optional<Variable> {
        auto graph = w.graph.lock();
        return graph ? std::optional(Variable{{std::move(graph), w.value}}) : std::nullopt;
      },
      "Returns the variable, or None if its graph is gone.");
}

void bind_ops(py::module_& m) {
  py::class_<Update> update(m, "Update");
  forbid_new(update);
  update
      .def_property_readonly(
          "variable", [](const Update& u) { return Variable{{u.graph, u.op->operands[0]}}; },
          "The variable that is assigned.")
      .def_property_readonly(
          "value", [](const Update& u) { return Tensor{u.graph, u.op->operands[1]}; }, "The new value.");

  py::class_<Inspected> op(m, "Op");
  forbid_new(op);
  op.def_property_readonly(
        "kind", [](const Inspected& i) { return i.op.op->info().name; }, "Its name in al.op_table().")
      .def_property_readonly(
          "name", [](const Inspected& i) { return i.op.op->name; }, "The names of the layers around it, then its own.")
      .def_property_readonly(
          "location", [](const Inspected& i) { return i.op.op->location; }, "The file:line that built it.")
      .def_property_readonly(
          "stage", [](const Inspected& i) { return i.op.stage; },
          "The first stage after those that compute its operands.")
      .def_property_readonly(
          "operands", [](const Inspected& i) { return tensors_of(i.graph, i.op.op->operands); },
          "The tensors it reads.")
      .def_property_readonly(
          "results", [](const Inspected& i) { return tensors_of(i.graph, results_of(*i.op.op)); },
          "The tensors it makes.")
      .def_property_readonly(
          "shapes",
          [](const Inspected& i) {
            std::vector<py::object> shapes;
            for (const ir::Type& type : i.op.results) shapes.push_back(shape_to(type.shape));
            return shapes;
          },
          "The shapes of the results, as far as the feeds' shapes determine them.")
      .def_property_readonly(
          "flops", [](const Inspected& i) { return i.op.cost ? std::optional(i.op.cost->flops) : std::nullopt; },
          "Floating-point operations; a multiplication and an addition count as two. None if a shape is not "
          "known.")
      .def_property_readonly(
          "bytes",
          [](const Inspected& i) {
            return i.op.cost ? std::optional(i.op.cost->bytes_read + i.op.cost->bytes_written) : std::nullopt;
          },
          "The least bytes that it reads and writes; None if a shape is not known.");
}

}  // namespace

WithRegions::WithRegions(GraphRef graph, const std::string& op, const std::string& typed,
                         const std::vector<Tensor>& operands)
    : graph_(std::move(graph)), typed_(typed), operands_(values_of(*graph_, operands)) {
  const ir::OpInfo* const row = ir::find_op(op);
  const bool has_regions =
      row != nullptr && row->facts.regions.count > 0 && row->facts.regions.run != ir::RegionRun::kOnce;
  if (!has_regions || operands.size() < row->facts.regions.own_operands) {
    throw ir::Error(ir::Error::Kind::kValue, "[" + op + "] Expected a conditional or a loop with its operands.");
  }
  code_ = row->code;
  if (row->facts.regions.run == ir::RegionRun::kBackwards) {
    attributes_.set(Attr::kCount, static_cast<int64_t>(operands_.size()));
  }
}

WithRegions::~WithRegions() {
  if (is_open_) graph_->ir().abandon_region();
  for (auto& region : regions_) graph_->ir().abandon(std::move(region));
}

void WithRegions::require(bool holds) const {
  if (holds) return;
  throw ir::Error(ir::Error::Kind::kValue,
                  "[" + std::string(ir::info(code_).name) + "] Expected regions to be opened and closed in turn.");
}

std::vector<Tensor> WithRegions::open() {
  require(!is_open_ && regions_.size() < ir::info(code_).facts.regions.count);
  const Building building(*graph_, "", "");
  std::vector<Tensor> arguments;
  for (const ir::Value& v : graph_->ir().open_region(ir::argument_types(code_, operands_, regions_, attributes_))) {
    arguments.push_back({graph_, v});
  }
  is_open_ = true;
  return arguments;
}

void WithRegions::close(const std::vector<Tensor>& results) {
  require(is_open_);
  const Building building(*graph_, "", "");
  std::vector<ir::Value> values = values_of(*graph_, results);
  is_open_ = false;
  regions_.push_back(graph_->ir().close_region(std::move(values)));
}

void WithRegions::abandon() {
  require(is_open_);
  is_open_ = false;
  const Building building(*graph_, "", "");
  graph_->ir().abandon_region();
}

std::vector<Tensor> WithRegions::add(const std::string& name, const std::string& location,
                                     const std::vector<Tensor>& more) {
  require(!is_open_);
  const Building building(*graph_, name, location, typed_);
  const std::vector<ir::Value> further = values_of(*graph_, more);
  operands_.insert(operands_.end(), further.begin(), further.end());
  const ir::Op* made = graph_->ir().add(code_, operands_, attributes_, std::move(regions_));
  regions_.clear();
  std::vector<Tensor> out;
  for (const ir::Value& v : results_of(*made)) out.push_back({graph_, v});
  return out;
}

void bind_graph(py::module_& m) {
  bind_tensors(m);
  bind_ops(m);
  py::class_<WithRegions> with_regions(m, "WithRegions", "A conditional or a loop that is being built.");
  forbid_new(with_regions);
  with_regions.def("open", &WithRegions::open)
      .def("close", &WithRegions::close)
      .def("abandon", &WithRegions::abandon)
      .def("add", &WithRegions::add, py::arg("name"), py::arg("location"), py::arg("more") = std::vector<Tensor>());
  py::class_<engine::Graph, GraphRef>(m, "Graph", py::dynamic_attr())
      .def(py::init([](const std::string& storage, const std::string& device, const std::string& precision) {
             return std::make_shared<engine::Graph>(storage_named(storage), device, precision_named(precision));
           }),
           py::kw_only(), py::arg("storage") = "variable", py::arg("device") = "", py::arg("precision") = "float32")
      .def_property_readonly(
          "storage", [](const GraphRef& graph) { return kStorages[static_cast<size_t>(graph->storage())]; },
          "The place of variables between runs: \"variable\" or \"buffers\".")
      .def_property_readonly(
          "precision",
          [](const GraphRef& graph) {
            const std::string& precision = graph->ir().precision;
            return precision.empty() ? "float32" : precision;
          },
          "The precision of products: \"float32\" or \"tf32\".")
      .def_property_readonly("_device", [](const GraphRef& graph) { return graph->device_name(); })
      .def_property_readonly("_is_on_host", [](const GraphRef& graph) { return graph->is_on_host(); })
      .def_property(
          "most_in_flight", [](const GraphRef& graph) { return graph->most_in_flight(); },
          [](const GraphRef& graph, size_t count) { graph->set_most_in_flight(count); })
      // Python's methods without the underscore check the arguments, and add the position in the user's source.
      .def("_placeholder", &placeholder)
      .def("_constant", &constant)
      .def("_variable", &variable)
      .def("apply", &apply, py::arg("op"), py::arg("operands"), py::arg("attributes"), py::arg("name"),
           py::arg("location"), py::arg("typed") = "")
      .def(
          "_with_regions",
          [](const GraphRef& graph, const std::string& op, const std::string& typed,
             const std::vector<Tensor>& operands) { return std::make_unique<WithRegions>(graph, op, typed, operands); })
      .def("gradients", &gradients)
      .def("_overlooked",
           [](const GraphRef& graph, const std::vector<Tensor>& results,
              const std::vector<Tensor>& operands) -> std::optional<Tensor> {
             const ir::Value found = ir::overlooked(values_of(*graph, results), values_of(*graph, operands));
             return found ? std::optional(Tensor{graph, found}) : std::nullopt;
           })
      .def("_assign", &assign)
      .def("_read_variables", &read_variables)
      .def("_assign_variables", &assign_variables)
      .def("_verify", &verify)
      .def("_inspect", &inspect)
      .def_property_readonly("variables", &variables, "All variables, in order of creation.")
      .def("__str__", [](const GraphRef& graph) { return ir::print(graph->ir()); });
  m.def("reference_results", &reference_results, py::arg("result"), py::arg("operands"));
  m.def("random_state", [](uint64_t seed) {
    const ir::RandomState state = ir::random_state(seed);
    return std::vector<int32_t>(state.begin(), state.end());
  });
}

}  // namespace alloy::bindings
