// Devices, buffers, command queues, command buffers and shared events.

#include <unistd.h>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "objects.h"

// True if the event reaches the value in time.
static bool reaches(id<MTLSharedEvent> event, uint64_t value, int milliseconds) {
#ifdef __APPLE__  // whose headers before macOS 15 have no waitUntilSignaledValue:timeoutMS:
  for (int i = 0; i < milliseconds && [event signaledValue] < value; ++i) usleep(1000);
  return [event signaledValue] >= value;
#else
  return [event waitUntilSignaledValue:value timeoutMS:static_cast<uint64_t>(milliseconds)] == YES;
#endif
}

TEST(the_device_describes_itself) {
  CHECK([[the_device() name] length] > 0);
  CHECK([the_device() maxBufferLength] > 1 << 20);
#if !TARGET_OS_IPHONE
  CHECK([the_device() recommendedMaxWorkingSetSize] > 0);
#endif
  CHECK([the_device() registryID] == [the_device() registryID]);
#ifndef __APPLE__
  NSArray* all = MTLCopyAllDevices();
  CHECK([all count] == ([the_device() hasUnifiedMemory] ? 1 : 2) && [all objectAtIndex:0] == the_device());
  [all release];
#endif
  id<MTLDevice> again = MTLCreateSystemDefaultDevice();
  CHECK(again == the_device());
  [again release];
}

TEST(buffers_hold_bytes) {
  const NSUInteger before = [the_device() currentAllocatedSize];
  id<MTLBuffer> buffer =
      [the_device() newBufferWithLength:1 << 20
                                options:MTLResourceStorageModeShared | MTLResourceHazardTrackingModeUntracked];
  CHECK([buffer length] == 1 << 20);
  CHECK([buffer allocatedSize] >= 1 << 20);
  CHECK([the_device() currentAllocatedSize] >= before + (1 << 20));
  CHECK([buffer storageMode] == MTLStorageModeShared);
  CHECK([buffer hazardTrackingMode] == MTLHazardTrackingModeUntracked);
  CHECK([buffer cpuCacheMode] == MTLCPUCacheModeDefaultCache);
  CHECK([buffer resourceOptions] == (MTLResourceStorageModeShared | MTLResourceHazardTrackingModeUntracked));
  CHECK([buffer device] == the_device());
  [buffer setLabel:@"bytes"];
  CHECK([[buffer label] isEqualToString:@"bytes"]);
  [buffer release];
  CHECK([the_device() currentAllocatedSize] < before + (1 << 20));
  // The default of a buffer is tracked; the options stay as they were given.
  for (MTLResourceOptions options : {MTLResourceOptions{0}, MTLResourceOptions{MTLResourceHazardTrackingModeTracked}}) {
    id<MTLBuffer> tracked = [the_device() newBufferWithLength:64 options:options];
    CHECK([tracked hazardTrackingMode] == MTLHazardTrackingModeTracked);
    [tracked release];
  }
}

TEST(buffers_copy_bytes) {
  int numbers[] = {1, 2, 3};
  id<MTLBuffer> copy = [the_device() newBufferWithBytes:numbers length:sizeof numbers options:0];
  numbers[0] = 9;
  CHECK(static_cast<int*>([copy contents])[0] == 1);
  [copy release];
}

TEST(buffers_adopt_memory) {
  SKIP_UNLESS([the_device() hasUnifiedMemory]);
  const size_t page = static_cast<size_t>(getpagesize());
  void* memory = nullptr;
  CHECK(posix_memalign(&memory, page, page) == 0);
  __block int freed = 0;
  @autoreleasepool {
    id<MTLBuffer> buffer = [the_device() newBufferWithBytesNoCopy:memory
                                                           length:page
                                                          options:MTLResourceStorageModeShared
                                                      deallocator:^(void* pointer, NSUInteger length) {
                                                        freed += pointer == memory && length == page;
                                                        std::free(pointer);
                                                      }];
    CHECK([buffer contents] == memory);
    CHECK(freed == 0);
    [buffer release];
  }
  CHECK(freed == 1);
}

