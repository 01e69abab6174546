// The framework's words for types, shapes, numbers and names of ir. Private to the engine.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <string>

#include "ir/shape.h"

namespace alloy::engine {

MPSDataType mps_type(ir::DType dtype);
MPSShape* mps_shape(const ir::Shape& shape);
NSArray<NSNumber*>* mps_numbers(const ir::Dims& numbers);
// nil for an empty text.
NSString* mps_name(const std::string& text);

}  // namespace alloy::engine
