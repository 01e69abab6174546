// A compiled computation: specialised types, one plan, prepared kernels. Runs with the memory that each run brings, and
// in an arena that it may share.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "compiler/plan.h"
#include "ir/rewrite.h"
#include "runtime/arena.h"

namespace alloy::runtime {

class Program {
 public:
  // Compiles the graph's results and effects for feeds of these types. Throws ir::Error.
  Program(std::shared_ptr<Arena> arena, const std::vector<ir::Feed>& feeds, const std::vector<ir::Value>& results,
          const std::vector<ir::Op*>& effects);

  // Types of the feeds and results, in the order given to the constructor.
  const std::vector<ir::Type>& feed_types() const { return feed_types_; }
  const std::vector<ir::Type>& result_types() const { return result_types_; }
  // Slots of the variables that a run reads or writes, in the order in which it wants their memory.
  const std::vector<int64_t>& variables() const { return plan_.variables; }
  // Slots of those that it writes.
  const std::vector<int64_t>& written() const { return slots_; }
  // The steps and where everything is; its values belong to the program.
  const compiler::Plan& plan() const { return plan_; }

  // Computes, on the calling thread. Memory is packed row-major; results overlap neither each other nor anything else.
  // Runs of one program are the caller's to serialise, as are runs that share an arena or variables. `versions`: of all
  // variables' contents, by slot; what was made of a version serves until there is another one, or another program has
  // had the arena. Without them every run begins anew. Throws std::bad_alloc where the device has no room for the
  // arena. After the thread count of kernels has changed it prepares its kernels anew, and may then throw as the
  // constructor does.
  void run(const std::byte* const* feeds, std::byte* const* variables, std::byte* const* results,
           const uint64_t* versions = nullptr);

  // The times of a step, in nanoseconds: of the last run since profiling began, counted from its start, and the sum of
  // all of them.
  struct StepTime {
    int64_t begin = 0, end = 0, total = 0;
  };
  // Runs take the times of their steps from now on, or no longer. Not while a run is under way, as everything here.
  void set_profiling(bool on) { times_.assign(on ? plan_.steps.size() : 0, {}); }
  // By position in plan().steps.
  const std::vector<StepTime>& times() const { return times_; }

 private:
  struct Patch {
    compiler::Place place;
    size_t pointer;  // position in pointers_
  };
  struct Call {
    compiler::Step::Kind kind;
    const cpu::Kernel* kernel;
    size_t operands, results;  // positions in pointers_
    size_t bytes, target;      // as in Step
  };
  // Plans the graph and prepares its kernels for the threads that there are.
  void prepare();
  void resolve(const compiler::Place& place);
  void use_arena();
  void lay_out(std::byte* const* variables, const uint64_t* versions);
  template <bool kTimed>
  void run_steps();

  ArenaShare arena_;
  std::byte* base_ = nullptr;         // of the arena in the last run
  std::unique_ptr<ir::Graph> graph_;  // what plan_ computes
  std::vector<ir::Value> placeholders_;
  std::vector<int64_t> slots_;  // of the variables whose new values are the graph's last results
  int threads_ = 0;
  compiler::Plan plan_;
  std::vector<ir::Type> feed_types_, result_types_;
  std::vector<Call> calls_;
  std::vector<std::byte*> pointers_;               // of all calls, those to constants fixed
  std::vector<Patch> patches_, inside_;            // the others: what every run brings, and what is in the arena
  std::vector<std::optional<uint64_t>> laid_out_;  // which version, of each of the plan's layouts
  std::vector<StepTime> times_;                    // empty while nobody profiles
};

}  // namespace alloy::runtime
