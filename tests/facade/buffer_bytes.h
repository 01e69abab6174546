// Buffers and their elements, also where the host does not see the memory of the device.
#pragma once

#include "objects.h"

template <class T>
id<MTLBuffer> buffer_of(id<MTLDevice> device, const std::vector<T>& values) {
  return [[device newBufferWithBytes:values.data() length:values.size() * sizeof(T) options:0] autorelease];
}

// All elements of the buffer.
template <class T>
std::vector<T> values_in(id<MTLBuffer> buffer) {
  const NSUInteger count = [buffer length] / sizeof(T);
  const MPSDataType type = sizeof(T) == 1   ? MPSDataTypeUInt8
                           : sizeof(T) == 2 ? MPSDataTypeUInt16
                           : sizeof(T) == 4 ? MPSDataTypeUInt32
                                            : MPSDataTypeUInt64;
  NSArray* shape = [NSArray arrayWithObject:[NSNumber numberWithUnsignedInteger:count]];
  MPSGraphTensorData* data = [[MPSGraphTensorData alloc] initWithMTLBuffer:buffer shape:shape dataType:type];
  std::vector<T> values(count);
  [[data mpsndarray] readBytes:values.data() strideBytes:nil];
  [data release];
  return values;
}

template <class T>
std::vector<T> values_of(MPSNDArray* array) {
  NSUInteger count = 1;
  for (NSUInteger i = 0; i < [array numberOfDimensions]; ++i) count *= [array lengthOfDimension:i];
  std::vector<T> values(count);
  [array readBytes:values.data() strideBytes:nil];
  return values;
}

// Commits what was encoded and waits for it; it must succeed.
inline void finish(id<MTLCommandBuffer> buffer) {
  [buffer commit];
  [buffer waitUntilCompleted];
  CHECK([buffer status] == MTLCommandBufferStatusCompleted);
}

inline std::vector<float> counted(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}
