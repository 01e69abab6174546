// Reductions, all of which are rows of ops.def.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

@implementation MPSGraph (MPSGraphReductionOps)

#define ALLOY_REDUCTION(op, stem, ...)                                                                          \
  -(MPSGraphTensor*)stem##WithTensor : (MPSGraphTensor*)tensor axis : (NSInteger)axis name : (NSString*)name {  \
    return add(self, OpCode::op, {value_of(self, tensor)}, {{Attr::kAxes, ir::Dims{axis}}}, name);              \
  }                                                                                                             \
  -(MPSGraphTensor*)stem##WithTensor : (MPSGraphTensor*)tensor axes : (NSArray<NSNumber*>*)axes name            \
      : (NSString*)name {                                                                                       \
    return add(self, OpCode::op, {value_of(self, tensor)}, {{Attr::kAxes, axes_of(self, tensor, axes)}}, name); \
  }
#define ALLOY_ARG_REDUCTION(op, stem, ...)                                                                     \
  -(MPSGraphTensor*)stem##WithTensor : (MPSGraphTensor*)tensor axis : (NSInteger)axis name : (NSString*)name { \
    return add(self, OpCode::op, {value_of(self, tensor)}, {{Attr::kAxis, int64_t{axis}}}, name);              \
  }
#include "ir/ops.def"

@end
