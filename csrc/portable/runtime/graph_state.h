// The state that a graph of the facade shares with its tensors and executables: the ir, the memory of the variables,
// and the compiled programs. It lives as long as any of them. One thread builds the graph; runs are serialised here.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "device/array_layout.h"
#include "host/event.h"
#include "host/recycler.h"
#include "ir/transform/rewrite.h"
#include "runtime/calls.h"
#include "runtime/program.h"

namespace alloy::runtime {

// The programs that one user of a graph used most recently. Older ones are destroyed, unless another user keeps them.
class RecentPrograms {
 public:
  // Makes a program the most recent one.
  void keep(std::shared_ptr<Program> program);
  // Returns the program for feeds of these types and makes it the most recent one; null if there is none.
  std::shared_ptr<Program> find(const std::vector<ir::Type>& feeds);
  // The most recent one, or null.
  std::shared_ptr<Program> latest();

 private:
  std::mutex mutex_;
  std::list<std::shared_ptr<Program>> programs_;  // the most recent first
};

// All variables of a graph are on one device at a time; a run on another device moves them there first.
class GraphState {
 public:
  // The variables begin on `device`.
  explicit GraphState(device::Device& device) : device_(&device) {}

  // The program for these feeds, results and effects on the device. The first call compiles it; later calls return the
  // same one while anybody keeps it. Throws ir::Error.
  std::shared_ptr<Program> program(device::Device& device, const std::vector<ir::Feed>& feeds,
                                   const std::vector<ir::Value>& results, const std::vector<ir::Op*>& effects,
                                   const CallablesRef& callables = nullptr, const std::string& precision = {});
  // Allocates the newest variable of the graph and sets its initial value.
  void allocate_variable(std::span<const std::byte> initial);
  // Allocates the variables of a graph that had none, with these sizes by slot, and calls `fill` with each.
  void allocate_variables(const std::vector<size_t>& bytes,
                          const std::function<void(size_t slot, device::Storage&)>& fill);
  // Calls `read` with the memory of the variables, in this order. No run is in flight meanwhile.
  void read_variables(const std::vector<int64_t>& slots, const std::function<void(device::Storage&)>& read);
  // Interrupts the runs in flight and those that wait to begin (device::Interrupted); false if there is none in flight.
  // Never waits.
  bool interrupt() {
    const std::unique_lock lock(running_, std::try_to_lock);
    if (lock && (!last_ || last_->is_over())) return false;
    interrupted_ = begun_.load();
    return true;
  }
  // Bytes of the variables that the program uses.
  size_t variable_bytes(const Program& program);
  // Like Program::set_profiling and Program::times, while no run of the graph is in flight.
  void set_profiling(Program& program, bool on);
  std::vector<device::StepTime> times(const Program& program);

  ir::Graph graph;

 private:
  friend class Run;
  using Key = std::vector<uint64_t>;
  void take_variables_to(device::Device& device);

  // The number of runs that have begun, or wait to begin, and of the last one that is interrupted.
  std::atomic<uint64_t> begun_{0}, interrupted_{0};
  std::mutex running_;                                       // held while a run begins; guards the next four members
  host::FenceRef last_;                                      // the end of the last run
  device::Device* device_;                                   // the device of the variables
  std::vector<std::shared_ptr<device::Storage>> variables_;  // by slot
  std::vector<uint64_t> versions_;                           // of their contents, by slot
  std::mutex compiling_;                                     // guards the next two members
  std::map<device::Device*, std::shared_ptr<device::Arena>> arenas_;
  std::map<Key, std::weak_ptr<Program>> programs_;
  size_t most_programs_ = 64;  // size of the map at which destroyed programs are removed from it
};

// One run of a program with its feeds and results: a copyable command of a list.
class Run {
 public:
  using Arrays = std::vector<device::ArrayMemory, host::Recycler<device::ArrayMemory>>;

  // Arrays are in the program's order. Each has the elements of the program's type, with any strides. `overwritten`
  // holds the positions of feeds that share memory with a result; the run computes as if they did not.
  Run(std::shared_ptr<GraphState> state, std::shared_ptr<Program> program, Arrays feeds, Arrays results,
      std::vector<size_t> overwritten)
      : state_(std::move(state)),
        program_(std::move(program)),
        feeds_(std::move(feeds)),
        results_(std::move(results)),
        overwritten_(std::move(overwritten)) {}

  // Sets what is called with the positions of results during the run (device::Arguments::on_result).
  void set_on_result(std::function<void(size_t)> on_result) { on_result_ = std::move(on_result); }

  // Begins the run on the stream, of which the caller is an item, unless the outcome is a failure already. This object
  // and the outcome must live until the stream's fence.
  void operator()(device::Stream& stream, device::Outcome& outcome) const;
  // The same, behind the events; signals them when the run is over, whether it succeeded, failed or was skipped. If
  // there is a condition and it is false by then, computes nothing.
  void operator()(device::Stream& stream, device::Outcome& outcome, const host::EventList& events,
                  const std::function<bool()>& condition = nullptr) const;
  // True if the call returns without waiting for the device, but for events.
  bool returns_at_once() const;
  // Runs in the stream's turn and returns when the run is over; fails as Stream::run does.
  host::Status run_now(device::Stream& stream, device::Outcome& outcome, const host::EventList& events = {}) const;

 private:
  std::shared_ptr<GraphState> state_;
  std::shared_ptr<Program> program_;
  Arrays feeds_, results_;
  std::vector<size_t> overwritten_;
  std::function<void(size_t)> on_result_ = nullptr;
};

}  // namespace alloy::runtime
