// Wishes for a compilation.

#include "facade/graph/descriptor_parts.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

struct CompilationParts {
  MPSGraphOptimization level = MPSGraphOptimizationLevel1;
  MPSGraphOptimizationProfile profile = MPSGraphOptimizationProfilePerformance;
  bool wait_for_completion = false;
  AtomicProperty completion_handler;
  AtomicProperty dispatch_queue;
  AtomicProperty callables;
};

CompilationParts& parts_of(MPSGraphCompilationDescriptor* descriptor) {
  return *static_cast<CompilationParts*>(descriptor->_impl);
}

}  // namespace

@implementation MPSGraphCompilationDescriptor

- (instancetype)init {
  if ((self = [super init])) _impl = new CompilationParts;
  return self;
}

- (void)dealloc {
  delete static_cast<CompilationParts*>(_impl);
  [super dealloc];
}

- (id)copyWithZone:(NSZone*)zone {
  MPSGraphCompilationDescriptor* copy = [[[self class] allocWithZone:zone] init];
  [copy setOptimizationLevel:[self optimizationLevel]];
  [copy setOptimizationProfile:[self optimizationProfile]];
  [copy setWaitForCompilationCompletion:[self waitForCompilationCompletion]];
  [copy setCompilationCompletionHandler:[self compilationCompletionHandler]];
  [copy setDispatchQueue:[self dispatchQueue]];
  [copy setCallables:[self callables]];
  return copy;
}

// Types are always known here once the operands are, so there is nothing to disable.
- (void)disableTypeInference {
}

- (MPSGraphOptimization)optimizationLevel {
  return parts_of(self).level;
}

- (void)setOptimizationLevel:(MPSGraphOptimization)optimizationLevel {
  parts_of(self).level = optimizationLevel;
}

- (MPSGraphOptimizationProfile)optimizationProfile {
  return parts_of(self).profile;
}

- (void)setOptimizationProfile:(MPSGraphOptimizationProfile)optimizationProfile {
  parts_of(self).profile = optimizationProfile;
}

- (BOOL)waitForCompilationCompletion {
  return parts_of(self).wait_for_completion;
}

- (void)setWaitForCompilationCompletion:(BOOL)waitForCompilationCompletion {
  parts_of(self).wait_for_completion = waitForCompilationCompletion;
}

- (MPSGraphCompilationCompletionHandler)compilationCompletionHandler {
  return (MPSGraphCompilationCompletionHandler)parts_of(self).completion_handler.get();
}

- (void)setCompilationCompletionHandler:(MPSGraphCompilationCompletionHandler)compilationCompletionHandler {
  require_block_or_nil((id)compilationCompletionHandler);
  keep_handler(parts_of(self).completion_handler, (id)compilationCompletionHandler, @"setCompilationCompletionHandler");
}

- (dispatch_queue_t)dispatchQueue {
  return static_cast<dispatch_queue_t>(parts_of(self).dispatch_queue.get());
}

- (void)setDispatchQueue:(dispatch_queue_t)dispatchQueue {
  parts_of(self).dispatch_queue.set([dispatchQueue retain]);
}

- (MPSGraphCallableMap*)callables {
  return static_cast<MPSGraphCallableMap*>(parts_of(self).callables.get());
}

- (void)setCallables:(MPSGraphCallableMap*)callables {
  require_kind_or_nil(callables, [NSDictionary class]);
  require_elements([callables allKeys], [NSString class]);
  require_elements([callables allValues], [MPSGraphExecutable class]);
  parts_of(self).callables.set([callables copy]);
}

@end
