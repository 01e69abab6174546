// Many threads at once as the first thing a program does: nothing has been used before by the program itself, and
// all threads use each new thing at the same moment.

#import <Foundation/Foundation.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <thread>
#include <vector>

#include "check.h"

static constexpr int kThreads = 4;
static constexpr int kMoments = 16;

static std::atomic<int> g_arrived[kMoments];

// Lets all threads go on together.
static void together() {
  static thread_local int moment = 0;
  std::atomic<int>& arrived = g_arrived[moment++];
  ++arrived;
  while (arrived < kThreads) std::this_thread::yield();
}

static void use_foundation(int number) {
  together();
  NSNumber* boxed = [NSNumber numberWithInt:number];
  together();
  NSArray* array = [NSArray arrayWithObjects:boxed, @"a b", nil];
  NSMutableDictionary* map = [NSMutableDictionary dictionaryWithObject:array forKey:boxed];
  together();
  CHECK([[NSString stringWithFormat:@"%@ %@", array, map] length] > 0);
  together();
  CHECK([[NSString stringWithFormat:@"%d %g %s", number, 0.5, "\u00e9"] length] > 0);
  together();
  int sum = 0;
  for (id key in map) sum += [key intValue];
  CHECK(sum == number);
  together();
  NSString* reason = nil;
  @try {
    [NSException raise:NSInvalidArgumentException format:@"%@", array];
  } @catch (NSException* exception) {
    reason = [exception reason];
  }
  CHECK([reason isEqualToString:[array description]]);
}

static void use_blocks(int number) {
  together();
  __block int total = 0;
  NSMutableArray* blocks = [NSMutableArray array];
  for (int i = 0; i < 3; ++i) {
    [blocks addObject:[[^{
              total += number + i;
            } copy] autorelease]];
  }
  for (id block in blocks) ((dispatch_block_t)block)();
  CHECK(total == 3 * number + 3);
}

static void use_the_facade(int number) {
  together();
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  together();
  NSArray* shape = [NSArray arrayWithObject:[NSNumber numberWithInt:number + 1]];
  NSMutableData* bytes = [NSMutableData dataWithLength:sizeof(float) * static_cast<size_t>(number + 1)];
  static_cast<float*>([bytes mutableBytes])[number] = static_cast<float>(number);
  MPSGraphTensorData* data = [[[MPSGraphTensorData alloc] initWithDevice:[MPSGraphDevice deviceWithMTLDevice:device]
                                                                    data:bytes
                                                                   shape:shape
                                                                dataType:MPSDataTypeFloat32] autorelease];
  together();
  std::vector<float> result(number + 1);
  [[data mpsndarray] readBytes:result.data() strideBytes:nil];
  CHECK(result.back() == static_cast<float>(number));
  together();
  id<MTLCommandQueue> queue = [[device newCommandQueue] autorelease];
  MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:queue];
  id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
  [commands encodeSignalEvent:event value:1];
  __block bool handled = false;
  [commands addCompletedHandler:^(id<MTLCommandBuffer> finished) {
    handled = [finished status] == MTLCommandBufferStatusCompleted;
  }];
  together();
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(handled);
  CHECK([event signaledValue] == 1);
  together();
  @synchronized(device) {
    CHECK([[[MPSGraphExecutionDescriptor new] autorelease] waitUntilCompleted] == NO);
  }
  [device release];
}

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i] {
      together();
      @autoreleasepool {
        use_foundation(i);
        use_blocks(i);
        use_the_facade(i);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return check::summary();
}