#ifndef __APPLE__
// On a Mac memory of a large malloc is page-aligned, and here it is not: a program meets no exception and no nil for
// it.
TEST(buffers_adopt_memory_that_lies_anywhere) {
  SKIP_UNLESS([the_device() hasUnifiedMemory]);
  std::vector<float> values(1000, 2.5f);
  __block int freed = 0;
  @autoreleasepool {
    id<MTLBuffer> buffer = [[the_device() newBufferWithBytesNoCopy:values.data() + 1
                                                            length:3 * sizeof(float)
                                                           options:MTLResourceStorageModeShared
                                                       deallocator:^(void*, NSUInteger) {
                                                         ++freed;
                                                       }] autorelease];
    CHECK([buffer contents] == values.data() + 1 && [buffer length] == 3 * sizeof(float));
    static_cast<float*>([buffer contents])[2] = 7;
  }
  CHECK(freed == 1);
  CHECK(values[2] == 2.5f && values[3] == 7 && values[4] == 2.5f);
  id<MTLBuffer> odd = [[the_device() newBufferWithBytesNoCopy:reinterpret_cast<char*>(values.data()) + 2
                                                       length:64
                                                      options:MTLResourceStorageModeShared
                                                  deallocator:nil] autorelease];
  NSArray* two = [NSArray arrayWithObject:[NSNumber numberWithInt:2]];
  CHECK_RAISES([[MPSGraphTensorData alloc] initWithMTLBuffer:odd shape:two dataType:MPSDataTypeFloat32]);
  CHECK_RAISES([[MPSNDArray alloc] initWithBuffer:odd
                                           offset:0
                                       descriptor:[MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32
                                                                                         shape:two]]);
  CHECK_RAISES([[MPSMatrix alloc] initWithBuffer:odd
                                      descriptor:[MPSMatrixDescriptor matrixDescriptorWithRows:2
                                                                                       columns:2
                                                                                      rowBytes:8
                                                                                      dataType:MPSDataTypeFloat32]]);
  CHECK_RAISES([[MPSVector alloc] initWithBuffer:odd
                                      descriptor:[MPSVectorDescriptor vectorDescriptorWithLength:2
                                                                                        dataType:MPSDataTypeFloat32]]);
  MPSNDArray* array = [[[MPSNDArray alloc] initWithDevice:the_device() scalar:1] autorelease];
  id<MTLCommandBuffer> commands = [[the_device() newCommandQueue] commandBuffer];
  CHECK_RAISES([array importDataWithCommandBuffer:commands
                                       fromBuffer:odd
                                   sourceDataType:MPSDataTypeFloat32
                                           offset:0
                                       rowStrides:nil]);
  CHECK_RAISES([array exportDataWithCommandBuffer:commands
                                         toBuffer:odd
                              destinationDataType:MPSDataTypeFloat32
                                           offset:0
                                       rowStrides:nil]);
  CHECK([[[[MPSGraphTensorData alloc] initWithMTLBuffer:odd shape:two
                                               dataType:MPSDataTypeInt16] autorelease] dataType] == MPSDataTypeInt16);
  id nothing = nil;
  CHECK([the_device() newBufferWithBytesNoCopy:values.data() length:0 options:0 deallocator:nil] == nil);
  CHECK([the_device() newBufferWithBytesNoCopy:(void*)nothing length:4096 options:0 deallocator:nil] == nil);
  for (MTLResourceOptions options : {MTLResourceStorageModePrivate, MTLResourceStorageModeMemoryless}) {
    CHECK([the_device() newBufferWithBytesNoCopy:values.data() length:4000 options:options deallocator:nil] == nil);
  }
}
#endif

TEST(command_buffers_run_in_order) {
  id<MTLCommandQueue> queue = [the_device() newCommandQueue];
  CHECK([queue device] == the_device());
  [queue setLabel:@"work"];
  CHECK([[queue label] isEqualToString:@"work"]);
  NSMutableArray* order = [NSMutableArray array];
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  @autoreleasepool {
    id<MTLCommandBuffer> last = nil;
    for (int i = 0; i < 20; ++i) {
      id<MTLCommandBuffer> buffer = [queue commandBuffer];
      CHECK([buffer status] == MTLCommandBufferStatusNotEnqueued);
      [buffer addScheduledHandler:^(id<MTLCommandBuffer> scheduled) {
        CHECK([scheduled status] >= MTLCommandBufferStatusScheduled);
      }];
      [buffer addCompletedHandler:^(id<MTLCommandBuffer> completed) {
        CHECK([completed status] == MTLCommandBufferStatusCompleted);
        @synchronized(order) {
          [order addObject:[NSNumber numberWithInt:i]];
        }
        dispatch_semaphore_signal(done);
      }];
      [buffer commit];
      last = buffer;
    }
    [last waitUntilScheduled];
    [last waitUntilCompleted];
    CHECK([last status] == MTLCommandBufferStatusCompleted);
    CHECK([last error] == nil);
    CHECK([last GPUStartTime] > 0 && [last GPUEndTime] >= [last GPUStartTime]);
    CHECK([last commandQueue] == queue && [last device] == the_device());
    CHECK([order count] == 20);
  }
  [queue release];
  for (int i = 0; i < 20; ++i) CHECK(wait_for(done));
  bool sorted = [order count] == 20;
  for (NSUInteger i = 0; i < [order count]; ++i) sorted = sorted && [[order objectAtIndex:i] unsignedIntegerValue] == i;
  CHECK(sorted);
  dispatch_release(done);
}

