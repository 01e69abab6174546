#import "engine/running/run.h"

#include <chrono>
#include <thread>

#import "engine/device.h"
#include "engine/interruption.h"
#import "engine/running/host_calls.h"

namespace alloy::engine {
namespace {

// How long an interrupted run may take to end before it is left behind; Ctrl-C must not wait longer.
constexpr std::chrono::milliseconds kPatience{500};

NSMutableArray* nulls(NSUInteger count) {
  NSMutableArray* array = [NSMutableArray arrayWithCapacity:count];
  for (NSUInteger i = 0; i < count; ++i) [array addObject:[NSNull null]];
  return array;
}

}  // namespace

std::unique_ptr<Run> Run::make(std::shared_ptr<const Positions> given) {
  const Positions& of = *given;
  std::unique_ptr<Run> made(new Run(std::move(given)));
  made->inputs_ = Ref<NSMutableArray*>::retain(nulls(of.input_count));
  made->outputs_ = Ref<NSMutableArray*>::retain(nulls(of.output_count));
  for (const Positions::Position& position : of.feeds) {
    FeedSlot feed = FeedSlot::make(of.device.get(), position.type, position.at);
    made->feeds_.push_back(std::move(feed));
  }
  for (const Positions::Position& position : of.results) {
    Array array = Array::make(of.device.get(), position.type);
    [made->outputs_.get() replaceObjectAtIndex:position.at withObject:array.data()];
    made->results_.push_back(std::move(array));
  }
  made->descriptor_ =
      Ref<MPSGraphExecutableExecutionDescriptor*>::adopt([[MPSGraphExecutableExecutionDescriptor alloc] init]);
  // The caller keeps the run until it is over. Apple's header does not say that the block is copied.
  Run* run = made.get();
  made->ended_by_ = Ref<MPSGraphExecutableCompletionHandler>::adopt([^(NSArray<MPSGraphTensorData*>*, NSError* error) {
    run->end(error);
  } copy]);
  [made->descriptor_.get() setCompletionHandler:made->ended_by_.get()];
  return made;
}

void Run::pass(const Passed& passed) {
  for (const auto& [at, value] : positions_->entering) {
    [inputs_.get() replaceObjectAtIndex:at withObject:passed.data(value)];
  }
  for (const auto& [at, value] : positions_->leaving) {
    [outputs_.get() replaceObjectAtIndex:at withObject:passed.data(value)];
  }
}

// A new descriptor for each run, because events cannot be removed from a descriptor.
Ref<MPSGraphExecutableExecutionDescriptor*> Run::ordered(const Ordering& ordering) const {
  auto made = Ref<MPSGraphExecutableExecutionDescriptor*>::adopt([[MPSGraphExecutableExecutionDescriptor alloc] init]);
  [made.get() setCompletionHandler:ended_by_.get()];
  for (const auto& [event, value] : ordering.waits) [made.get() waitForEvent:event.get() value:value];
  for (const auto& [event, value] : ordering.signals) {
    [made.get() signalEvent:event.get() atExecutionEvent:MPSGraphExecutionStageCompleted value:value];
  }
  return made;
}

void Run::start(MPSGraphExecutable* executable, id<MTLCommandQueue> on, const FeedBytes* feeds, bool waits,
                const Ordering* ordering, bool keeps_feeds) {
  // Drops the user's memory even if the framework refuses the run.
  struct Refused {
    Run* run;
    ~Refused() {
      if (run == nullptr) return;
      run->is_over_ = true;
      run->producers_.clear();
      for (FeedSlot& feed : run->feeds_) feed.leave(run->inputs_.get());
    }
  } refused{this};
  for (size_t i = 0; i < feeds_.size(); ++i)
    feeds_[i].enter(inputs_.get(), feeds[positions_->feeds[i].index], waits || keeps_feeds);
  for (const auto& [at, variable] : positions_->read) {
    [inputs_.get() replaceObjectAtIndex:at withObject:variable->value().data()];
  }
  for (const auto& [at, variable] : positions_->written) {
    [outputs_.get() replaceObjectAtIndex:at withObject:variable->next().data()];
  }
  if (executable_.get() != executable) executable_ = Ref<MPSGraphExecutable*>::retain(executable);
  failure_.clear();
  behind_.clear();
  lacks_memory_ = false;
  is_told_ = false;
  has_landed_.store(false, std::memory_order_relaxed);
  is_over_.store(false, std::memory_order_relaxed);
  MPSGraphExecutableExecutionDescriptor* descriptor = descriptor_.get();
  Ref<MPSGraphExecutableExecutionDescriptor*> own;
  if (ordering != nullptr) {
    producers_ = ordering->producers;
    if (!ordering->waits.empty() || !ordering->signals.empty()) {
      own = ordered(*ordering);
      descriptor = own.get();
    }
  }
  [descriptor setWaitUntilCompleted:waits ? YES : NO];
  [executable runAsyncWithMTLCommandQueue:on
                              inputsArray:inputs_.get()
                             resultsArray:outputs_.get()
                      executionDescriptor:descriptor];
  refused.run = nullptr;
}

// Runs on a thread of the framework's choice.
void Run::end(NSError* error) {
  if (error != nil) {
    NSString* text = [error localizedDescription];
    failure_ = text == nil ? "no reason was given" : [text UTF8String];
    lacks_memory_ = [[error domain] isEqualToString:MTLCommandBufferErrorDomain] &&
                    [error code] == MTLCommandBufferErrorOutOfMemory;
    is_told_ = [[error domain] isEqualToString:MTLCommandBufferErrorDomain] &&
               [error code] == MTLCommandBufferErrorTimeout &&
               [static_cast<NSObject*>(executable_.get()) respondsToSelector:@selector(alloyInterrupt)];
  }
  std::vector<std::function<void()>> told;
  {
    std::lock_guard lock(ending_);
    is_over_.store(true, std::memory_order_release);
    told.swap(told_);
    ended_.notify_all();
  }  // now the run may be destroyed
  for (const auto& tell : told) tell();
}

void Run::wait(const std::function<void()>& interrupted) const {
  std::unique_lock lock(ending_);
  while (!ended_.wait_for(lock, kAskInterval, [this] { return is_over(); })) {
    lock.unlock();
    ask_for_interruption(interrupted);
    lock.lock();
  }
}

void Run::join() const {
  std::unique_lock lock(ending_);
  ended_.wait(lock, [this] { return is_over(); });
}

void Run::interrupt() const {
  NSObject* executable = executable_.get();
  if (![executable respondsToSelector:@selector(alloyInterrupt)]) return;
  // Between two runs, none is in progress for a moment; if it lasts longer, the runs wait for something else.
  int idle = 0;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!is_over() && idle < 20 && std::chrono::steady_clock::now() < end) {
    idle = [static_cast<id<AlloyExecutableDiagnostics>>(executable) alloyInterrupt] ? 0 : idle + 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Run::when_over(std::function<void()> tell) {
  {
    std::lock_guard lock(ending_);
    if (!is_over()) return told_.push_back(std::move(tell));
  }
  tell();
}

void Run::fail_behind(const std::string& failure, bool is_told) {
  if (!this->failure().empty()) return;
  behind_ = failure;
  is_told_ = is_told;
}

void Run::land() {
  for (FeedSlot& feed : feeds_) feed.leave(inputs_.get());
  producers_.clear();
  has_landed_.store(true, std::memory_order_release);
  if (!failure().empty()) return;
  for (const auto& [at, variable] : positions_->written) variable->swap();
}

void Run::read(void* const* results) const {
  for (size_t i = 0; i < results_.size(); ++i) {
    const size_t index = positions_->results[i].index;
    if (index != Positions::kNobody) results_[i].read(results[index]);
  }
}

MPSGraphTensorData* Run::result(size_t index) const {
  size_t i = 0;
  while (positions_->results.at(i).index != index) ++i;
  return results_[i].data();
}

}  // namespace alloy::engine
