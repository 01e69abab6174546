// Numbers into and out of tensors, for the small programs of this folder: with automatic counting and without.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include "program.h"

static inline MPSGraphTensorData* data_of(const float* values, MPSShape* shape) {
  NSUInteger count = 1;
  for (NSNumber* dimension in shape) count *= dimension.unsignedIntegerValue;
  id<MTLDevice> metal = MTLCreateSystemDefaultDevice();
  MPSGraphTensorData* data = [[MPSGraphTensorData alloc] initWithDevice:[MPSGraphDevice deviceWithMTLDevice:metal]
                                                                   data:[NSData dataWithBytes:values
                                                                                       length:count * sizeof(float)]
                                                                  shape:shape
                                                               dataType:MPSDataTypeFloat32];
#if !__has_feature(objc_arc)
  [metal release];
  [data autorelease];
#endif
  return data;
}

/// The elements of float32 data in order; valid in the present pool.
static inline const float* floats_of(MPSGraphTensorData* data) {
  NSUInteger count = 1;
  for (NSNumber* dimension in data.shape) count *= dimension.unsignedIntegerValue;
  NSMutableData* bytes = [NSMutableData dataWithLength:count * sizeof(float)];
  [[data mpsndarray] readBytes:[bytes mutableBytes] strideBytes:nil];
  return (const float*)[bytes bytes];
}

/// The first element of float32 data.
static inline float float_of(MPSGraphTensorData* data) { return floats_of(data)[0]; }
