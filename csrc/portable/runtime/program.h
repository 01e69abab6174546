// A compiled computation: specialised types, and a plan with its kernels on one device. Each run brings its own arrays;
// the arena may be shared with other programs.
#pragma once

#include <memory>
#include <vector>

#include "device/arena.h"
#include "device/executor.h"
#include "runtime/calls.h"

namespace alloy::runtime {

class Program {
 public:
  // Compiles the graph's results and effects for feeds of these types. `arena`: of the device. `callables`: what it may
  // call, kept. Throws ir::Error.
  Program(device::Device& device, std::shared_ptr<device::Arena> arena, const std::vector<ir::Feed>& feeds,
          const std::vector<ir::Value>& results, const std::vector<ir::Op*>& effects, CallablesRef callables = nullptr);

  device::Device& device() const { return device_; }
  // Types of the feeds and results, in the order given to the constructor.
  const std::vector<ir::Type>& feed_types() const { return feed_types_; }
  const std::vector<ir::Type>& result_types() const { return result_types_; }
  // Slots of the variables that a run reads or writes, ascending.
  const std::vector<int64_t>& variables() const { return plan().variables; }
  // Slots of those that it writes.
  const std::vector<int64_t>& written() const { return slots_; }
  // The steps and where everything is; its values belong to the program.
  const device::Plan& plan() const { return executor_->plan(); }

  // As device::Executor's; a plan that has become stale is made anew, which may throw as the constructor does.
  void run(const device::Arguments& arguments);
  void set_profiling(bool on);
  std::vector<device::StepTime> times() const { return executor_->times(); }

 private:
  // Plans the graph and prepares its kernels for the device as it is now.
  void prepare();

  device::Device& device_;
  const std::shared_ptr<device::Arena> arena_;
  const CallablesRef callables_;      // so that no others have their address, by which programs are told apart
  std::unique_ptr<ir::Graph> graph_;  // what the plan computes
  std::vector<ir::Value> placeholders_;
  std::vector<int64_t> slots_;  // of the variables whose new values are the graph's last results
  std::vector<ir::Type> feed_types_, result_types_;
  std::unique_ptr<device::Executor> executor_;
  bool is_profiling_ = false;
};

}  // namespace alloy::runtime