TEST(a_released_buffer_still_runs) {
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  @autoreleasepool {
    id<MTLCommandQueue> queue = [[the_device() newCommandQueue] autorelease];
    id<MTLCommandBuffer> buffer = [queue commandBuffer];
    [buffer addCompletedHandler:^(id<MTLCommandBuffer>) {
      dispatch_semaphore_signal(done);
    }];
    [buffer commit];
  }
  CHECK(wait_for(done));
  dispatch_release(done);
}

TEST(enqueue_reserves_the_place) {
  id<MTLCommandQueue> queue = [the_device() newCommandQueue];
  id<MTLSharedEvent> event = [the_device() newSharedEvent];
  id<MTLCommandBuffer> first = [queue commandBuffer];
  id<MTLCommandBuffer> second = [queue commandBuffer];
  [first enqueue];
  CHECK([first status] == MTLCommandBufferStatusEnqueued);
  [second encodeSignalEvent:event value:2];
  [second commit];
  CHECK(!reaches(event, 2, 50));
  [first encodeSignalEvent:event value:1];
  [first commit];
  [second waitUntilCompleted];
  CHECK([first status] == MTLCommandBufferStatusCompleted);
  CHECK([event signaledValue] == 2);
  [event release];
  [queue release];
}

TEST(an_enqueued_buffer_that_is_dropped_frees_the_queue) {
  id<MTLCommandQueue> queue = [the_device() newCommandQueue];
  @autoreleasepool {
    [[queue commandBuffer] enqueue];
  }
  id<MTLCommandBuffer> next = [queue commandBuffer];
  [next commit];
  [next waitUntilCompleted];
  CHECK([next status] == MTLCommandBufferStatusCompleted);
  [queue release];
}

TEST(a_handler_may_use_the_queue) {
  id<MTLCommandQueue> queue = [the_device() newCommandQueue];
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  id<MTLCommandBuffer> outer = [queue commandBuffer];
  [outer addCompletedHandler:^(id<MTLCommandBuffer> finished) {
    id<MTLCommandBuffer> inner = [[finished commandQueue] commandBuffer];
    [inner commit];
    [inner waitUntilCompleted];
    CHECK([inner status] == MTLCommandBufferStatusCompleted);
    dispatch_semaphore_signal(done);
  }];
  [outer commit];
  CHECK(wait_for(done));
  dispatch_release(done);
  [queue release];
}

TEST(events_order_queues) {
  id<MTLCommandQueue> producer = [the_device() newCommandQueue];
  id<MTLCommandQueue> consumer = [the_device() newCommandQueue];
  id<MTLSharedEvent> event = [the_device() newSharedEvent];
  CHECK([event signaledValue] == 0);
  CHECK([event device] == the_device());
  id<MTLCommandBuffer> waiting = [consumer commandBuffer];
  [waiting encodeWaitForEvent:event value:3];
  [waiting encodeSignalEvent:event value:4];
  [waiting commit];
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  CHECK([waiting status] != MTLCommandBufferStatusCompleted);
  id<MTLCommandBuffer> signalling = [producer commandBuffer];
  [signalling encodeSignalEvent:event value:3];
  [signalling commit];
  [waiting waitUntilCompleted];
  CHECK([event signaledValue] == 4);
  [event setSignaledValue:10];
  CHECK(reaches(event, 10, 0));
  CHECK(!reaches(event, 11, 20));
  [event setSignaledValue:2];  // Apple: the value is changed only by a larger one
  CHECK([event signaledValue] == 10);
  id<MTLCommandBuffer> late = [producer commandBuffer];
  [late encodeSignalEvent:event value:5];
  [late commit];
  [late waitUntilCompleted];
  CHECK([event signaledValue] == 10);
  [event release];
  [producer release];
  [consumer release];
}

