// Converts types, shapes, numbers, layouts and names of the ir to the framework's. Private to the engine.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <string>

#include "ir/shape.h"

namespace alloy::engine {

MPSDataType mps_type(ir::DType dtype);
// The ir's type for a type of the framework; throws DeviceError if there is none.
ir::DType ir_type(MPSDataType type);
MPSShape* mps_shape(const ir::Shape& shape);
NSArray<NSNumber*>* mps_numbers(const ir::Dims& numbers);
// A layout of images or weights from its word, such as "NHWC".
MPSGraphTensorNamedDataLayout mps_layout(const std::string& word);
// nil for an empty text.
NSString* mps_name(const std::string& text);
// A count in a dictionary; 0 if it is missing.
inline uint64_t number(NSDictionary* counts, NSString* key) {
  return [[counts objectForKey:key] unsignedLongLongValue];
}

}  // namespace alloy::engine
