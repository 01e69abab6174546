// The memory of arrays.
#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <memory>

#include "device/array_layout.h"
#include "facade/metal/metal.h"

namespace alloy::facade {

// The packed layout of `shape`; raises, naming `method`, unless all lengths are positive, there are at most
// kMaxRank of them and the number of elements fits an int.
device::ArrayLayout packed_layout(MPSShape* shape, MPSDataType type, NSString* method);

// A new array over `storage`, or over new storage with undefined contents when null; retained for the caller.
MPSNDArray* new_array(id<MTLDevice> device, std::shared_ptr<device::Storage> storage, const device::ArrayLayout& layout,
                      MPSDataType type) NS_RETURNS_RETAINED;

// The memory of `array`; valid while the array lives.
const device::ArrayMemory& memory_of(MPSNDArray* array);

// Bytes of an element; raises for a type that is invalid or narrower than a byte.
size_t element_bytes(MPSDataType type, NSString* method);

}  // namespace alloy::facade
