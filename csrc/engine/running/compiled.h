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

// The bytes of a run, known in advance.
struct MemoryPlan {
  // A value that is computed and kept for a while.
  struct Value {
    std::string name;  // of the op, or empty
    std::string kind;  // of the op
    ir::Shape shape;
    uint64_t bytes;
  };
  uint64_t variables;
  uint64_t feeds;  // feeds that a run reads: copies, which stay after the first run, or the user's memory
  uint64_t results, constants;
  uint64_t arena;              // for intermediate values
  uint64_t scratch;            // of the kernel that needs the most
  uint64_t layouts;            // of packed copies of weights that no run changes
  std::vector<Value> at_peak;  // the arena's contents when they are largest
};

// The work of one kernel of a step, and its time.
struct KernelTime {
  std::string name;   // of the op whose value it computes, or empty
  std::string kind;   // of that op
  ir::Shape shape;    // of that value
  std::string dtype;  // of the narrowest floats that it reads, or empty
  uint64_t flops, bytes;
  double total;       // in seconds, of all runs
  double begin, end;  // in seconds from the start of the last run
};

// A step compiled for concrete shapes. A run is one dispatch, and its feeds and results never alias. Executables and
// graphs make and run it, and hold the graph's lock meanwhile.
class Compiled {
 public:
  // `graph` must outlive it.
  Compiled(Graph& graph, std::shared_ptr<const Lowered> lowered);
  ~Compiled();

  const std::vector<ir::Shape>& feed_shapes() const;
  const std::vector<ir::Type>& result_types() const;
  // Nothing if the framework does not report it.
  std::optional<MemoryPlan> memory_plan() const;
  // True if the graph still uses the framework's graph in which this was compiled; otherwise it must not run.
  bool is_current() const;
  // True if the step has ops on the host. Then most of it is computed by the call that runs or starts it.
  bool calls_host() const;
  // Runs on the feeds, which it copies or reads in place, and copies the results out: packed row-major, in the order of
  // feeds and fetches. Throws DeviceError or OutOfMemory if this run or an earlier one in flight failed, and says if
  // the variables have changed.
  void run(const FeedBytes* feeds, void* const* results);
  // The same in two calls. start() returns as soon as the device has the run; it waits only while the graph has its
  // maximum of runs in flight. read() waits for the end of the run and copies the results out; any thread may call it,
  // without the graph's lock.
  std::shared_ptr<Run> start(const FeedBytes* feeds, Ordering ordering);
  void read(const Run& run, void* const* results);
  // Frees the memory for feeds and results of finished runs until the next run.
  void forget_arrays();
  // Writes the step to a file, with the values of the framework's variables. Throws DeviceError if that fails.
  void write(const std::string& path) const;
  // Sets whether runs measure the times of their kernels; false if the framework cannot. times() returns these times.
  bool set_profiling(bool on);
  std::vector<KernelTime> times() const;

 private:
  struct Impl;
  const std::shared_ptr<const Lowered> lowered_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace alloy::engine
