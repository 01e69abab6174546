// What command buffers are made with and say of themselves: descriptors, bounds, times, groups, predicates, heaps for
// temporary memory, handles of events.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "buffer_bytes.h"

TEST(descriptors_say_how_buffers_are_made) {
  MTLCommandBufferDescriptor* descriptor = [[MTLCommandBufferDescriptor new] autorelease];
  CHECK([descriptor retainedReferences] && [descriptor errorOptions] == MTLCommandBufferErrorOptionNone);
  [descriptor setErrorOptions:MTLCommandBufferErrorOptionEncoderExecutionStatus];
  id<MTLCommandBuffer> buffer = [the_queue() commandBufferWithDescriptor:descriptor];
  CHECK([buffer retainedReferences]);
  CHECK([buffer errorOptions] == MTLCommandBufferErrorOptionEncoderExecutionStatus);
  [descriptor setRetainedReferences:NO];
  MTLCommandBufferDescriptor* copy = [[descriptor copy] autorelease];
  CHECK(![copy retainedReferences] && [copy errorOptions] == MTLCommandBufferErrorOptionEncoderExecutionStatus);
  CHECK(![[the_queue() commandBufferWithDescriptor:copy] retainedReferences]);
  id<MTLCommandBuffer> unretained = [the_queue() commandBufferWithUnretainedReferences];
  CHECK(unretained != nil && ![unretained retainedReferences]);
  CHECK([[the_queue() commandBuffer] retainedReferences]);
#ifndef __APPLE__  // declared by SDKs from macOS 15 on
  [descriptor setLogState:nil];
  CHECK([descriptor logState] == nil);
#endif
  MPSCommandBuffer* wrapped = [MPSCommandBuffer commandBufferWithCommandBuffer:buffer];
  CHECK([wrapped retainedReferences]);
  CHECK([wrapped errorOptions] == MTLCommandBufferErrorOptionEncoderExecutionStatus);
}

TEST(scheduling_has_a_time) {
  id<MTLCommandBuffer> buffer = [the_queue() commandBuffer];
  CHECK([buffer kernelStartTime] == 0 && [buffer kernelEndTime] == 0);
  finish(buffer);
  MPSCommandBuffer* wrapped = [MPSCommandBuffer commandBufferWithCommandBuffer:buffer];
  CHECK([buffer kernelStartTime] > 0);
  CHECK([buffer kernelStartTime] <= [buffer kernelEndTime]);
  CHECK([buffer kernelEndTime] <= [buffer GPUEndTime]);
  CHECK([wrapped kernelStartTime] == [buffer kernelStartTime] && [wrapped kernelEndTime] == [buffer kernelEndTime]);
}

TEST(groups_nest) {
  id<MTLCommandBuffer> buffer = [the_queue() commandBuffer];
  MPSCommandBuffer* wrapped = [MPSCommandBuffer commandBufferWithCommandBuffer:buffer];
  [buffer pushDebugGroup:@"outer"];
  [wrapped pushDebugGroup:@"inner"];
  [wrapped popDebugGroup];
  [buffer popDebugGroup];
#ifndef __APPLE__
  CHECK_RAISES([buffer popDebugGroup]);
  id nothing = nil;
  CHECK_RAISES([buffer pushDebugGroup:nothing]);
#endif
  finish(buffer);
}

