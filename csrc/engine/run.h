// One run of an executable: the arrays that it reads and writes, and how it ended. Private to the engine.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#import "engine/array.h"

namespace alloy::engine {

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
  std::vector<std::pair<NSUInteger, Buffers*>> read = {}, written = {};  // variables of VariableStorage::kBuffers
};

// Reused for one run after another: a run lasts from start() until its results have been read.
class Run {
 public:
  // On the device. The caller who starts it must keep it, and the graph whose variables it writes, until it is over.
  static std::shared_ptr<Run> make(std::shared_ptr<const Places> places);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Hands the run to the queue; `waits`: returns only at its end. Feeds for which can_be_lent() holds are lent, others
  // are copied. Feeds without an owner (FeedBytes) are lent only to a run that waits. On the device; throws what
  // on_device throws, and then nothing runs.
  void start(MPSGraphExecutable* executable, id<MTLCommandQueue> queue, const FeedBytes* feeds, bool waits);
  bool is_over() const { return is_over_.load(std::memory_order_acquire); }
  // Blocks until it is. Any thread may call it.
  void wait() const;

  // Call it once, after the end: drops lent memory and, if the run succeeded, gives the variables of
  // VariableStorage::kBuffers their new values.
  void land();
  bool has_landed() const { return has_landed_; }
  // Says that a run before this one failed, which makes the results of this one wrong.
  void fail_behind(const std::string& failure) { behind_ = failure; }
  // After landing: why it failed, or empty; and whether memory was short.
  const std::string& failure() const { return failure_.empty() ? behind_ : failure_; }
  bool lacks_memory() const { return lacks_memory_; }
  // Copies the results out, packed row-major, in the order of `results`.
  void read(void* const* results) const;

 private:
  explicit Run(std::shared_ptr<const Places> places) : places_(std::move(places)) {}
  void end(NSError* error);

  const std::shared_ptr<const Places> places_;
  Ref<NSMutableArray*> inputs_ = {}, outputs_ = {};
  Ref<MPSGraphExecutableExecutionDescriptor*> descriptor_ = {};
  Ref<MPSGraphExecutable*> executable_ = {};
  std::vector<FeedSlot> feeds_ = {};
  std::vector<Array> results_ = {};
  std::atomic<bool> is_over_{true};
  std::string failure_ = {}, behind_ = {};
  bool lacks_memory_ = false, has_landed_ = true;
};

}  // namespace alloy::engine
