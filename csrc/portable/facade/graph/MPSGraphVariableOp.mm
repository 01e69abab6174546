// The operation of a variable.

#include "facade/graph/graph.h"
#include "facade/graph/types.h"

using namespace alloy;
using namespace alloy::facade;

@implementation MPSGraphVariableOp

- (MPSShape*)shape {
  return mps_shape_of(op_of(self)->results[0].shape);
}

- (MPSDataType)dataType {
  return data_type_of(op_of(self)->results[0].dtype);
}

@end
