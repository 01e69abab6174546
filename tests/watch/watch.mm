// Watches by exchanging implementations of the framework's methods.
#import "watch/watch.h"

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>
#import <objc/runtime.h>

#include <optional>
#include <utility>

#include "ir/quirks.h"

static size_t g_left = 0;

@interface AlloyLeft : NSObject
@end
@implementation AlloyLeft
- (instancetype)init {
  if ((self = [super init])) ++g_left;
  return self;
}

- (void)dealloc {
  --g_left;
  [super dealloc];
}
@end

namespace alloy::test {
namespace {

// Exchanges a method's implementation while it lives.
class Exchanged {
 public:
  Exchanged(Class of, SEL selector, void* by)
      : method_(class_getInstanceMethod(of, selector)),
        original_(method_setImplementation(method_, reinterpret_cast<IMP>(by))) {}
  ~Exchanged() { method_setImplementation(method_, original_); }
  Exchanged(const Exchanged&) = delete;
  Exchanged& operator=(const Exchanged&) = delete;

  template <class Result, class... Arguments>
  Result call(id self, SEL selector, Arguments... arguments) const {
    return reinterpret_cast<Result (*)(id, SEL, Arguments...)>(original_)(self, selector, arguments...);
  }

 private:
  Method method_;
  IMP original_;
};

const Exchanged *g_run, *g_identity, *g_compile, *g_feeds, *g_targets, *g_lstm, *g_lend;

struct {
  size_t runs, aliased, copies, compilations, at_once, without_targets, lent, cells;
  bool fails, aborts, tells_late;
  void (^late)();            // of a run whose handler has not been called yet
  id<MTLSharedEvent> event;  // nil: no run is delayed
  std::optional<Watch::Lie> lie;
} state;

NSError* loss() {
  NSDictionary* words = [NSDictionary dictionaryWithObject:@"The device was lost." forKey:NSLocalizedDescriptionKey];
  return [NSError errorWithDomain:MTLCommandBufferErrorDomain code:MTLCommandBufferErrorInternal userInfo:words];
}

NSArray* run(id self, SEL selector, id queue, NSArray* inputs, NSArray* results,
             MPSGraphExecutableExecutionDescriptor* descriptor) {
  ++state.runs;
  NSMutableSet* fed = [NSMutableSet set];
  for (MPSGraphTensorData* data in inputs) [fed addObject:[NSValue valueWithPointer:[data mpsndarray]]];
  bool found = false;
  for (MPSGraphTensorData* data in results) {
    found = found || [fed containsObject:[NSValue valueWithPointer:[data mpsndarray]]];
  }
  state.aliased += found;
  // A descriptor of its own, because the engine uses its descriptor for many runs.
  MPSGraphExecutableExecutionDescriptor* watching = [[descriptor copy] autorelease];
  MPSGraphExecutableCompletionHandler handler = [descriptor completionHandler];
  NSError* failure = std::exchange(state.fails, false) ? loss() : nil;
  if (failure != nil) [[[AlloyLeft alloc] init] autorelease];
  const bool is_late = std::exchange(state.tells_late, false);
  [watching setCompletionHandler:[[^(NSArray<MPSGraphTensorData*>* made, NSError* error) {
              if (is_late)
                state.late = [^{
                  handler(made, failure == nil ? error : failure);
                } copy];
              else handler(made, failure == nil ? error : failure);
            } copy] autorelease]];
  if (state.event != nil) [watching waitForEvent:state.event value:1];
  NSArray* made = g_run->call<NSArray*>(self, selector, queue, inputs, results, watching);
  if (std::exchange(state.aborts, false)) {
    [NSException raise:[NSString stringWithUTF8String:ir::kAbortException] format:@"The process has ended."];
  }
  return made;
}

id identity(id self, SEL selector, id tensor, id name) {
  ++state.copies;
  return g_identity->call<id>(self, selector, tensor, name);
}

id compile(id self, SEL selector, id device, NSDictionary* feeds, NSArray* targets, NSArray* operations,
           MPSGraphCompilationDescriptor* descriptor) {
  ++state.compilations;
  state.at_once += descriptor != nil && [descriptor waitForCompilationCompletion] &&
                   [descriptor optimizationLevel] == MPSGraphOptimizationLevel0;
  state.without_targets += [targets count] == 0;
  return g_compile->call<id>(self, selector, device, feeds, targets, operations, descriptor);
}

id lend(id self, SEL selector, void* bytes, NSUInteger length, MTLResourceOptions options, id deallocator) {
  ++state.lent;
  return g_lend->call<id>(self, selector, bytes, length, options, deallocator);
}

Class class_of_device() {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  const Class found = object_getClass(device);
  [device release];
  return found;
}

NSArray* feeds(MPSGraphExecutable* self, SEL selector) {
  NSArray* truth = g_feeds->call<NSArray*>(self, selector);
  if (!state.lie || *state.lie == Watch::Lie::kTargetLess) return truth;
  NSMutableArray* lie = [NSMutableArray arrayWithArray:truth];
  if ([lie count] == 0) return lie;  // like an imitation that leaves out unneeded feeds
  if (*state.lie == Watch::Lie::kFeedLess) [lie removeObjectAtIndex:0];
  else [lie replaceObjectAtIndex:0 withObject:[[self targetTensors] objectAtIndex:0]];
  return lie;
}

NSArray* targets(MPSGraphExecutable* self, SEL selector) {
  NSMutableArray* lie = [NSMutableArray arrayWithArray:g_targets->call<NSArray*>(self, selector)];
  if (state.lie == Watch::Lie::kTargetLess) [lie removeLastObject];
  return lie;
}

id lstm(id self, SEL selector, id source, id recurrent, id input, id bias, id state_before, id cell, id mask,
        id peephole, MPSGraphLSTMDescriptor* descriptor, id name) {
  state.cells += [descriptor produceCell];
  return g_lstm->call<id>(self, selector, source, recurrent, input, bias, state_before, cell, mask, peephole,
                          descriptor, name);
}

}  // namespace

struct Watch::Methods {
  Exchanged run {
    [MPSGraphExecutable class], @selector(runAsyncWithMTLCommandQueue:inputsArray:resultsArray:executionDescriptor:),
        reinterpret_cast<void*>(test::run)
  };
  Exchanged identity { [MPSGraph class], @selector(identityWithTensor:name:), reinterpret_cast<void*>(test::identity) };
  Exchanged compile {
    [MPSGraph class], @selector(compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:),
        reinterpret_cast<void*>(test::compile)
  };
  Exchanged lend {
    class_of_device(), @selector(newBufferWithBytesNoCopy:length:options:deallocator:),
        reinterpret_cast<void*>(test::lend)
  };
  Exchanged feeds { [MPSGraphExecutable class], @selector(feedTensors), reinterpret_cast<void*>(test::feeds) };
  Exchanged targets { [MPSGraphExecutable class], @selector(targetTensors), reinterpret_cast<void*>(test::targets) };
  Exchanged lstm {
    [MPSGraph class],
        @selector(
            LSTMWithSourceTensor:recurrentWeight:inputWeight:bias:initState:initCell:mask:peephole:descriptor:name:),
        reinterpret_cast<void*>(test::lstm)
  };
};

Watch::Watch() : methods_(new Methods) {
  g_run = &methods_->run;
  g_identity = &methods_->identity;
  g_compile = &methods_->compile;
  g_feeds = &methods_->feeds;
  g_targets = &methods_->targets;
  g_lstm = &methods_->lstm;
  g_lend = &methods_->lend;
  state = {};
}
Watch::~Watch() {
  release();
  delete methods_;
}

size_t Watch::runs() const { return state.runs; }
size_t Watch::aliased() const { return state.aliased; }
size_t Watch::copies() const { return state.copies; }
size_t Watch::compilations() const { return state.compilations; }
size_t Watch::at_once() const { return state.at_once; }
size_t Watch::lent() const { return state.lent; }
size_t Watch::left() const { return g_left; }
size_t Watch::cells() const { return state.cells; }
size_t Watch::without_targets() const { return state.without_targets; }
void Watch::fail_next() { state.fails = true; }
void Watch::tell_late_of_next() { state.tells_late = true; }
void Watch::abort_next() { state.aborts = true; }
void Watch::lie(Lie lie) { state.lie = lie; }

void Watch::hold() {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  state.event = [device newSharedEvent];
  [device release];
}

void Watch::release() {
  [state.event setSignaledValue:1];
  [state.event release];
  state.event = nil;
  if (state.late == nil) return;
  state.late();
  [state.late release];
  state.late = nil;
}

}  // namespace alloy::test
