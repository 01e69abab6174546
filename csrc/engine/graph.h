// A graph as its user builds it, and its state. Plain C++; Impl holds the framework's objects.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/executable.h"
#include "engine/stats.h"
#include "ir/text/inspect.h"
#include "ir/transform/rewrite.h"

namespace alloy::engine {

// The way in which a graph's variables are kept between runs: as variables of the framework, or in arrays of the
// engine, which every run reads and writes.
enum class VariableStorage { kVariable, kBuffers };

// A graph with its framework graph and its variables' values. One thread builds; runs are serialised.
class Graph : public std::enable_shared_from_this<Graph> {
 public:
  // On the first device of that kind or name, or the default one. Throws ir::Error if there is none.
  // `precision` is that of its products: the attribute's word, or empty for float32.
  explicit Graph(VariableStorage storage = VariableStorage::kVariable, const std::string& device = {},
                 const std::string& precision = {});
  ~Graph();

  VariableStorage storage() const { return storage_; }

  // The graph under construction. Ops are added to it directly, by one thread at a time that holds lock_building(),
  // because executables of the graph may be compiled meanwhile. lock_building() throws DeviceError in a forked child
  // where no thread could release the lock.
  ir::Graph& ir() { return ir_; }
  std::unique_lock<std::mutex> lock_building();
  // Adds a variable. It is put on the device by the first run, read or assignment that needs it. By default, optimizers
  // update trainable variables only.
  ir::Value variable(ir::LiteralRef initial, bool trainable = true);
  // All variables in order of creation, which is the order of their slots.
  struct VariableEntry {
    ir::Value value;
    bool trainable;
  };
  std::vector<VariableEntry>& variables() { return variables_; }
  // The initial value of a variable; null once the device has it, which forget_initial() says.
  ir::LiteralRef initial_value(int64_t slot) const;
  void forget_initial(int64_t slot);

  // read() copies the values that variables of this graph have at one moment to `out`, packed row-major. assign() sets
  // them, all at one moment, from `bytes`. Each is one dispatch. If assign() gets a variable twice, the last value
  // counts.
  void read(const std::vector<ir::Value>& variables, void* const* out);
  void assign(const std::vector<ir::Value>& variables, const void* const* bytes);

  // Makes the variables of these slots in another graph, which has none, with the values that they have here at one
  // moment.
  void copy_variables(const std::vector<int64_t>& slots, Graph& to);
  // The name by which find_device finds the device.
  std::string device_name() const;
  // True if the graph computes on the host's own cores.
  bool is_on_host() const;

  // Keeps contents for placeholders, for runs that get none for them; null removes contents. Throws ir::Error, and
  // keeps nothing, if one is not a placeholder of this graph or its contents do not fit.
  struct Binding {
    ir::Value placeholder;
    ir::LiteralRef contents;
  };
  void bind(const std::vector<Binding>& bindings);
  // The contents kept for a placeholder, or null.
  ir::LiteralRef bound(ir::Value placeholder) const;

  // An executable that takes `feeds` (placeholders), computes `fetches` and carries out `updates` (ops without
  // results). Throws ir::Error if one of these does not belong to this graph or is of the wrong kind, or if a variable
  // has two updates. With `steps`, each dispatch runs this number of steps.
  std::shared_ptr<Executable> compile(std::vector<ir::Value> feeds, std::vector<ir::Value> fetches,
                                      std::vector<ir::Op*> updates, std::optional<int64_t> steps = std::nullopt);

  // A sentence for each problem: for each reason why `fetches` and `updates` cannot be computed from feeds of these
  // types, as far as the types are known; and for each variable that starts with NaN or, if it is trainable, with an
  // infinity. Without fetches and updates, checks the whole graph.
  std::vector<std::string> verify(std::vector<ir::Feed> feeds, std::vector<ir::Value> fetches,
                                  std::vector<ir::Op*> updates);
  // The ops that `fetches` and `updates` need, or without them all ops. Throws ir::Error as compile() does, and if a
  // type does not fit.
  std::vector<ir::Inspected> inspect(const std::vector<ir::Feed>& feeds, std::vector<ir::Value> fetches,
                                     std::vector<ir::Op*> updates);

  // The most submitted steps that may be in flight before the next one waits: at least 1; 2 at first. With
  // VariableStorage::kBuffers it is 1.
  size_t most_in_flight() const;
  void set_most_in_flight(size_t count);

  // Throws ir::Error unless the value belongs to this graph.
  void require_own(ir::Value value, const char* what) const;

  struct Impl;
  Impl& impl() { return *impl_; }
  // Begins a new framework graph if most of this one is unused. The caller holds the graph's lock.
  void renew_if_wasteful();

 private:
  std::shared_ptr<Compiled> make_writer(const std::vector<ir::Value>& variables);
  std::shared_ptr<Compiled> access(bool writes, const std::vector<ir::Value>& variables);

  const VariableStorage storage_;
  std::mutex building_;
  ir::Graph ir_;
  std::vector<VariableEntry> variables_;
  ir::ValueMap<ir::LiteralRef> bound_;
  std::unique_ptr<Impl> impl_;
  Alive alive_;
};

}  // namespace alloy::engine
