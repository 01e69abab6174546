// The translation between MPSGraph's vocabulary and ir's: element types, shapes, numbers.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <optional>

#include "ir/shape.h"

namespace alloy::facade {

// Element types; nothing, or raises, for one that ir does not know.
std::optional<ir::DType> find_dtype(MPSDataType type);
ir::DType dtype_of(MPSDataType type);
MPSDataType data_type_of(ir::DType dtype);
// Shapes; raises for what is none.
ir::Shape shape_of(MPSShape* shape);
// The same where nil is unranked.
ir::Shape shape_or_unranked(MPSShape* shape);
MPSShape* mps_shape_of(const ir::Shape& shape);
// The numbers of an array; raises for what is no array of numbers.
ir::Dims numbers_of(NSArray<NSNumber*>* numbers);

}  // namespace alloy::facade
