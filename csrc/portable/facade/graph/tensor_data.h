// The memory and the type of tensor data.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include "facade/mps/arrays.h"
#include "ir/shape.h"

namespace alloy::facade {

// The memory of `data`; valid while the data lives.
const device::ArrayMemory& memory_of(MPSGraphTensorData* data);

// New packed tensor data with undefined contents, retained for the caller; `shape` has no negative length.
MPSGraphTensorData* new_tensor_data(id<MTLDevice> device, MPSShape* shape, MPSDataType type) NS_RETURNS_RETAINED;

// The type of an array; raises for nil, and for an element type that ir does not know. Valid while the data lives.
const ir::Type& type_of(MPSGraphTensorData* data);

}  // namespace alloy::facade
