// A compiled computation: specialised types, and a plan with its kernels on one device. Each run brings its own arrays.
// Programs may share an arena.
#pragma once

#include <memory>
#include <vector>

#include "device/arena.h"
#include "device/executor.h"
#include "runtime/calls.h"

namespace alloy::runtime {

class Program {
 public:
  // Compiles the graph's results and effects for feeds of these types. `arena` is the device's. The program keeps
  // `callables`, the executables that it may call. Throws ir::Error.
  Program(device::Device& device, std::shared_ptr<device::Arena> arena, const std::vector<ir::Feed>& feeds,
          const std::vector<ir::Value>& results, const std::vector<ir::Op*>& effects, CallablesRef callables = nullptr,
          const std::string& precision = {});

  device::Device& device() const { return device_; }
  // In the order given to the constructor.
  const std::vector<ir::Type>& feed_types() const { return feed_types_; }
  const std::vector<ir::Type>& result_types() const { return result_types_; }
  // Slots of the variables that a run reads or writes, ascending.
  const std::vector<int64_t>& variables() const { return plan().variables; }
  // Slots of the variables that a run writes.
  const std::vector<int64_t>& written() const { return slots_; }
  // The plan; its values belong to the program.
  const device::Plan& plan() const { return executor_->plan(); }

  // Like device::Executor's, except that run() plans the graph again if the device has changed, and then throws what
  // the constructor throws.
  void run(const device::Arguments& arguments, device::Stream& stream, device::Outcome& outcome);
  bool returns_at_once() const { return executor_->returns_at_once(); }
  void set_profiling(bool on);
  std::vector<device::StepTime> times() const { return executor_->times(); }

 private:
  // Plans the graph and makes its kernels for the device as it is now.
  void prepare();

  device::Device& device_;
  const std::shared_ptr<device::Arena> arena_;
  const CallablesRef callables_;      // kept because programs are found by its address
  std::unique_ptr<ir::Graph> graph_;  // the graph that was planned
  std::vector<ir::Value> placeholders_;
  std::vector<int64_t> slots_;  // slots of the variables whose new values are the graph's last results
  std::vector<ir::Type> feed_types_, result_types_;
  std::unique_ptr<device::Executor> executor_;
  bool is_profiling_ = false;
};

}  // namespace alloy::runtime