// The third buffer of a queue for two comes when the first one is completed.
TEST(a_queue_bounds_its_uncompleted_buffers) {
  id<MTLCommandQueue> queue = [the_device() newCommandQueueWithMaxCommandBufferCount:2];
  CHECK([queue device] == the_device());
  id<MTLSharedEvent> event = [[the_device() newSharedEvent] autorelease];
  id<MTLCommandBuffer> first = [queue commandBuffer], second = [queue commandBuffer];
  [first encodeWaitForEvent:event value:1];
  [first commit];
  static std::atomic<bool> came{false};
  std::thread third([&] {
    @autoreleasepool {
      id<MTLCommandBuffer> buffer = [queue commandBuffer];
      came = true;
      [buffer commit];
      [buffer waitUntilCompleted];
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(!came);
  [event setSignaledValue:1];
  [second commit];
  third.join();
  CHECK(came);
  [queue release];
}

TEST(buffers_that_are_dropped_make_room) {
  id<MTLCommandQueue> queue = [the_device() newCommandQueueWithMaxCommandBufferCount:1];
  for (int i = 0; i < 5; ++i) {
    @autoreleasepool {
      CHECK([queue commandBuffer] != nil);
    }
  }
  // commitAndContinue needs one place.
  MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:queue];
  for (int i = 0; i < 3; ++i) [commands commitAndContinue];
  finish(commands);
  [queue release];
}

// A handler may ask for the next buffer of a full queue: the one it is told of is completed.
TEST(handlers_may_ask_for_the_next_buffer) {
  id<MTLCommandQueue> queue = [the_device() newCommandQueueWithMaxCommandBufferCount:1];
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  @autoreleasepool {
    id<MTLCommandBuffer> buffer = [queue commandBuffer];
    [buffer addCompletedHandler:^(id<MTLCommandBuffer>) {
      id<MTLCommandBuffer> next = [queue commandBuffer];
      [next addCompletedHandler:^(id<MTLCommandBuffer>) {
        dispatch_semaphore_signal(done);
      }];
      [next commit];
    }];
    [buffer commit];
  }
  CHECK(dispatch_semaphore_wait(done, dispatch_time(DISPATCH_TIME_NOW, 20 * (int64_t)NSEC_PER_SEC)) == 0);
  dispatch_release(done);
  [queue release];
}

#ifndef __APPLE__  // where such a wait never ends
// True if the handler of a command buffer may wait for this one.
static void wait_in_handler(id<MTLCommandBuffer> buffer, dispatch_semaphore_t done, bool may_wait) {
  if (may_wait) {
    [buffer waitUntilCompleted];
    CHECK([buffer status] == MTLCommandBufferStatusCompleted);
  } else {
    CHECK_RAISES([buffer waitUntilCompleted]);
  }
  dispatch_semaphore_signal(done);
}

// A handler cannot wait for handlers that are called after it.
TEST(handlers_wait_for_what_does_not_wait_for_them) {
  id<MTLCommandQueue> queue = [the_device() newCommandQueue], other = [the_device() newCommandQueue];
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  MTLCommandBufferHandler nothing = ^(id<MTLCommandBuffer>) {
  };
  @autoreleasepool {
    id<MTLCommandBuffer> buffer = [queue commandBuffer];
    [buffer addCompletedHandler:^(id<MTLCommandBuffer> own) {
      wait_in_handler(own, done, false);
      id<MTLCommandBuffer> next = [queue commandBuffer], silent = [queue commandBuffer], there = [other commandBuffer];
      [next addCompletedHandler:nothing];
      [there addCompletedHandler:nothing];
      for (id<MTLCommandBuffer> each in [NSArray arrayWithObjects:next, silent, there, nil]) [each commit];
      wait_in_handler(next, done, false);
      wait_in_handler(silent, done, true);
      wait_in_handler(there, done, true);
    }];
    [buffer commit];
    [buffer waitUntilCompleted];
    id<MTLCommandBuffer> begun = [queue commandBuffer];
    [begun addScheduledHandler:^(id<MTLCommandBuffer> own) {
      wait_in_handler(own, done, false);
      wait_in_handler(buffer, done, true);  // whose handlers have been called
    }];
    [begun addCompletedHandler:nothing];
    [begun commit];
    [begun waitUntilCompleted];
  }
  for (int i = 0; i < 6; ++i) CHECK(dispatch_semaphore_wait(done, DISPATCH_TIME_NOW) == 0);
  dispatch_release(done);
  [other release];
  [queue release];
}
#endif

static MPSGraphTensorData* data_over(id<MTLBuffer> buffer) {
  return [[[MPSGraphTensorData alloc] initWithMTLBuffer:buffer shape:numbers({2})
                                               dataType:MPSDataTypeFloat32] autorelease];
}

// The number that decides is written by the same command buffer.
TEST(predicates_decide_when_their_turn_comes) {
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = [graph placeholderWithShape:numbers({2}) dataType:MPSDataTypeFloat32 name:nil];
  MPSGraphTensor* y = [graph additionWithPrimaryTensor:x
                                       secondaryTensor:[graph constantWithScalar:1 dataType:MPSDataTypeFloat32]
                                                  name:nil];
  id<MTLBuffer> number = buffer_of<uint32_t>(the_device(), {7, 1});
  id<MTLBuffer> skipped = buffer_of<float>(the_device(), {-1, -1}), run = buffer_of<float>(the_device(), {-1, -1});
  MPSPredicate* predicate = [MPSPredicate predicateWithBuffer:number offset:4];
  CHECK([predicate predicateBuffer] == number && [predicate predicateOffset] == 4);
  MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()];
  CHECK([commands predicate] == nil);
  [commands setPredicate:predicate];
  CHECK([commands predicate] == predicate);
  const auto encode = [&](MPSCommandBuffer* to, id<MTLBuffer> out) {
    id<MTLBuffer> in = buffer_of<float>(the_device(), {1, 2});
    [graph encodeToCommandBuffer:to
                           feeds:[NSDictionary dictionaryWithObject:data_over(in) forKey:x]
                targetOperations:nil
               resultsDictionary:[NSDictionary dictionaryWithObject:data_over(out) forKey:y]
             executionDescriptor:nil];
  };
  const auto write = [&](uint8_t value) {
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    [encoder fillBuffer:number range:NSMakeRange(4, 4) value:value];
    [encoder endEncoding];
  };
  write(0);
  encode(commands, skipped);
  encode([MPSCommandBuffer commandBufferWithCommandBuffer:commands], skipped);
  write(3);
  encode(commands, run);
  finish(commands);
  CHECK(values_in<float>(skipped) == std::vector<float>({-1, -1}));
  CHECK(values_in<float>(run) == std::vector<float>({2, 3}));
  // One of its own is 0 at first, and what is encoded without it runs.
  MPSPredicate* own = [[[MPSPredicate alloc] initWithDevice:the_device()] autorelease];
  commands = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()];
  [commands setPredicate:own];
  encode(commands, skipped);
  [commands setPredicate:nil];
  encode(commands, run);
  finish(commands);
#ifndef __APPLE__
  CHECK(values_in<float>(skipped) == std::vector<float>({-1, -1}));
  CHECK_RAISES([MPSPredicate predicateWithBuffer:number offset:2]);
  CHECK_RAISES([MPSPredicate predicateWithBuffer:number offset:8]);
  id nothing = nil;
  CHECK_RAISES([[MPSPredicate alloc] initWithBuffer:nothing offset:0]);
#endif
}

