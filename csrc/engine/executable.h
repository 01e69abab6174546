// Steps as users see them: compiled for shapes as needed, run, submitted. Plain C++.
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
  // Blocks until the run is over.
  void wait() const;
  // Waits for the run, then copies the results out. Throws what Compiled::run throws.
  void read(void* const* results) const;
  // Calls `tell` once when the run is over: now, or later on a thread of the framework, which it must not block.
  void when_over(std::function<void()> tell) const;

 private:
  friend class Executable;
  friend class FeedSlot;
  // Throws DeviceError if the run is known to have failed.
  void require_good() const;

  std::shared_ptr<Graph> graph_;
  std::shared_ptr<Compiled> step_;
  std::shared_ptr<Run> run_;
};

// A result of a submission, on the device and perhaps not computed yet. Other steps can be fed it without a copy.
struct Pending {
  std::shared_ptr<const Submission> submission;
  size_t index;

  const ir::Type& type() const { return submission->result_types()[index]; }
};

// A step as users call it: takes feeds, returns fetches, and updates variables. It keeps its graph alive. It compiles a
// step for each combination of the feeds' shapes, and keeps the latest ones. Any thread may call it at any time.
class Executable {
 public:
  // With `steps`, a run makes this number of steps, and feeds and fetches have an additional first axis for them.
  Executable(std::shared_ptr<Graph> graph, std::vector<ir::Value> feeds, std::vector<ir::Value> fetches,
             std::vector<ir::Op*> updates, std::optional<int64_t> steps);

  const std::shared_ptr<Graph>& graph() const { return graph_; }
  const std::vector<ir::Value>& feeds() const { return feeds_; }
  const std::vector<ir::Value>& fetches() const { return fetches_; }
  const std::vector<ir::Op*>& updates() const { return updates_; }
  // The step for feeds of these static shapes; compiles it if necessary. Throws ir::Error if the shapes do not fit.
  std::shared_ptr<Compiled> specialize(const std::vector<ir::Shape>& shapes);
  // The same, but null if it is not compiled.
  std::shared_ptr<Compiled> find(const std::vector<ir::Shape>& shapes);
  // Runs a step of this executable (Compiled::run), or starts it. Runs of a graph come one after the other in the order
  // of the calls, whatever queues they are on, and after the runs whose results they are fed. Throws ir::Error for a
  // queue or a result on another device.
  void run(const std::shared_ptr<Compiled>& step, const FeedBytes* feeds, void* const* results);
  std::shared_ptr<Submission> submit(const std::shared_ptr<Compiled>& step, const FeedBytes* feeds,
                                     const Order& order = {});
  // Runs the step `runs` times and returns the times of the kernels; nothing if the framework does not measure them.
  // Calls `between` before each run; it may throw to stop.
  std::optional<std::vector<KernelTime>> profile(const std::shared_ptr<Compiled>& step, const FeedBytes* feeds,
                                                 void* const* results, int runs, const std::function<void()>& between);
  // Writes the step to a file for Package, with the values that its variables have between two runs. `shapes` are the
  // feeds' shapes, which may be open; if empty, the placeholders' shapes. Throws ir::Error if an op needs a shape that
  // is open or a shape does not fit, and DeviceError if the file cannot be written.
  void write(const std::string& path, const std::vector<ir::Shape>& shapes);
  // Drops the compiled steps; the graph calls this when they are no longer current.
  void drop_steps();

 private:
  using Shapes = std::vector<ir::Shape>;

  ir::Shape of_one_step(const ir::Value& feed, const ir::Shape& shape) const;
  std::vector<const Pending*> pending_of(const FeedBytes* feeds) const;
  // Waits until pending feeds are computed; throws what reading them would throw.
  void wait_for_pending(const FeedBytes* feeds) const;
  std::shared_ptr<Compiled> compiled(const Shapes& shapes);
  std::shared_ptr<Compiled> next(const std::shared_ptr<Compiled>& step);  // compiled again if not current

  std::shared_ptr<Graph> graph_;
  std::vector<ir::Value> feeds_, fetches_;
  std::vector<ir::Op*> updates_;
  const std::optional<int64_t> together_;
  std::mutex choosing_;                         // held briefly; guards the next member, as the graph's lock does
  std::list<std::shared_ptr<Compiled>> steps_;  // the most recent first
  std::weak_ptr<Compiled> latest_;              // the last step that ran; it holds arrays
  std::map<std::vector<ir::Dims>, std::shared_ptr<const Lowered>> lowered_;  // by the feeds' shapes
  std::map<std::vector<ir::Dims>, Reason> gone_;  // shapes compiled before, and why their step was dropped
  Alive alive_;
};

}  // namespace alloy::engine
