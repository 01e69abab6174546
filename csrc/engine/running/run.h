// One run of an executable: the arrays that it reads and writes, and its outcome. Private to the engine.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#import "engine/running/array.h"

namespace alloy::engine {

class Graph;
class Passed;
class Run;

// The positions of a run's arrays in a compiled executable.
struct Positions {
  struct Position {
    ir::Type type;
    size_t index;   // of the feed or fetch in the step; kNobody if nobody asked for it
    NSUInteger at;  // in the inputs or outputs of the framework's executable
  };
  static constexpr size_t kNobody = static_cast<size_t>(-1);

  Ref<id<MTLDevice>> device = {};
  NSUInteger input_count = 0, output_count = 0;
  std::vector<Position> feeds = {}, results = {};
  std::vector<std::pair<NSUInteger, Buffers*>> read = {}, written = {};    // for VariableStorage::kBuffers
  std::vector<std::pair<NSUInteger, size_t>> entering = {}, leaving = {};  // values that pass between parts of the step
};

// The events that a run waits for, and that it signals at its end, besides its turn in a queue.
struct Ordering {
  using Moments = std::vector<std::pair<Ref<id<MTLSharedEvent>>, uint64_t>>;
  // A run whose result is fed to this one, and its graph if it still exists.
  struct Producer {
    std::weak_ptr<Graph> graph;
    std::shared_ptr<Run> run;
  };

  Ref<id<MTLCommandQueue>> queue = {};  // nil: the graph's own
  Moments waits = {}, signals = {};
  std::vector<Producer> producers = {};
  bool takes_turns = true;  // waits while the graph has its maximum of runs in flight

  bool is_plain() const { return queue.get() == nil && waits.empty() && signals.empty(); }
};

// Used for one run after another. A run lasts from start() until its results have been read.
class Run {
 public:
  // Must run inside on_device. The caller who starts a run must keep it, and the graph whose variables it writes, until
  // wait() returns.
  static std::unique_ptr<Run> make(std::shared_ptr<const Positions> positions);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Before the start of a part of a step: sets the values of other parts.
  void pass(const Passed& passed);
  // Hands the run to the queue; if `waits`, returns at its end. Feeds for which can_be_lent() is true are lent, others
  // are copied. Feeds without an owner (FeedBytes) are lent only if `waits`, or if the caller keeps them until the end.
  // Must run inside on_device. Throws what on_device throws; then nothing runs.
  void start(MPSGraphExecutable* executable, id<MTLCommandQueue> queue, const FeedBytes* feeds, bool waits,
             const Ordering* ordering = nullptr, bool keeps_feeds = false);
  bool is_over() const { return is_over_.load(std::memory_order_acquire); }
  // Blocks until the run is over and the framework's thread has left it. If the wait is interrupted, calls
  // `interrupted` and throws the interruption's exception. Any thread may call this.
  void wait(const std::function<void()>& interrupted = nullptr) const;
  // Calls `tell` once when the run is over: now, or later on the framework's thread.
  void when_over(std::function<void()> tell);

  // Call this once, after the end: drops lent memory and, if the run succeeded, gives the variables of
  // VariableStorage::kBuffers their new values.
  void land();
  bool has_landed() const { return has_landed_.load(std::memory_order_acquire); }
  // Notes that an earlier run failed, which makes the results of this one wrong. Only the first call counts.
  void fail_behind(const std::string& failure, bool is_told = false);
  // Ends this run and earlier ones of its graph, if the device can do that; waits a moment for it.
  void interrupt() const;
  // Blocks until the run is over; the wait cannot be interrupted.
  void join() const;
  // True if it failed because of an interruption, and the waiting caller knows that.
  bool is_told() const { return is_told_; }
  // After landing: the reason of a failure, or empty; and if memory was short.
  const std::string& failure() const { return failure_.empty() ? behind_ : failure_; }
  bool lacks_memory() const { return lacks_memory_; }
  // Copies the results out, packed row-major, in the order of `results`.
  void read(void* const* results) const;
  // The tensor data of that result.
  MPSGraphTensorData* result(size_t index) const;

  const std::vector<Ordering::Producer>& producers() const { return producers_; }
  // The number among the graph's submissions, from 1 on, and the run's queue. Guarded by Graph::Impl::landing.
  uint64_t number = 0;
  Ref<id<MTLCommandQueue>> queue = {};
  // True if the run does not only depend on its graph's own queue.
  bool is_apart = false;

 private:
  explicit Run(std::shared_ptr<const Positions> positions) : positions_(std::move(positions)) {}
  Ref<MPSGraphExecutableExecutionDescriptor*> ordered(const Ordering& ordering) const;
  void end(NSError* error);

  const std::shared_ptr<const Positions> positions_;
  Ref<NSMutableArray*> inputs_ = {}, outputs_ = {};
  Ref<MPSGraphExecutableCompletionHandler> ended_by_ = {};
  Ref<MPSGraphExecutableExecutionDescriptor*> descriptor_ = {};
  Ref<MPSGraphExecutable*> executable_ = {};
  std::vector<FeedSlot> feeds_ = {};
  std::vector<Array> results_ = {};
  std::vector<Ordering::Producer> producers_ = {};
  std::atomic<bool> is_over_{true};
  std::string failure_ = {}, behind_ = {};
  bool lacks_memory_ = false, is_told_ = false;
  std::atomic<bool> has_landed_{true};
  mutable std::mutex ending_;
  mutable std::condition_variable ended_;
  std::vector<std::function<void()>> told_ = {};
};

}  // namespace alloy::engine
