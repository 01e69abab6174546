// Many threads at once as the first thing a program does: no class has been used before by the program itself.

#import <Foundation/Foundation.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <thread>
#include <vector>

#include "check.h"

static std::atomic<bool> g_start{false};
static std::atomic<int> g_right{0};

static void work(int number) {
  while (!g_start) {
  }
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSNumber *length = [NSNumber numberWithInt:number + 1];
    NSArray *shape = [NSArray arrayWithObject:length];
    NSMutableData *bytes = [NSMutableData dataWithLength:sizeof(float) * static_cast<std::size_t>(number + 1)];
    float *values = static_cast<float *>([bytes mutableBytes]);
    for (int i = 0; i <= number; ++i) values[i] = static_cast<float>(i);
    MPSGraphDevice *graph_device = [MPSGraphDevice deviceWithMTLDevice:device];
    MPSGraphTensorData *data = [[[MPSGraphTensorData alloc] initWithDevice:graph_device
                                                                      data:bytes
                                                                     shape:shape
                                                                  dataType:MPSDataTypeFloat32] autorelease];
    NSDictionary *feeds = [NSDictionary dictionaryWithObject:data forKey:@"data"];
    id<MTLCommandQueue> queue = [[device newCommandQueue] autorelease];
    MPSCommandBuffer *commands = [MPSCommandBuffer commandBufferFromCommandQueue:queue];
    id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
    [commands encodeSignalEvent:event value:1];
    __block bool handled = false;
    [commands addCompletedHandler:^(id<MTLCommandBuffer> finished) {
      handled = [finished status] == MTLCommandBufferStatusCompleted;
    }];
    [commands commit];
    [commands waitUntilCompleted];
    std::vector<float> result(static_cast<std::size_t>(number) + 1);
    [[[feeds objectForKey:@"data"] mpsndarray] readBytes:result.data() strideBytes:nil];
    bool raised = false;
    @try {
      [NSException raise:NSInvalidArgumentException format:@"%d", number];
    } @catch (NSException *exception) {
      raised = [[exception reason] intValue] == number;
    }
    @synchronized(device) {
      g_right += handled && raised && [event signaledValue] == 1 && result.back() == static_cast<float>(number);
    }
    [device release];
  }
}

int main() {
  constexpr int kThreads = 8;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  g_start = true;
  for (auto &thread : threads) thread.join();
  CHECK(g_right == kThreads);
  return check::summary();
}
