// Tests that look into a buffer's memory, which the host need not see.
#pragma once

#import <Metal/Metal.h>

#include "check.h"

inline bool host_sees_memory(id<MTLDevice> device) {
  id<MTLBuffer> buffer = [device newBufferWithLength:16 options:MTLResourceStorageModeShared];
  const bool sees = [buffer contents] != nullptr;
  [buffer release];
  return sees;
}

// Runs the test where the host sees the device's memory; counts it as skipped elsewhere.
inline void where_host_sees_memory(id<MTLDevice> device, void (*test)()) {
  if (host_sees_memory(device)) test();
  else ++check::skipped;
}