@interface Provider : NSObject <MPSHeapProvider> {
 @public
  int _made, _retired;
  NSUInteger _most;  // bytes of a heap
}
@end

@implementation Provider

- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor*)descriptor {
  ++_made;
  if (_most > 0) [descriptor setSize:std::min([descriptor size], _most)];
  return [the_device() newHeapWithDescriptor:descriptor];
}

- (void)retireHeap:(id<MTLHeap>)heap cacheDelay:(double)seconds {
  CHECK(heap != nil && seconds >= 0);
  ++_retired;
}

@end

TEST(providers_make_the_heaps_of_temporary_memory) {
  Provider* provider = [Provider new];
  id<MTLBuffer> out = buffer_of(the_device(), std::vector<float>(2));
  @autoreleasepool {
    MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()];
    CHECK([commands heapProvider] == nil);
    [commands setHeapProvider:provider];
    CHECK([[MPSCommandBuffer commandBufferWithCommandBuffer:[commands rootCommandBuffer]] heapProvider] == provider);
    [commands commitAndContinue];
    CHECK([commands heapProvider] == provider);
    MPSTemporaryNDArray* array = [MPSTemporaryNDArray
        temporaryNDArrayWithCommandBuffer:commands
                               descriptor:[MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32
                                                                                 shape:numbers({2})]];
    [array importDataWithCommandBuffer:commands
                            fromBuffer:buffer_of<float>(the_device(), {4, 5})
                        sourceDataType:MPSDataTypeFloat32
                                offset:0
                            rowStrides:nil];
    [array exportDataWithCommandBuffer:commands
                              toBuffer:out
                   destinationDataType:MPSDataTypeFloat32
                                offset:0
                            rowStrides:nil];
    finish(commands);
  }
  CHECK(values_in<float>(out) == std::vector<float>({4, 5}));
#ifndef __APPLE__  // Apple's keeps heaps, and when it gives them back is its own affair
  CHECK(provider->_made == 1 && provider->_retired == 1);
  provider->_most = 1;
  @autoreleasepool {
    MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()];
    [commands setHeapProvider:provider];
    [MPSTemporaryMatrix
        temporaryMatrixWithCommandBuffer:commands
                        matrixDescriptor:[MPSMatrixDescriptor matrixDescriptorWithRows:1
                                                                               columns:1 << 20
                                                                              rowBytes:4 << 20
                                                                              dataType:MPSDataTypeFloat32]];
    CHECK(provider->_made == 2 && provider->_retired == 2);  // a heap that is too small goes back at once
    finish(commands);
  }
#endif
  [provider release];
}

TEST(handles_stand_for_events) {
  id<MTLSharedEvent> event = [the_device() newSharedEvent];
  [event setLabel:@"steps"];
  [event setSignaledValue:3];
  MTLSharedEventHandle* handle = [event newSharedEventHandle];
  CHECK([[handle label] isEqualToString:@"steps"]);
  id<MTLSharedEvent> same = [the_device() newSharedEventWithHandle:handle];
  CHECK([same signaledValue] == 3 && [same device] == the_device());
  [same setSignaledValue:8];
  CHECK([event signaledValue] == 8);
  [event release];
  id<MTLCommandBuffer> buffer = [the_queue() commandBuffer];
  [buffer encodeSignalEvent:same value:9];
  finish(buffer);
  id<MTLSharedEvent> again = [the_device() newSharedEventWithHandle:handle];
  CHECK([again signaledValue] == 9);
  [same release];
  [again release];
#ifndef __APPLE__
  id nothing = nil;
  CHECK_RAISES([the_device() newSharedEventWithHandle:nothing]);
  CHECK([MTLSharedEventHandle supportsSecureCoding]);
  NSKeyedArchiver* coder = [[[NSKeyedArchiver alloc] initForWritingWithMutableData:[NSMutableData data]] autorelease];
  CHECK_RAISES([handle encodeWithCoder:coder]);
  CHECK_RAISES([the_device() newCommandQueueWithMaxCommandBufferCount:0]);
  CHECK_RAISES([the_queue() commandBufferWithDescriptor:nothing]);
  MTLSharedEventListener* listener = [MTLSharedEventListener sharedListener];
  CHECK(listener != nil && listener == [MTLSharedEventListener sharedListener]);
  CHECK([listener dispatchQueue] != nil);
#endif
  [handle release];
}

int main(int count, char** arguments) { return check::run(count, arguments); }
