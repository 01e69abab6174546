// Runs a plan on its device.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "device/array_layout.h"
#include "device/plan.h"

namespace alloy::device {

// The arguments of a run. The arrays are packed, on the executor's device and in the program's order. Results overlap
// neither each other nor anything else.
struct Arguments {
  std::span<const ArrayMemory> feeds, results;
  std::span<const std::shared_ptr<Storage>> variables;  // all variables of the graph, by slot
  // The versions of the variables' contents, by slot. The executor uses packed weights until their variable's version
  // changes; without versions it packs them in every run.
  std::span<const uint64_t> versions;
  // Becomes true if the run shall end early; may be null.
  const std::atomic<bool>* interrupted = nullptr;
  // Called by the run, on its thread, with the position of each result whose elements will not change any more. May be
  // null, and a device may leave out results, or all.
  const std::function<void(size_t)>* on_result = nullptr;
};

// Thrown by an interrupted run. A run can be interrupted between two kernels as long as it has changed no variable;
// after that only at the end of an iteration of a loop.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(bool has_written)
      : std::runtime_error(has_written ? "The run was interrupted; variables that it assigns may be partly updated."
                                       : "The run was interrupted; no variable has changed.") {}
};

// The times of a step, in nanoseconds: begin and end in the last run since profiling began, counted from the start of
// the run, and the total of all runs.
struct StepTime {
  int64_t begin = 0, end = 0, total = 0;
};

// A plan with its memory on the device. The caller serialises runs with each other, with runs that use the same
// variables, and with set_profiling() and times().
class Executor {
 public:
  virtual ~Executor() = default;

  virtual const Plan& plan() const = 0;

  // Returns when the results are computed. Must be called as work of a stream of the device. Returns false, without
  // computing, if the device has changed since the plan's kernels were made; the caller must then plan the graph again.
  // Throws std::bad_alloc if the device lacks memory, Interrupted, or another std::runtime_error.
  virtual bool run(const Arguments& arguments) = 0;

  // Sets whether runs measure the times of their steps from now on.
  virtual void set_profiling(bool on) = 0;
  // Of all calls and copies, in the order of for_each_action(); empty without profiling.
  virtual std::vector<StepTime> times() const = 0;
};

}  // namespace alloy::device
