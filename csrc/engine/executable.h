// Steps as their users see them: compiled when shapes ask for it, run, submitted. Plain C++.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/queue.h"
#include "engine/running/compiled.h"
#include "engine/stats.h"
#include "ir/graph.h"

namespace alloy::engine {

class Graph;

// A run in flight. Any thread may ask and read.
class Submission {
 public:
  Submission(std::shared_ptr<Graph> graph, std::shared_ptr<Compiled> step, std::shared_ptr<Run> run);
  ~Submission();
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  const std::vector<ir::Type>& result_types() const { return step_->result_types(); }
  bool is_over() const;
  // Blocks until it is.
  void wait() const;
  // Waits, and copies the results out. Throws as Compiled::run.
  void read(void* const* results) const;
  // Calls `tell` once when it is over: now, or on a thread of the framework's, which it must not hold up.
  void when_over(std::function<void()> tell) const;

 private:
  friend class Executable;
  friend class FeedSlot;
  // Throws DeviceError where it is known to have failed.
  void require_good() const;

  std::shared_ptr<Graph> graph_;
  std::shared_ptr<Compiled> step_;
  std::shared_ptr<Run> run_;
};

// A result of a submission as it lies on the device, computed or not: what other steps are fed without a copy.
struct Pending {
  std::shared_ptr<const Submission> submission;
  size_t index;

  const ir::Type& type() const { return submission->result_types()[index]; }
};

// What a user calls a step: feeds in, fetches out, updates done. Keeps its graph alive. Compiles for every combination
// of the feeds' shapes that is asked for, and keeps what it compiled last. Any thread may call it at any time.
class Executable {
 public:
  // With `steps`, a run makes so many steps, and feeds and fetches have an axis more, the first, for them.
  Executable(std::shared_ptr<Graph> graph, std::vector<ir::Value> feeds, std::vector<ir::Value> fetches,
             std::vector<ir::Op*> updates, std::optional<int64_t> steps);

  const std::shared_ptr<Graph>& graph() const { return graph_; }
  const std::vector<ir::Value>& feeds() const { return feeds_; }
  const std::vector<ir::Value>& fetches() const { return fetches_; }
  // The step for feeds of these static shapes, compiled now if it is not there. Throws ir::Error where the shapes do
  // not fit.
  std::shared_ptr<Compiled> specialize(const std::vector<ir::Shape>& shapes);
  // Null where it is not there.
  std::shared_ptr<Compiled> find(const std::vector<ir::Shape>& shapes);
  // Runs a step of this executable (Compiled::run), or starts it. Runs of a graph come one after the other in the order
  // in which they were asked for, whatever queues they are on, and after those whose results they are fed. Throws
  // ir::Error for a queue or a result on another device.
  void run(const std::shared_ptr<Compiled>& step, const FeedBytes* feeds, void* const* results);
  std::shared_ptr<Submission> submit(const std::shared_ptr<Compiled>& step, const FeedBytes* feeds,
                                     const Order& order = {});
  // Runs the step `runs` times and returns the times of the kernels; nothing if the framework does not measure them.
  // Calls `between` before each run, which may throw to stop.
  std::optional<std::vector<KernelTime>> profile(const std::shared_ptr<Compiled>& step, const FeedBytes* feeds,
                                                 void* const* results, int runs, const std::function<void()>& between);
  // Writes the step to a file that a Package is loaded from, with the values that its variables have at one moment
  // between two runs. `shapes`: of the feeds, where they may be open; empty: those of the placeholders. Throws
  // ir::Error where an op needs a shape that is open, or a shape does not fit; DeviceError where it cannot be written.
  void write(const std::string& path, const std::vector<ir::Shape>& shapes);
  // Drops what it has compiled; the graph calls this when that is no longer current.
  void drop_steps();

 private:
  using Shapes = std::vector<ir::Shape>;

  ir::Shape of_one_step(const ir::Value& feed, const ir::Shape& shape) const;
  std::vector<const Pending*> pending_of(const FeedBytes* feeds) const;
  // Until they are there; throws what reading them would.
  void wait_for_pending(const FeedBytes* feeds) const;
  std::shared_ptr<Compiled> compiled(const Shapes& shapes);
  std::shared_ptr<Compiled> next(const std::shared_ptr<Compiled>& step);  // compiled anew where it is not current

  std::shared_ptr<Graph> graph_;
  std::vector<ir::Value> feeds_, fetches_;
  std::vector<ir::Op*> updates_;
  const std::optional<int64_t> together_;
  std::mutex choosing_;  // never held for long; guards the next, which the graph's lock does, too
  std::list<std::shared_ptr<Compiled>> steps_;  // the most recent first
  std::weak_ptr<Compiled> latest_;              // that ran, and holds arrays
  std::map<std::vector<ir::Dims>, std::shared_ptr<const Lowered>>
      lowered_;                                   // by the feeds' shapes, in the graph's framework
  std::map<std::vector<ir::Dims>, Reason> gone_;  // shapes that were compiled before, and why that is not kept
  Alive alive_;
};

}  // namespace alloy::engine
