// Floats as small integers, and back.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::Composite;

namespace {

// A scalar of float32, the type in which everything here is computed.
MPSGraphTensor* number(MPSGraph* graph, double value) {
  return [graph constantWithScalar:value dataType:MPSDataTypeFloat32];
}

MPSGraphTensor* scaled(MPSGraph* graph, Composite way, const std::vector<ir::Value>& operands, MPSDataType dtype,
                       NSInteger axis, NSString* name) {
  return add(graph, way, operands, {{Attr::kDtype, dtype_of(dtype)}, {Attr::kAxis, int64_t{axis}}}, name);
}

// Checks that scales or zero points of blocks have the tensor's rank; scalars may have any.
void require_blocks(ir::Value x, ir::Value blocks) {
  const ir::Shape &shape = x.shape(), &given = blocks.shape();
  if (shape.ranked() && given.ranked() && given.rank() != shape.rank() && given.rank() != 0) {
    raise_invalid(@"[dequantize] Expected a scale and a zero point of the rank of shape %s, got shape %s.",
                  to_string(shape).c_str(), to_string(given).c_str());
  }
}

// Checks that a table has `more` dimensions more than the tensor.
void require_table(ir::Value x, ir::Value table, int64_t more) {
  const ir::Shape &shape = x.shape(), &given = table.shape();
  if (shape.ranked() && given.ranked() && given.rank() != shape.rank() + more) {
    raise_invalid(@"[dequantize] Expected a table of %lld dimensions more than shape %s has, got shape %s.",
                  static_cast<long long>(more), to_string(shape).c_str(), to_string(given).c_str());
  }
}

}  // namespace

// The methods of quantize or dequantize with scale and zero point as numbers or as tensors along an axis.
#define QUANTIZATION(selector, way)                                                                                   \
  METHOD(MPSGraphTensor*, takes(selector), takes(scaleTensor), takes(zeroPointTensor), takes(dataType, MPSDataType),  \
         takes(axis, NSInteger), takes(name)) {                                                                       \
    return scaled(self, Composite::way,                                                                               \
                  {value_of(self, selector), value_of(self, scaleTensor), value_of(self, zeroPointTensor)}, dataType, \
                  axis, name);                                                                                        \
  }                                                                                                                   \
  FORWARD(MPSGraphTensor*, passes(selector), passes(scaleTensor), takes(zeroPoint, double),                           \
          sends(zeroPointTensor, number(self, zeroPoint)), passes(dataType, MPSDataType), passes(axis, NSInteger),    \
          passes(name))                                                                                               \
  FORWARD(MPSGraphTensor*, passes(selector), takes(scale, double), sends(scaleTensor, number(self, scale)),           \
          passes(zeroPoint, double), passes(dataType, MPSDataType), sends(axis, -1), passes(name))

@implementation MPSGraph (MPSGraphQuantizationOps)

QUANTIZATION(quantizeTensor, quantize)
QUANTIZATION(dequantizeTensor, dequantize)

- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor
                        scaleTensor:(MPSGraphTensor*)scaleTensor
                    zeroPointTensor:(MPSGraphTensor*)zeroPointTensor
                           dataType:(MPSDataType)dataType
                               name:(NSString*)name {
  require_blocks(value_of(self, tensor), value_of(self, scaleTensor));
  require_blocks(value_of(self, tensor), value_of(self, zeroPointTensor));
  return scaled(self, Composite::dequantize,
                {value_of(self, tensor), value_of(self, scaleTensor), value_of(self, zeroPointTensor)}, dataType, -1,
                name);
}

FORWARD(MPSGraphTensor*, passes(dequantizeTensor), passes(scaleTensor), sends(zeroPointTensor, number(self, 0)),
        passes(dataType, MPSDataType), passes(name))

- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor LUTTensor:(MPSGraphTensor*)LUTTensor name:(NSString*)name {
  require_table(value_of(self, tensor), value_of(self, LUTTensor), 1);
  return add(self, Composite::dequantize_lut, {value_of(self, tensor), value_of(self, LUTTensor)},
             {{Attr::kAxis, int64_t{-1}}}, name);
}

- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor
                          LUTTensor:(MPSGraphTensor*)LUTTensor
                               axis:(NSInteger)axis
                               name:(NSString*)name {
  require_table(value_of(self, tensor), value_of(self, LUTTensor), 2);
  return add(self, Composite::dequantize_lut, {value_of(self, tensor), value_of(self, LUTTensor)},
             {{Attr::kAxis, int64_t{axis}}}, name);
}

@end
