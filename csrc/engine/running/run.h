// One run of an executable: the arrays that it reads and writes, and how it ended. Private to the engine.
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

// Where the arrays of a run go: what an executable was compiled to.
struct Places {
  struct Place {
    ir::Type type;
    size_t index;   // in what a run is given; kNobody: not asked for
    NSUInteger at;  // in the inputs or outputs of the framework's executable
  };
  static constexpr size_t kNobody = static_cast<size_t>(-1);

  Ref<id<MTLDevice>> device = {};
  NSUInteger input_count = 0, output_count = 0;
  std::vector<Place> feeds = {}, results = {};
  std::vector<std::pair<NSUInteger, Buffers*>> read = {}, written = {};    // variables of VariableStorage::kBuffers
  std::vector<std::pair<NSUInteger, size_t>> entering = {}, leaving = {};  // values of other parts of the step
};

// What a run waits for and what it signals at its end, besides its place in a queue.
struct Ordering {
  using Moments = std::vector<std::pair<Ref<id<MTLSharedEvent>>, uint64_t>>;
  // A run whose result is fed, and its graph, unless that is gone.
  struct Producer {
    std::weak_ptr<Graph> graph;
    std::shared_ptr<Run> run;
  };

  Ref<id<MTLCommandQueue>> queue = {};  // nil: the graph's own
  Moments waits = {}, signals = {};
  std::vector<Producer> producers = {};
  bool takes_turns = true;  // waits while the graph has as many runs in flight as it allows

  bool is_plain() const { return queue.get() == nil && waits.empty() && signals.empty(); }
};

// Reused for one run after another: a run lasts from start() until its results have been read.
class Run {
 public:
  // On the device. The caller who starts it must keep it, and the graph whose variables it writes, until wait()
  // returns.
  static std::shared_ptr<Run> make(std::shared_ptr<const Places> places);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Before the start of a part of a step: where the values of other parts are.
  void pass(const Passed& passed);
  // Hands the run to the queue; `waits`: returns only at its end. Feeds for which
  // can_be_lent() holds are lent, others are copied. Feeds without an owner (FeedBytes) are lent only to a run that
  // waits. On the device; throws what on_device throws, and then nothing runs.
  void start(MPSGraphExecutable* executable, id<MTLCommandQueue> queue, const FeedBytes* feeds, bool waits,
             const Ordering* ordering = nullptr);
  bool is_over() const { return is_over_.load(std::memory_order_acquire); }
  // Blocks until it is, and until the framework's thread has let go of it, or throws what an interruption throws after
  // a call of `interrupted`. Any thread may call it.
  void wait(const std::function<void()>& interrupted = nullptr) const;
  // Calls `tell` once when it is: now, or on the framework's thread.
  void when_over(std::function<void()> tell);

  // Call it once, after the end: drops lent memory and, if the run succeeded, gives the variables of
  // VariableStorage::kBuffers their new values.
  void land();
  bool has_landed() const { return has_landed_.load(std::memory_order_acquire); }
  // Says that a run before this one failed, which makes the results of this one wrong. The first to say it counts.
  void fail_behind(const std::string& failure, bool is_told = false);
  // Ends it and those of its graph before it, where the device can be asked to; waits a moment for that.
  void interrupt() const;
  // True if it failed because of an interruption, of which whoever waited was told.
  bool is_told() const { return is_told_; }
  // After landing: why it failed, or empty; and whether memory was short.
  const std::string& failure() const { return failure_.empty() ? behind_ : failure_; }
  bool lacks_memory() const { return lacks_memory_; }
  // Copies the results out, packed row-major, in the order of `results`.
  void read(void* const* results) const;
  // The tensor data of that result.
  MPSGraphTensorData* result(size_t index) const;

  const std::vector<Ordering::Producer>& producers() const { return producers_; }
  // Among the submissions of its graph, from 1 on, and the queue that has it: guarded by the graph's landing.
  uint64_t number = 0;
  Ref<id<MTLCommandQueue>> queue = {};
  // True if something else than its graph's own queue decides when it is over.
  bool is_apart = false;

 private:
  explicit Run(std::shared_ptr<const Places> places) : places_(std::move(places)) {}
  Ref<MPSGraphExecutableExecutionDescriptor*> ordered(const Ordering& ordering) const;
  void end(NSError* error);

  const std::shared_ptr<const Places> places_;
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
