// The Python classes of graphs, tensors and executables. This layer is thin: arguments in, arrays out, the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include "engine/graph.h"

namespace alloy::bindings {

// A value and its graph, which it keeps alive.
struct Tensor {
  std::shared_ptr<engine::Graph> graph;
  ir::Value value;
};
struct Variable : Tensor {};
// A variable of a graph that it does not keep alive.
struct WeakVariable {
  std::weak_ptr<engine::Graph> graph;
  ir::Value value;
};
struct Update {
  std::shared_ptr<engine::Graph> graph;
  ir::Op* op;
};
// An op with regions that is being built, region by region.
class WithRegions {
 public:
  // `typed`: the function that the user called.
  WithRegions(std::shared_ptr<engine::Graph> graph, const std::string& op, const std::string& typed,
              const std::vector<Tensor>& operands);
  ~WithRegions();
  WithRegions(const WithRegions&) = delete;
  WithRegions& operator=(const WithRegions&) = delete;

  // open() and close() must be called in turn, otherwise they throw ir::Error. Until the region is closed or abandoned,
  // new ops go into it. open() returns the region's arguments.
  std::vector<Tensor> open();
  void close(const std::vector<Tensor>& results);
  void abandon();
  // Adds the op, with `more` operands after those given before. Afterwards this object cannot be used.
  std::vector<Tensor> add(const std::string& name, const std::string& location, const std::vector<Tensor>& more);

 private:
  void require(bool holds) const;

  std::shared_ptr<engine::Graph> graph_;
  std::string typed_;
  ir::OpCode code_ = {};
  bool is_open_ = false;
  std::vector<ir::Value> operands_;
  ir::Attributes attributes_;
  std::vector<std::unique_ptr<ir::Block>> regions_;
};
// An op and its graph, as Graph::inspect lists it.
struct Inspected {
  std::shared_ptr<engine::Graph> graph;
  ir::Inspected op;
};

// Held while ops are added to a graph, so that no thread copies the graph meanwhile to compile it. Gives the ops their
// name and their position in the user's source. While one exists, nothing may let another Python thread run: that
// thread could hold the interpreter's lock and wait for this one.
class Building {
 public:
  Building(engine::Graph& graph, const std::string& name, const std::string& location, const std::string& typed = {})
      : lock_(graph.lock_building()), graph_(graph.ir()) {
    graph_.name = name;
    graph_.location = location;
    graph_.typed = typed;
  }
  ~Building() {
    graph_.name.clear();
    graph_.location.clear();
    graph_.typed.clear();
  }

 private:
  std::unique_lock<std::mutex> lock_;
  ir::Graph& graph_;
};

// Shapes as Python writes them: a sequence of integers, with None for an unknown one, or None for an unknown rank.
// Throws ir::Error, naming `op`, for anything else.
ir::Shape shape_from(pybind11::handle object, std::string_view op);
pybind11::object shape_to(const ir::Shape& shape);

std::vector<ir::Value> values_in(const std::vector<Tensor>& tensors);
std::vector<ir::Op*> ops_in(const std::vector<Update>& updates);

// Makes Class() and Class.__new__(Class) fail, which would make an empty object. Only the extension makes objects of
// the class.
void forbid_new(const pybind11::object& cls);

void bind_graph(pybind11::module_& m);
void bind_executable(pybind11::module_& m);
void bind_queues(pybind11::module_& m);
void bind_package(pybind11::module_& m);
void bind_gradients(pybind11::module_& m);
void bind_op_library(pybind11::module_& m);
void bind_distributed(pybind11::module_& m);

}  // namespace alloy::bindings

namespace pybind11::detail {

// Refuses None and objects whose __init__ was never called.
template <class T>
class initialised_caster : public copyable_holder_caster<T, std::shared_ptr<T>> {
 public:
  bool load(handle source, bool convert) {
    return isinstance<T>(source) &&
           reinterpret_cast<instance*>(source.ptr())->get_value_and_holder().holder_constructed() &&
           copyable_holder_caster<T, std::shared_ptr<T>>::load(source, convert);
  }
};
template <>
class type_caster<std::shared_ptr<alloy::engine::Graph>> : public initialised_caster<alloy::engine::Graph> {};
template <>
class type_caster<std::shared_ptr<alloy::engine::Executable>> : public initialised_caster<alloy::engine::Executable> {};

}  // namespace pybind11::detail
