// Conversions between MPSGraph's and ir's element types, shapes and numbers.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <optional>

#include "ir/shape.h"

namespace alloy::facade {

// Element types. For a type that ir does not know, the first returns nothing and the second raises.
std::optional<ir::DType> find_dtype(MPSDataType type);
ir::DType dtype_of(MPSDataType type);
MPSDataType data_type_of(ir::DType dtype);
// Raises for an object that is no shape.
ir::Shape shape_of(MPSShape* shape);
// The same, but nil is an unranked shape.
ir::Shape shape_or_unranked(MPSShape* shape);
MPSShape* mps_shape_of(const ir::Shape& shape);
// The numbers of an array; raises for any other object.
ir::Dims numbers_of(NSArray<NSNumber*>* numbers);

}  // namespace alloy::facade
