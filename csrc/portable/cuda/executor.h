// Runs a plan on a GPU: launches every step on the stream of the run.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "cuda/driver.h"
#include "cuda/kernel.h"
#include "cuda/modules.h"
#include "device/arena.h"
#include "device/executor.h"

namespace alloy::cuda {

class Executor final : public device::Executor {
 public:
  // Compiles the plan's functions. Throws std::runtime_error or std::bad_alloc.
  Executor(const Context& context, Modules& modules, device::Device& device, device::Plan plan,
           std::shared_ptr<device::Arena> arena);

  const device::Plan& plan() const override { return plan_; }
  bool run(const device::Arguments& arguments, device::Stream& stream, device::Outcome& outcome) override;
  void set_profiling(bool on) override;
  std::vector<device::StepTime> times() const override { return times_; }

 private:
  // A launch of a step, with room for its arguments: the addresses, then the numbers.
  struct Prepared {
    const Launch* launch;
    CUfunction function;
    std::vector<uint64_t> arguments;
  };
  struct Run;

  void prepare(const std::vector<device::Step>& steps, std::vector<const Launch*>& launches);
  void upload_constants(device::Device& device);

  const Context& context_;
  device::Counters& counters_;
  const device::Plan plan_;
  device::ArenaShare arena_;
  std::shared_ptr<device::Storage> constants_;
  std::vector<size_t> constant_offsets_;
  std::unordered_map<const device::Step*, std::vector<Prepared>> prepared_;
  std::vector<device::StepTime> times_;  // empty without profiling
};

}  // namespace alloy::cuda
