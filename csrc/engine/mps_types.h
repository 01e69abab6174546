// The framework's words for types, shapes, numbers, layouts and names of ir. Private to the engine.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <string>

#include "ir/shape.h"

namespace alloy::engine {

MPSDataType mps_type(ir::DType dtype);
// The type that is one of these; throws DeviceError for others.
ir::DType ir_type(MPSDataType type);
MPSShape* mps_shape(const ir::Shape& shape);
NSArray<NSNumber*>* mps_numbers(const ir::Dims& numbers);
// A layout of images or of weights from its word, such as "NHWC".
MPSGraphTensorNamedDataLayout mps_layout(const std::string& word);
// nil for an empty text.
NSString* mps_name(const std::string& text);
// A count in a dictionary; 0 where it has none.
inline uint64_t number(NSDictionary* counts, NSString* key) {
  return [[counts objectForKey:key] unsignedLongLongValue];
}

}  // namespace alloy::engine
