// The objects that most programs need: the device, a queue, short arrays and dictionaries.
#pragma once

#import <Foundation/Foundation.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <vector>

#include "check.h"

inline id<MTLDevice> the_device() {
  static id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  return device;
}

inline id<MTLCommandQueue> the_queue() {
  static id<MTLCommandQueue> queue = [the_device() newCommandQueue];
  return queue;
}

inline MPSGraphDevice* the_graph_device() { return [MPSGraphDevice deviceWithMTLDevice:the_device()]; }

inline NSArray* list(id object) { return [NSArray arrayWithObject:object]; }
inline NSArray* list(id a, id b) { return [NSArray arrayWithObjects:a, b, nil]; }
inline NSArray* list(id a, id b, id c) { return [NSArray arrayWithObjects:a, b, c, nil]; }

inline NSDictionary* pair(id object, id key) { return [NSDictionary dictionaryWithObject:object forKey:key]; }

inline NSArray<NSNumber*>* numbers(const std::vector<long>& values) {
  NSMutableArray* array = [NSMutableArray array];
  for (long v : values) [array addObject:[NSNumber numberWithLong:v]];
  return array;
}

// Waits for a minute at most.
inline bool wait_for(dispatch_semaphore_t semaphore) {
  return dispatch_semaphore_wait(semaphore, dispatch_time(DISPATCH_TIME_NOW, 60 * (int64_t)NSEC_PER_SEC)) == 0;
}
