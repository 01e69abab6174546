// Options for a compilation.

#include "facade/graph/descriptor_parts.h"
#include "facade/graph/running.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

struct CompilationParts {
  MPSGraphOptimization level = MPSGraphOptimizationLevel1;
  MPSGraphOptimizationProfile profile = MPSGraphOptimizationProfilePerformance;
  MPSGraphReducedPrecisionFastMath fast_math = MPSGraphReducedPrecisionFastMathDefault;
  bool wait_for_completion = false;
  AtomicProperty completion_handler;
  AtomicProperty dispatch_queue;
  AtomicProperty callables;
  std::mutex mutex;               // guards the following
  runtime::CallablesRef callees;  // of the callables; programs are found by this object, so there is one
};

CompilationParts& parts_of(MPSGraphCompilationDescriptor* descriptor) {
  return *static_cast<CompilationParts*>(descriptor->_impl);
}

runtime::CallablesRef callees_of(MPSGraphCallableMap* callables) {
  if ([callables count] == 0) return nullptr;
  auto callees = std::make_shared<runtime::Callables>();
  for (NSString* symbol in callables) {
    const char* name = [symbol UTF8String];
    if (name) callees->emplace(name, callee_of([callables objectForKey:symbol]));
  }
  return callees;
}

}  // namespace

namespace alloy::facade {

runtime::CallablesRef callables_of(MPSGraphCompilationDescriptor* descriptor) {
  if (!descriptor) return nullptr;
  require_kind(descriptor, [MPSGraphCompilationDescriptor class]);
  std::lock_guard lock(parts_of(descriptor).mutex);
  return parts_of(descriptor).callees;
}

std::string precision_of(MPSGraphCompilationDescriptor* descriptor) {
  if (!descriptor) return {};
  const auto allowed = parts_of(descriptor).fast_math;
  return allowed & MPSGraphReducedPrecisionFastMathAllowConvertingOperandsFromFP32ToFP19 ? "tf32" : "";
}

}  // namespace alloy::facade

@implementation MPSGraphCompilationDescriptor

FIELDS_LIFE(CompilationParts, {})

- (id)copyWithZone:(NSZone*)zone {
  MPSGraphCompilationDescriptor* copy = [[[self class] allocWithZone:zone] init];
  [copy setOptimizationLevel:[self optimizationLevel]];
  [copy setOptimizationProfile:[self optimizationProfile]];
  [copy setWaitForCompilationCompletion:[self waitForCompilationCompletion]];
  [copy setCompilationCompletionHandler:[self compilationCompletionHandler]];
  [copy setDispatchQueue:[self dispatchQueue]];
  parts_of(copy).fast_math = parts_of(self).fast_math;
  parts_of(copy).callables.set([parts_of(self).callables.get() retain]);  // some systems lack the getter
  parts_of(copy).callees = callables_of(self);
  return copy;
}

// Types are always inferred once the operands' types are known, so there is nothing to disable.
- (void)disableTypeInference {
}

PROPERTY(MPSGraphOptimization, optimizationLevel, setOptimizationLevel, parts_of(self).level)
PROPERTY(MPSGraphOptimizationProfile, optimizationProfile, setOptimizationProfile, parts_of(self).profile)
PROPERTY(MPSGraphReducedPrecisionFastMath, reducedPrecisionFastMath, setReducedPrecisionFastMath,
         parts_of(self).fast_math)
PROPERTY(BOOL, waitForCompilationCompletion, setWaitForCompilationCompletion, parts_of(self).wait_for_completion)

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
  if (dispatchQueue) require_dispatch_queue(dispatchQueue);
  parts_of(self).dispatch_queue.set([dispatchQueue retain]);
}

- (MPSGraphCallableMap*)callables {
  return static_cast<MPSGraphCallableMap*>(parts_of(self).callables.get());
}

- (void)setCallables:(MPSGraphCallableMap*)callables {
  require_kind_or_nil(callables, [NSDictionary class]);
  require_elements([callables allKeys], [NSString class]);
  require_elements([callables allValues], [MPSGraphExecutable class]);
  runtime::CallablesRef callees = callees_of(callables);
  parts_of(self).callables.set([callables copy]);
  std::lock_guard lock(parts_of(self).mutex);
  parts_of(self).callees.swap(callees);
}

@end
