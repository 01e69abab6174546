// What runs a plan on its device.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "device/array_layout.h"
#include "device/plan.h"

namespace alloy::device {

// What a run brings. Arrays are packed, on the executor's device, and in the program's order; results overlap neither
// each other nor anything else.
struct Arguments {
  std::span<const ArrayMemory> feeds, results;
  std::span<const std::shared_ptr<Storage>> variables;  // all of the graph's, by slot
  // The versions of the variables' contents, by slot: a copy made from one version is used until the version changes.
  // Without them every run makes its copies anew.
  std::span<const uint64_t> versions;
  // Whether the run shall end now; null: nobody asks.
  const std::atomic<bool>* interrupted = nullptr;
};

// What ends such a run. It ends between two kernels, as long as no variable has changed; then only behind an iteration
// of a loop.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(bool has_written)
      : std::runtime_error(has_written ? "The run was interrupted; variables that it assigns may be partly updated."
                                       : "The run was interrupted; no variable has changed.") {}
};

// The times of a step, in nanoseconds: of the last run since profiling began, counted from its start, and the sum of
// all of them.
struct StepTime {
  int64_t begin = 0, end = 0, total = 0;
};

// A plan with its memory on the device. The caller serialises its runs with each other, with runs that use the same
// variables, and with set_profiling() and times().
class Executor {
 public:
  virtual ~Executor() = default;

  virtual const Plan& plan() const = 0;

  // Computes, and returns when that is done; called as work of a stream of the device. Returns false, and computes
  // nothing, if the device has changed since the plan's kernels were made: the caller must then plan the graph anew.
  // Throws std::bad_alloc where the device lacks memory, Interrupted, or another std::runtime_error.
  virtual bool run(const Arguments& arguments) = 0;

  // Whether runs measure the times of their steps from now on.
  virtual void set_profiling(bool on) = 0;
  // By position in the plan's steps; none without profiling.
  virtual std::vector<StepTime> times() const = 0;
};

}  // namespace alloy::device
