// A step compiled for concrete shapes. Plain C++.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/running/feed_bytes.h"
#include "ir/graph.h"

namespace alloy::engine {

class Graph;
class Run;
struct Lowered;
struct Ordering;

// The bytes that a run takes, known before it.
struct MemoryPlan {
  // What is computed and kept for a while.
  struct Value {
    std::string name;  // the op's, or empty
    std::string kind;  // of the op
    ir::Shape shape;
    uint64_t bytes;
  };
  uint64_t variables;
  uint64_t feeds;  // what a run reads: copies, which stay once a run has made them, or the user's memory
  uint64_t results, constants;
  uint64_t arena;              // where everything lives that is computed on the way
  uint64_t scratch;            // of the kernel that needs most
  uint64_t layouts;            // of weights that no run changes, in the order in which kernels want them
  std::vector<Value> at_peak;  // what the arena holds when that is most
};

// What one kernel of a step does, and the time it took.
struct KernelTime {
  std::string name;  // of the op whose value it computes, or empty
  std::string kind;  // of that op
  ir::Shape shape;   // of that value
  uint64_t flops, bytes;
  double total;       // seconds in all runs
  double begin, end;  // seconds from the start of the last run
};

// A step compiled for concrete shapes: one dispatch a run, with feeds and results that never alias. Made and run by
// executables and graphs, which hold the graph's lock meanwhile.
class Compiled {
 public:
  // `graph` must outlive it.
  Compiled(Graph& graph, std::shared_ptr<const Lowered> lowered);
  ~Compiled();

  const std::vector<ir::Shape>& feed_shapes() const;
  const std::vector<ir::Type>& result_types() const;
  // Nothing if the framework does not report it.
  std::optional<MemoryPlan> memory_plan() const;
  // True if the graph still computes in the framework's graph that this was compiled in; if not it must not run.
  bool is_current() const;
  // True if ops of libraries are in it: then most of it is computed in the call that runs or starts it.
  bool calls_libraries() const;
  // Runs on the feeds, copied or read in place, and copies the results out: packed row-major, in the order of feeds and
  // fetches. Throws DeviceError or OutOfMemory where this run or one in flight before it failed, and says whether the
  // variables have changed.
  void run(const FeedBytes* feeds, void* const* results);
  // The same in parts. start returns as soon as the device has the run; it waits only while the graph has as many runs
  // in flight as it allows. read waits for the end of the run and copies the results out; any thread may call it,
  // without the graph's lock. reuse says that the run will not be read any more.
  std::shared_ptr<Run> start(const FeedBytes* feeds, const Ordering& ordering);
  void read(const Run& run, void* const* results);
  void reuse(std::shared_ptr<Run> run);
  // Gives back the memory for feeds and results of runs that are over, until the next run.
  void forget_arrays();
  // Writes it to a file, with the values that the framework's variables have. Throws DeviceError where that fails.
  void write(const std::string& path) const;
  // Whether runs measure the times of their kernels from now on; false if the framework cannot. The times measured.
  bool set_profiling(bool on);
  std::vector<KernelTime> times() const;

 private:
  struct Impl;
  const std::shared_ptr<const Lowered> lowered_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace alloy::engine
