// Reductions, all of which are rows of ops.def.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

@implementation MPSGraph (MPSGraphReductionOps)

#define ALLOY_REDUCTION(op, stem, ...)                                                                       \
  METHOD(MPSGraphTensor*, takes(stem##WithTensor), takes(axis, NSInteger), takes(name)) {                    \
    return add(self, OpCode::op, {value_of(self, stem##WithTensor)}, {{Attr::kAxes, ir::Dims{axis}}}, name); \
  }                                                                                                          \
  METHOD(MPSGraphTensor*, takes(stem##WithTensor), takes(axes), takes(name)) {                               \
    return add(self, OpCode::op, {value_of(self, stem##WithTensor)},                                         \
               {{Attr::kAxes, axes_of(self, stem##WithTensor, axes)}}, name);                                \
  }
#define ALLOY_ARG_REDUCTION(op, stem, ...)                                                                  \
  METHOD(MPSGraphTensor*, takes(stem##WithTensor), takes(axis, NSInteger), takes(name)) {                   \
    return add(self, OpCode::op, {value_of(self, stem##WithTensor)}, {{Attr::kAxis, int64_t{axis}}}, name); \
  }
#include "ir/ops.def"

@end
