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
    size_t index;   // in what a run is given; kNobody: nobody asked for it
    NSUInteger at;  // in the inputs or outputs of the framework's executable
  };
  static constexpr size_t kNobody = static_cast<size_t>(-1);

  Ref<id<MTLDevice>> device = {};
  NSUInteger input_count = 0, output_count = 0;
  std::vector<Place> feeds = {}, results = {};
  std::vector<std::pair<NSUInteger, Buffers*>> read = {}, written = {};  // variables of VariableStorage::kBuffers
};

// Used again and again, for one run at a time: from start() until what it gave has been read.
class Run {
 public:
  // On the device. Whoever starts it keeps it, and the graph whose variables it writes, until it is over.
  static std::shared_ptr<Run> make(std::shared_ptr<const Places> places);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Hands the run over to the queue: `waits` says whether to return only at its end. Feeds that begin at a page are
  // lent, others are copied; those of nobody (FeedBytes) are lent only to a run that waits. On the device; throws what
  // on_device does, and then nothing runs.
  void start(MPSGraphExecutable* executable, id<MTLCommandQueue> queue, const FeedBytes* feeds, bool waits);
  bool is_over() const { return is_over_.load(std::memory_order_acquire); }
  // Blocks until it is. Any thread may.
  void wait() const;

  // After its end, once: lets go of lent memory, and, if the run succeeded, gives the variables of
  // VariableStorage::kBuffers their new values.
  void land();
  bool has_landed() const { return has_landed_; }
  // The failure of a run before it, by which what this one computed is worthless.
  void fail_behind(const std::string& failure) { behind_ = failure; }
  // After landing: why it failed, or empty; and whether it was that memory lacks.
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
