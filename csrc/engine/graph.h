// A graph as its user builds it, and the state that belongs to it. Plain C++; the framework is behind the Impl.
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

// What holds the variables of a graph between runs: variables of the framework, or arrays of the engine that every run
// is fed and writes.
enum class VariableStorage { kVariable, kBuffers };

// Owns one graph of the framework, and the variables' values from run to run. One thread builds; runs are serialised.
class Graph : public std::enable_shared_from_this<Graph> {
 public:
  // On the first device of that kind or name, or the default one; throws ir::Error where there is none.
  explicit Graph(VariableStorage storage = VariableStorage::kVariable, const std::string& device = {});
  ~Graph();

  VariableStorage storage() const { return storage_; }

  // The graph under construction: ops are added to it directly, by one thread at a time that holds this lock, because
  // executables of the graph may be compiled meanwhile. Throws DeviceError in a forked child where no thread could
  // release it.
  ir::Graph& ir() { return ir_; }
  std::unique_lock<std::mutex> lock_building();
  // Adds a variable. It is on the device from the first run, read or assignment that needs it. Optimizers leave alone
  // what is not trainable, unless they are told to update it.
  ir::Value variable(ir::LiteralRef initial, bool trainable = true);
  // Every variable in order of creation, which is the order of their slots.
  struct VariableEntry {
    ir::Value value;
    bool trainable;
  };
  std::vector<VariableEntry>& variables() { return variables_; }
  // The initial value of a variable; null once the device has it, which forget_initial says.
  ir::LiteralRef initial_value(int64_t slot) const;
  void forget_initial(int64_t slot);

  // read copies the values that variables of this graph have at one moment to `out`, packed row-major. assign sets
  // them, all at one moment, from `bytes`. Each is one dispatch. If a variable is named twice in assign, the last value
  // holds.
  void read(const std::vector<ir::Value>& variables, void* const* out);
  void assign(const std::vector<ir::Value>& variables, const void* const* bytes);

  // Makes the variables of these slots those of another graph that has none, where they begin with the values that they
  // have here at one moment.
  void copy_variables(const std::vector<int64_t>& slots, Graph& to);
  // By which find_device finds it.
  std::string device_name() const;
  // True if the graph computes on the host's own cores.
  bool is_on_host() const;

  // Keeps contents for placeholders, used by runs that are not given any; null removes them. Throws ir::Error, and
  // keeps nothing, where one is not a placeholder of this graph or its contents do not fit.
  struct Binding {
    ir::Value placeholder;
    ir::LiteralRef contents;
  };
  void bind(const std::vector<Binding>& bindings);
  // What is kept for a placeholder, or null.
  ir::LiteralRef bound(ir::Value placeholder) const;

  // An executable that computes `fetches` and carries out `updates` (ops without results) from `feeds` (placeholders).
  // Throws ir::Error where a feed, fetch or update is not of this graph or not of that kind, or a variable has two
  // updates. With `steps`, of so many steps in one dispatch.
  std::shared_ptr<Executable> compile(std::vector<ir::Value> feeds, std::vector<ir::Value> fetches,
                                      std::vector<ir::Op*> updates, std::optional<int64_t> steps = std::nullopt);

  // A sentence for each problem: what prevents `fetches` and `updates` from being computed from feeds of these types,
  // as far as the types are known, and each variable that starts with NaN, or, if it is trainable, with an infinity.
  // Without fetches and updates it looks at the whole graph.
  std::vector<std::string> verify(std::vector<ir::Feed> feeds, std::vector<ir::Value> fetches,
                                  std::vector<ir::Op*> updates);
  // What `fetches` and `updates`, or without them the whole graph, need. Throws ir::Error as compile does, and where a
  // type does not fit.
  std::vector<ir::Inspected> inspect(const std::vector<ir::Feed>& feeds, std::vector<ir::Value> fetches,
                                     std::vector<ir::Op*> updates);

  // How many submitted steps may be in flight before the next one waits, at least 1; 2 at first.
  // VariableStorage::kBuffers allows one.
  size_t most_in_flight() const;
  void set_most_in_flight(size_t count);

  // Throws ir::Error unless the value belongs to this graph.
  void require_own(ir::Value value, const char* what) const;

  struct Impl;
  Impl& impl() { return *impl_; }
  // Begins another graph of the framework if most of this one is unused. The caller holds the graph's lock.
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