TEST(listeners_are_told_once) {
  dispatch_queue_t queue = dispatch_queue_create("listener", DISPATCH_QUEUE_SERIAL);
  MTLSharedEventListener* listener = [[MTLSharedEventListener alloc] initWithDispatchQueue:queue];
  CHECK([listener dispatchQueue] == queue);
  id<MTLSharedEvent> event = [the_device() newSharedEvent];
  dispatch_semaphore_t told = dispatch_semaphore_create(0);
  __block uint64_t asked = 0;
  [event notifyListener:listener
                atValue:5
                  block:^(id<MTLSharedEvent> signalled, uint64_t value) {
                    asked = value + [signalled signaledValue];
                    dispatch_semaphore_signal(told);
                  }];
  [event setSignaledValue:4];
  CHECK(dispatch_semaphore_wait(told, dispatch_time(DISPATCH_TIME_NOW, 20 * (int64_t)NSEC_PER_MSEC)) != 0);
  [event setSignaledValue:6];
  CHECK(wait_for(told));
  CHECK(asked == 11);
  [event setSignaledValue:7];
  [event notifyListener:listener
                atValue:7
                  block:^(id<MTLSharedEvent>, uint64_t) {
                    dispatch_semaphore_signal(told);
                  }];
  CHECK(wait_for(told));
  CHECK(dispatch_semaphore_wait(told, dispatch_time(DISPATCH_TIME_NOW, 20 * (int64_t)NSEC_PER_MSEC)) != 0);
  [event release];
  [listener release];
  dispatch_release(told);
  dispatch_release(queue);
}

TEST(commit_and_continue_changes_the_buffer) {
  id<MTLCommandQueue> queue = [the_device() newCommandQueue];
  MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:queue];
  id<MTLCommandBuffer> first = [[[commands rootCommandBuffer] retain] autorelease];
  CHECK([commands commandBuffer] == first);
  CHECK([commands commandQueue] == queue);
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  [commands addCompletedHandler:^(id<MTLCommandBuffer>) {
    dispatch_semaphore_signal(done);
  }];
  [commands commitAndContinue];
  CHECK([commands rootCommandBuffer] != first);
  CHECK(wait_for(done));
  CHECK([first status] == MTLCommandBufferStatusCompleted);
  CHECK([commands status] == MTLCommandBufferStatusNotEnqueued);
  MPSCommandBuffer* nested = [MPSCommandBuffer commandBufferWithCommandBuffer:commands];
  CHECK([nested rootCommandBuffer] == [commands rootCommandBuffer]);
  [commands commit];
  [commands waitUntilCompleted];
  CHECK([commands status] == MTLCommandBufferStatusCompleted);
  dispatch_release(done);
  [queue release];
}

TEST(a_command_buffer_around_another_is_that_one) {
  id<MTLCommandQueue> queue = [the_device() newCommandQueue];
  id<MTLCommandBuffer> inner = [queue commandBuffer];
  MPSCommandBuffer* commands = [[MPSCommandBuffer alloc] initWithCommandBuffer:inner];
  CHECK([commands commandBuffer] == inner);
  [commands prefetchHeapForWorkloadSize:1 << 20];
  MPSNDArray* array = [[MPSNDArray alloc] initWithDevice:the_device() scalar:2.5];
  [array synchronizeOnCommandBuffer:commands];
  [commands commit];
  [inner waitUntilCompleted];
  CHECK([inner status] == MTLCommandBufferStatusCompleted);
  float value = 0;
  [array readBytes:&value strideBytes:nil];
  CHECK(value == 2.5f);
  [array release];
  [commands release];
  [queue release];
}

// An event that the host does not see orders two queues.
TEST(plain_events_order_queues) {
  id<MTLCommandQueue> producer = [the_device() newCommandQueue], consumer = [the_device() newCommandQueue];
  id<MTLEvent> event = [the_device() newEvent];
  id<MTLSharedEvent> seen = [the_device() newSharedEvent];
  CHECK([event device] == the_device());
  [event setLabel:@"order"];
  CHECK([[event label] isEqualToString:@"order"]);
  id<MTLCommandBuffer> waiting = [consumer commandBuffer], signalling = [producer commandBuffer];
  [waiting encodeWaitForEvent:event value:1];
  [waiting encodeSignalEvent:seen value:1];
  [waiting commit];
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  CHECK([seen signaledValue] == 0);
  [signalling encodeSignalEvent:event value:1];
  [signalling commit];
  [waiting waitUntilCompleted];
  CHECK([seen signaledValue] == 1);
  [event release];
  [seen release];
  [producer release];
  [consumer release];
}

