// How Objective-C and C++ exceptions meet: what the engine and its callers rely on.

#import <Foundation/Foundation.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#import <objc/runtime.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "check.h"
#include "exceptions_cxx.h"

struct CountedDestruction {
  int* count;
  ~CountedDestruction() { ++*count; }
};

static void raise_objc(NSString* reason) {
  [[NSException exceptionWithName:NSInvalidArgumentException reason:reason userInfo:nil] raise];
}

// True when another thread can enter @synchronized on the object.
static bool is_unlocked(id object) {
  std::atomic<bool> entered{false};
  std::thread thread([&] {
    @autoreleasepool {
      @synchronized(object) {
        entered = true;
      }
    }
  });
  for (int i = 0; i < 200 && !entered; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const bool result = entered;
  if (result) {
    thread.join();
  } else {
    thread.detach();
  }
  return result;
}

static void an_nsexception_becomes_a_cxx_exception() {
  const std::string message = message_of_cxx_exception([] {
    std::string reason;
    @autoreleasepool {
      @try {
        raise_objc(@"shapes differ");
      } @catch (NSException* exception) {
        reason = [[exception reason] UTF8String];
      }
    }
    if (!reason.empty()) throw_cxx_exception(reason);
  });
  CHECK(message == "shapes differ");
}

static void a_cxx_exception_passes_objc_frames() {
  int destroyed = 0;
  NSObject* lock = [NSObject new];
  const std::string in_pool = message_of_cxx_exception([&] {
    CountedDestruction outer{&destroyed};
    @autoreleasepool {
      CountedDestruction inner{&destroyed};
      [[[NSObject alloc] init] autorelease];
      throw_cxx_exception("in a pool");
    }
  });
  CHECK(in_pool == "in a pool");
  CHECK(destroyed == 2);

  destroyed = 0;
  const std::string in_block = message_of_cxx_exception([&] {
    int* count = &destroyed;
    void (^block)(void) = ^{
      CountedDestruction local{count};
      throw_cxx_exception("in a block");
    };
    block();
  });
  CHECK(in_block == "in a block");
  CHECK(destroyed == 1);

  destroyed = 0;
  const std::string in_lock = message_of_cxx_exception([&] {
    @synchronized(lock) {
      CountedDestruction local{&destroyed};
      throw_cxx_exception("in a lock");
    }
  });
  CHECK(in_lock == "in a lock");
  CHECK(destroyed == 1);
  CHECK(is_unlocked(lock));
  [lock release];
}

static void an_nsexception_passes_cxx_frames() {
  int destroyed = 0;
  bool caught = false;
  @try {
    call_through_cxx([] { raise_objc(@"from below"); }, &destroyed);
  } @catch (NSException* exception) {
    caught = [[exception reason] isEqualToString:@"from below"];
  }
  CHECK(caught);
  CHECK(destroyed == 1);
}

static void an_nsexception_runs_destructors_and_finally() {
  int destroyed = 0;
  bool finally = false;
  NSObject* lock = [NSObject new];
  @try {
    @try {
      @synchronized(lock) {
        CountedDestruction local{&destroyed};
        raise_objc(@"in a lock");
      }
    } @finally {
      finally = true;
    }
  } @catch (NSException* exception) {
    CHECK([[exception name] isEqualToString:NSInvalidArgumentException]);
  }
  CHECK(destroyed == 1);
  CHECK(finally);
  CHECK(is_unlocked(lock));
  [lock release];
}

static void an_nsexception_leaves_a_block_and_a_lambda() {
  bool caught = false;
  void (^block)(void) = ^{
    [] { raise_objc(@"deep"); }();
  };
  @try {
    block();
  } @catch (NSException* exception) {
    caught = [[exception reason] isEqualToString:@"deep"];
  }
  CHECK(caught);
}

#ifndef __APPLE__
// On a Mac the framework aborts instead.
static void the_facade_raises_through_cxx_frames() {
  int destroyed = 0;
  NSString* reason = nil;
  @try {
    call_through_cxx([] { [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeInvalid shape:[NSArray array]]; },
                     &destroyed);
  } @catch (NSException* exception) {
    reason = [exception reason];
  }
  CHECK([reason length] > 0);
  CHECK(destroyed == 1);
}
#endif

#ifndef __APPLE__
// Called with nothing but zeros, every method of an object returns or raises; nothing ends the process, as an
// NSException does that meets a C++ handler or a function that must not throw.
static void call_everything_with_nothing(id object) {
  unsigned count = 0;
  Method* methods = class_copyMethodList([object class], &count);
  int called = 0;
  for (unsigned i = 0; i < count; ++i) {
    const SEL selector = method_getName(*(methods + i));
    const std::string name = sel_getName(selector);
    // What makes and ends objects, what belongs to no class of Apple's, and blocks and vectors, whose type the runtime
    // cannot read.
    const char* types = method_getTypeEncoding(*(methods + i));
    bool is_left_out = std::strchr(types, '?') != nullptr || std::isdigit(types[0]);
    for (const char* beginning : {"dealloc", "retain", "release", "init", "copy", "alloy", "."}) {
      is_left_out = is_left_out || name.rfind(beginning, 0) == 0;
    }
    if (is_left_out) continue;
    @autoreleasepool {
      NSMethodSignature* signature = [object methodSignatureForSelector:selector];
      NSInvocation* invocation = [NSInvocation invocationWithMethodSignature:signature];
      [invocation setTarget:object];
      [invocation setSelector:selector];
      const char zeros[64] = {};
      for (NSUInteger a = 2; a < [signature numberOfArguments]; ++a) {
        [invocation setArgument:const_cast<char*>(zeros) atIndex:static_cast<NSInteger>(a)];
      }
      @try {
        [invocation invoke];
      } @catch (NSException* exception) {
        CHECK([[exception reason] length] > 0);
      }
      ++called;
    }
  }
  std::free(methods);
  CHECK(called > 0);
}

static void every_method_returns_or_raises() {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLBuffer> buffer = [device newBufferWithLength:16 options:0];
  id<MTLSharedEvent> event = [device newSharedEvent];
  MPSGraph* graph = [MPSGraph new];
  MPSGraphTensor* x = [graph placeholderWithShape:[NSArray array] name:nil];
  MPSGraphTensor* y = [graph squareWithTensor:x name:nil];
  MPSGraphTensorData* data = [[MPSGraphTensorData alloc] initWithMTLBuffer:buffer
                                                                     shape:[NSArray array]
                                                                  dataType:MPSDataTypeFloat32];
  MPSGraphShapedType* type = [[MPSGraphShapedType alloc] initWithShape:[NSArray array] dataType:MPSDataTypeFloat32];
  MPSGraphExecutable* executable = [graph compileWithDevice:nil
                                                      feeds:[NSDictionary dictionaryWithObject:type forKey:x]
                                              targetTensors:[NSArray arrayWithObject:y]
                                           targetOperations:nil
                                      compilationDescriptor:nil];
  MTLHeapDescriptor* room = [[MTLHeapDescriptor new] autorelease];
  [room setSize:64];
  MPSMatrixDescriptor* rows = [MPSMatrixDescriptor matrixDescriptorWithRows:1
                                                                    columns:1
                                                                   rowBytes:4
                                                                   dataType:MPSDataTypeFloat32];
  MPSVectorDescriptor* row = [MPSVectorDescriptor vectorDescriptorWithLength:1 dataType:MPSDataTypeFloat32];
  NSArray* around = [NSArray
      arrayWithObjects:[[device newFence] autorelease], [[device newHeapWithDescriptor:room] autorelease], rows, row,
                       [[queue commandBuffer] blitCommandEncoder],
                       [[[MPSMatrix alloc] initWithBuffer:buffer descriptor:rows] autorelease],
                       [[[MPSVector alloc] initWithBuffer:buffer descriptor:row] autorelease],
                       [MPSPredicate predicateWithBuffer:buffer offset:0],
                       [[[MPSMatrixSoftMax alloc] initWithDevice:device] autorelease],
                       [[[MPSMatrixNeuron alloc] initWithDevice:device] autorelease],
                       [[event newSharedEventHandle] autorelease], [MTLCaptureManager sharedCaptureManager], nil];
  for (id object in around) call_everything_with_nothing(object);
  NSArray* objects =
      [NSArray arrayWithObjects:device, queue, buffer, event, graph, x, [y operation], data, [data mpsndarray],
                                [[data mpsndarray] descriptor], type, executable, [queue commandBuffer],
                                [MPSCommandBuffer commandBufferFromCommandQueue:queue],
                                [MPSGraphDevice deviceWithMTLDevice:device], nil];
  for (id object in objects) call_everything_with_nothing(object);
  for (Class made : {[MPSGraphConvolution2DOpDescriptor class],
                     [MPSGraphPooling2DOpDescriptor class],
                     [MPSGraphCompilationDescriptor class],
                     [MPSGraphExecutionDescriptor class],
                     [MPSGraphExecutableExecutionDescriptor class],
                     [MTLCommandBufferDescriptor class],
                     [MTLComputePipelineDescriptor class],
                     [MTLHeapDescriptor class],
                     [MTLSharedEventListener class],
                     [MTLTextureDescriptor class]}) {
    call_everything_with_nothing([[made new] autorelease]);
  }
  // All of them work on.
  float three = 3, nine = 0;
  [[data mpsndarray] writeBytes:&three strideBytes:nil];
  NSDictionary* results = [graph runWithFeeds:[NSDictionary dictionaryWithObject:data forKey:x]
                                targetTensors:[NSArray arrayWithObject:y]
                             targetOperations:nil];
  [[[results objectForKey:y] mpsndarray] readBytes:&nine strideBytes:nil];
  CHECK(nine == 9);
  for (id object in [NSArray arrayWithObjects:type, data, graph, event, buffer, queue, device, nil]) [object release];
}

// A dispatched block that raises has had its turn.
static void a_block_that_raises_leaves_its_queue_usable() {
  dispatch_queue_t queue = dispatch_queue_create("raises", DISPATCH_QUEUE_SERIAL);
  __block int later = 0;
  bool caught = false;
  @try {
    dispatch_sync(queue, ^{
      raise_objc(@"in a queue");
    });
  } @catch (NSException* exception) {
    caught = [[exception reason] isEqualToString:@"in a queue"];
  }
  CHECK(caught);
  dispatch_async(queue, ^{
    ++later;
  });
  dispatch_sync(queue, ^{
    ++later;
  });
  CHECK(later == 2);
  dispatch_release(queue);
}
#endif

static void exceptions_stay_on_their_thread() {
  std::atomic<int> caught{0};
  std::thread threads[4];
  for (auto& thread : threads) {
    thread = std::thread([&] {
      for (int i = 0; i < 200; ++i) {
        @autoreleasepool {
          NSString* reason = [NSString stringWithFormat:@"number %d", i];
          @try {
            raise_objc(reason);
          } @catch (NSException* exception) {
            caught += [[exception reason] isEqualToString:reason];
          }
          caught += message_of_cxx_exception([&] { throw_cxx_exception([reason UTF8String]); }) == [reason UTF8String];
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(caught == 4 * 200 * 2);
}

int main() {
  @autoreleasepool {
    an_nsexception_becomes_a_cxx_exception();
    a_cxx_exception_passes_objc_frames();
    an_nsexception_passes_cxx_frames();
    an_nsexception_runs_destructors_and_finally();
    an_nsexception_leaves_a_block_and_a_lambda();
#ifndef __APPLE__
    the_facade_raises_through_cxx_frames();
    every_method_returns_or_raises();
    a_block_that_raises_leaves_its_queue_usable();
#endif
    exceptions_stay_on_their_thread();
  }
  return check::summary();
}
