// Stands between the engine and MPSGraphExecutable by exchanging the method's implementation.
#import "watch/watch.h"

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>
#import <objc/runtime.h>

namespace alloy::test {
namespace {

using Run = NSArray* (*)(id, SEL, id, NSArray*, NSArray*, id);

struct {
  Run original;
  size_t runs, aliased;
  bool fails;
} state;

Method method() {
  SEL run = @selector(runWithMTLCommandQueue:inputsArray:resultsArray:executionDescriptor:);
  return class_getInstanceMethod([MPSGraphExecutable class], run);
}

NSArray* watched(id self, SEL selector, id queue, NSArray* inputs, NSArray* results, id descriptor) {
  ++state.runs;
  NSMutableSet* fed = [NSMutableSet set];
  for (MPSGraphTensorData* data in inputs) [fed addObject:[NSValue valueWithPointer:[data mpsndarray]]];
  bool found = false;
  for (MPSGraphTensorData* data in results)
    found = found || [fed containsObject:[NSValue valueWithPointer:[data mpsndarray]]];
  state.aliased += found;
  NSArray* made = state.original(self, selector, queue, inputs, results, descriptor);
  if (state.fails) {
    state.fails = false;
    [NSException raise:NSGenericException format:@"The device was lost."];
  }
  return made;
}

}  // namespace

Watch::Watch() {
  const IMP replaced = method_setImplementation(method(), reinterpret_cast<IMP>(watched));
  state = {reinterpret_cast<Run>(replaced), 0, 0, false};
}
Watch::~Watch() { method_setImplementation(method(), reinterpret_cast<IMP>(state.original)); }

size_t Watch::runs() const { return state.runs; }
size_t Watch::aliased() const { return state.aliased; }
void Watch::fail_next() { state.fails = true; }

}  // namespace alloy::test