TEST(semaphores_bound_the_steps_in_flight) {
  constexpr int kInFlight = 2;
  id<MTLCommandQueue> queue = [the_device() newCommandQueue];
  dispatch_semaphore_t free_slots = dispatch_semaphore_create(kInFlight);
  static std::atomic<int> in_flight{0};
  static std::atomic<int> most{0};
  for (int i = 0; i < 200; ++i) {
    @autoreleasepool {
      CHECK(wait_for(free_slots));
      const int now = ++in_flight;
      if (now > most) most = now;
      id<MTLCommandBuffer> buffer = [queue commandBuffer];
      [buffer addCompletedHandler:^(id<MTLCommandBuffer>) {
        --in_flight;
        dispatch_semaphore_signal(free_slots);
      }];
      [buffer commit];
    }
  }
  for (int i = 0; i < kInFlight; ++i) CHECK(wait_for(free_slots));
  CHECK(most <= kInFlight);
  CHECK(in_flight == 0);
  for (int i = 0; i < kInFlight; ++i) dispatch_semaphore_signal(free_slots);
  dispatch_release(free_slots);
  [queue release];
}

TEST(queues_run_side_by_side_from_threads) {
  static std::atomic<int> completed{0};
  std::thread threads[4];
  for (auto& thread : threads) {
    thread = std::thread([] {
      @autoreleasepool {
        id<MTLCommandQueue> queue = [the_device() newCommandQueue];
        for (int i = 0; i < 100; ++i) {
          @autoreleasepool {
            id<MTLCommandBuffer> buffer = [queue commandBuffer];
            [buffer addCompletedHandler:^(id<MTLCommandBuffer>) {
              ++completed;
            }];
            [buffer commit];
            [buffer waitUntilCompleted];
          }
        }
        [queue release];
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(completed == 400);
}

#ifndef __APPLE__
// On a Mac each of these aborts the process.
TEST(bad_input_raises) {
  id nothing = nil;
  CHECK_RAISES([the_device() newBufferWithLength:0 options:0]);
  CHECK_RAISES([the_device() newBufferWithLength:16 options:MTLResourceStorageModeMemoryless]);
  id<MTLBuffer> hidden = [[the_device() newBufferWithLength:16 options:MTLResourceStorageModePrivate] autorelease];
  CHECK_RAISES([hidden contents]);
  CHECK_RAISES([hidden didModifyRange:NSMakeRange(10, 7)]);
  id<MTLCommandQueue> queue = [[the_device() newCommandQueue] autorelease];
  id<MTLCommandBuffer> buffer = [queue commandBuffer];
  CHECK_RAISES([buffer waitUntilCompleted]);
  [buffer commit];
  CHECK_RAISES([buffer commit]);
  CHECK_RAISES([buffer addCompletedHandler:^(id<MTLCommandBuffer>){
  }]);
  CHECK_RAISES([buffer encodeSignalEvent:[[the_device() newSharedEvent] autorelease] value:1]);
  CHECK_RAISES([MPSCommandBuffer commandBufferFromCommandQueue:nothing]);
}

// What the engine asks a device that answers.
TEST(the_device_counts) {
  SEL selector = NSSelectorFromString(@"alloyCounters");
  CHECK([(id)the_device() respondsToSelector:selector]);
  NSDictionary* before = [(id)the_device() performSelector:selector];
  MPSNDArray* array = [[[MPSNDArray alloc] initWithDevice:the_device() scalar:1] autorelease];
  float value = 0;
  [array readBytes:&value strideBytes:nil];
  NSDictionary* after = [(id)the_device() performSelector:selector];
  for (NSString *key in [NSArray arrayWithObjects:@"dispatches", @"compilations", @"bytesToDevice", @"bytesFromDevice",
                                                  @"allocatedBytes", nil]) {
    CHECK([[after objectForKey:key] isKindOfClass:[NSNumber class]]);
  }
  CHECK([[after objectForKey:@"bytesToDevice"] longLongValue] ==
        [[before objectForKey:@"bytesToDevice"] longLongValue] + 4);
  CHECK([[after objectForKey:@"bytesFromDevice"] longLongValue] ==
        [[before objectForKey:@"bytesFromDevice"] longLongValue] + 4);
  CHECK([[after objectForKey:@"allocatedBytes"] longLongValue] ==
        [[before objectForKey:@"allocatedBytes"] longLongValue] + 4);
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }
