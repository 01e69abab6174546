// Compiled steps. Plain C++.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/stats.h"
#include "ir/graph.h"

namespace alloy::engine {

class Graph;

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

// A step compiled for concrete shapes: one dispatch a run, with feeds and results that never alias.
class Compiled {
 public:
  // Compiles; `graph` must outlive it.
  Compiled(Graph& graph, const std::vector<ir::Feed>& feeds, const std::vector<ir::Value>& fetches, const std::vector<ir::Op*>& updates);
  ~Compiled();

  const std::vector<ir::Type>& result_types() const { return result_types_; }
  // Nothing where the framework does not tell.
  std::optional<MemoryPlan> memory_plan() const;
  // Runs on the feeds, copied or where they lie, and copies the results out: packed row-major, in the order of feeds and fetches. Throws
  // DeviceError.
  void run(const void* const* feeds, void* const* results);
  // Runs so many times and tells the times of the kernels; nothing where the framework does not take them.
  std::optional<std::vector<KernelTime>> profile(const void* const* feeds, void* const* results, int runs);

 private:
  struct Impl;
  std::vector<ir::Type> result_types_;
  std::unique_ptr<Impl> impl_;
};

// What a user calls a step: feeds in, fetches out, updates done. Keeps its graph alive. Compiles once per concrete shapes of the feeds.
class Executable {
 public:
  Executable(std::shared_ptr<Graph> graph, std::vector<ir::Value> feeds, std::vector<ir::Value> fetches, std::vector<ir::Op*> updates);

  const std::shared_ptr<Graph>& graph() const { return graph_; }
  const std::vector<ir::Value>& feeds() const { return feeds_; }
  const std::vector<ir::Value>& fetches() const { return fetches_; }
  // The step for feeds of these static shapes, compiled now if it was not before. Throws ir::Error where the shapes do not fit.
  Compiled& specialize(const std::vector<ir::Shape>& shapes);

 private:
  std::shared_ptr<Graph> graph_;
  std::vector<ir::Value> feeds_, fetches_;
  std::vector<ir::Op*> updates_;
  std::map<std::vector<ir::Dims>, std::unique_ptr<Compiled>> compiled_;
  Alive alive_;
};

}  // namespace alloy::engine
