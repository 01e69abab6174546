#import "engine/run.h"

namespace alloy::engine {
namespace {

NSMutableArray* nulls(NSUInteger count) {
  NSMutableArray* array = [NSMutableArray arrayWithCapacity:count];
  for (NSUInteger i = 0; i < count; ++i) [array addObject:[NSNull null]];
  return array;
}

}  // namespace

std::shared_ptr<Run> Run::make(std::shared_ptr<const Places> given) {
  const Places& of = *given;
  std::shared_ptr<Run> made(new Run(std::move(given)));
  made->inputs_ = Ref<NSMutableArray*>::retain(nulls(of.input_count));
  made->outputs_ = Ref<NSMutableArray*>::retain(nulls(of.output_count));
  for (const Places::Place& place : of.feeds) {
    FeedSlot feed = FeedSlot::make(of.device.get(), place.type, place.at);
    made->feeds_.push_back(std::move(feed));
  }
  for (const Places::Place& place : of.results) {
    Array array = Array::make(of.device.get(), place.type);
    [made->outputs_.get() replaceObjectAtIndex:place.at withObject:array.data()];
    made->results_.push_back(std::move(array));
  }
  made->descriptor_ =
      Ref<MPSGraphExecutableExecutionDescriptor*>::adopt([[MPSGraphExecutableExecutionDescriptor alloc] init]);
  // The caller who started the run keeps it until it is over.
  Run* run = made.get();
  [made->descriptor_.get() setCompletionHandler:^(NSArray<MPSGraphTensorData*>*, NSError* error) {
    run->end(error);
  }];
  return made;
}

void Run::start(MPSGraphExecutable* executable, id<MTLCommandQueue> queue, const FeedBytes* feeds, bool waits) {
  // Lets go of the user's memory also where the framework refuses the run.
  struct Refused {
    Run* run;
    ~Refused() {
      if (run == nullptr) return;
      run->is_over_ = true;
      for (FeedSlot& feed : run->feeds_) feed.leave(run->inputs_.get());
    }
  } refused{this};
  for (size_t i = 0; i < feeds_.size(); ++i) feeds_[i].enter(inputs_.get(), feeds[places_->feeds[i].index], waits);
  for (const auto& [at, variable] : places_->read) {
    [inputs_.get() replaceObjectAtIndex:at withObject:variable->value().data()];
  }
  for (const auto& [at, variable] : places_->written) {
    [outputs_.get() replaceObjectAtIndex:at withObject:variable->next().data()];
  }
  if (executable_.get() != executable) executable_ = Ref<MPSGraphExecutable*>::retain(executable);
  failure_.clear();
  behind_.clear();
  lacks_memory_ = has_landed_ = false;
  is_over_ = false;
  [descriptor_.get() setWaitUntilCompleted:waits ? YES : NO];
  [executable runAsyncWithMTLCommandQueue:queue
                              inputsArray:inputs_.get()
                             resultsArray:outputs_.get()
                      executionDescriptor:descriptor_.get()];
  refused.run = nullptr;
}

// On a thread of the framework's choice.
void Run::end(NSError* error) {
  if (error != nil) {
    NSString* text = [error localizedDescription];
    failure_ = text == nil ? "no reason was given" : [text UTF8String];
    lacks_memory_ = [[error domain] isEqualToString:MTLCommandBufferErrorDomain] &&
                    [error code] == MTLCommandBufferErrorOutOfMemory;
  }
  is_over_.store(true, std::memory_order_release);
  is_over_.notify_all();
}

void Run::wait() const { is_over_.wait(false, std::memory_order_acquire); }

void Run::land() {
  for (FeedSlot& feed : feeds_) feed.leave(inputs_.get());
  has_landed_ = true;
  if (!failure().empty()) return;
  for (const auto& [at, variable] : places_->written) variable->swap();
}

void Run::read(void* const* results) const {
  for (size_t i = 0; i < results_.size(); ++i) {
    const size_t index = places_->results[i].index;
    if (index != Places::kNobody) results_[i].read(results[index]);
  }
}

}  // namespace alloy::engine
