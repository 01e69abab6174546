// Runs a plan on the CPU: a flat list of kernel calls over one arena, with jumps for conditionals and loops.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cpu/kernel.h"
#include "device/arena.h"
#include "device/executor.h"

namespace alloy::cpu {

// The plan is stale once kernels shall use another number of threads.
class Executor final : public device::Executor {
 public:
  // The plan has kernels of the CPU, and the arena is the CPU's.
  Executor(device::Plan plan, std::shared_ptr<device::Arena> arena);

  const device::Plan& plan() const override { return plan_; }
  bool run(const device::Arguments& arguments, device::Stream& stream, device::Outcome& outcome) override;
  void set_profiling(bool on) override { times_.assign(on ? calls_.size() : 0, {}); }
  std::vector<device::StepTime> times() const override;

 private:
  struct Patch {
    device::Place place;
    size_t pointer;  // position in pointers_
  };
  struct End {
    size_t call;  // the last one that writes the result, or the end of the loops around it
    size_t result;
  };
  struct Call {
    enum class Kind : uint8_t {
      kKernel,
      kCopy,
      kJump,      // go on at call `target`
      kJumpIfNot  // go on at call `target` if the operand is all zero
    };
    Kind kind;
    const device::Step* step;
    const Kernel* kernel;
    size_t operands, results;  // positions in pointers_
    size_t bytes, scratch;     // as in Step
    size_t target;
  };
  void line_up(const std::vector<device::Step>& steps);
  size_t add(Call::Kind kind, const device::Step& step);
  void resolve(const device::Place& place);
  void use_arena(const device::ArenaShare::Use& use);
  void patch(const device::Arguments& arguments);
  void prepack(const device::Arguments& arguments);
  void find_ends();
  template <bool kTimed>
  void run_steps(const device::Interruption& interruption, const std::function<void(size_t)>* on_result);
  void end_before(size_t call) const;

  const device::Plan plan_;
  device::ArenaShare arena_;
  int threads_;                // of the kernels; 0 if they differ
  std::byte* base_ = nullptr;  // the arena in the last run
  std::vector<Call> calls_;
  std::vector<std::byte*> pointers_;                     // of all calls; pointers to constants never change
  std::vector<Patch> patches_, inside_;                  // pointers that each run sets; pointers into the arena
  std::vector<std::byte*> feeds_, variables_, results_;  // of the current run
  std::vector<End> ends_;                                // of all results that are written, by call
  std::vector<std::optional<uint64_t>> prepacked_;       // by packed weights, the version that was packed
  std::vector<device::StepTime> times_;                  // by call; empty without profiling
};

}  // namespace alloy::cpu
