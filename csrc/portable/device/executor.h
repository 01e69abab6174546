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
#include "device/outcome.h"
#include "device/plan.h"

namespace alloy::device {

// Whether a run shall end early: once its number is at most that of the last run that was interrupted.
struct Interruption {
  const std::atomic<uint64_t>* last = nullptr;  // null if nobody interrupts
  uint64_t number = 0;
  bool requested() const noexcept { return last != nullptr && last->load(std::memory_order_relaxed) >= number; }
};

// The arguments of a run. The arrays are packed, on the executor's device and in the program's order. Results overlap
// neither each other nor anything else. What spans and pointers refer to lives until the call returns, the memory of
// arrays and variables until the run is over.
struct Arguments {
  std::span<const ArrayMemory> feeds, results;
  std::span<const std::shared_ptr<Storage>> variables;  // all variables of the graph, by slot
  // The versions of the variables' contents, by slot. The executor uses packed weights until their variable's version
  // changes; without versions it packs them in every run.
  std::span<const uint64_t> versions;
  Interruption interruption = {};
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

// A plan with its memory on the device. The caller serialises the calls; runs are also ordered on the device, with each
// other and with runs that use the same variables. When set_profiling() and times() are called, no run is in flight.
class Executor {
 public:
  virtual ~Executor() = default;

  virtual const Plan& plan() const = 0;

  // Begins a run on the stream, of which the caller is an item; the stream's fence is its end. The run is skipped if
  // the outcome, which lives until then, is a failure when its turn comes. Returns false, without computing, if the
  // device has changed since the plan's kernels were made; the caller must then plan the graph again. A run that fails
  // throws std::bad_alloc if the device lacks memory, Interrupted, or another std::runtime_error; after this call
  // returned, it tells the outcome instead.
  virtual bool run(const Arguments& arguments, Stream& stream, Outcome& outcome) = 0;

  // True if a run does not wait for the device.
  virtual bool returns_at_once() const { return false; }

  // Sets whether runs measure the times of their steps from now on.
  virtual void set_profiling(bool on) = 0;
  // Of all calls and copies, in the order of for_each_action(); empty without profiling.
  virtual std::vector<StepTime> times() const = 0;
};

}  // namespace alloy::device
