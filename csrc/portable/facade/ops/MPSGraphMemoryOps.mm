// Placeholders, constants and variables.

#include "compiler/imitation.h"
#include "facade/graph/build.h"
#include "facade/imitation.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

// The type of a tensor whose elements `data` holds.
ir::Type stored_type(NSData* data, MPSShape* shape, MPSDataType dtype, NSString* method) {
  require_kind(data, [NSData class]);
  const ir::Type type{dtype_of(dtype), shape_of(shape)};
  if (!type.is_static()) {
    raise_invalid(@"[%@] A shape without -1 was expected, got %s.", method, to_string(type.shape).c_str());
  }
  if ([data length] != type.byte_count()) {
    raise_invalid(@"[%@] The shape %s of type %s takes %zu bytes, but the data has %zu.", method,
                  to_string(type.shape).c_str(), std::string(name(type.dtype)).c_str(), type.byte_count(),
                  [data length]);
  }
  return type;
}

std::span<const std::byte> bytes_of(NSData* data) {
  return {static_cast<const std::byte*>([data bytes]), [data length]};
}

MPSGraphTensor* constant(MPSGraph* graph, ir::LiteralRef literal) {
  return add(graph, OpCode::constant, {}, {{Attr::kValue, std::move(literal)}}, nil);
}

// The shape of a constant of one number. [-1] means the shape that the context needs; a scalar gives it by
// broadcasting.
ir::Shape splat_shape(MPSShape* shape, NSString* method) {
  const ir::Shape given = shape_of(shape);
  if (given == ir::Shape({-1})) return ir::Shape();
  if (!given.is_static()) {
    raise_invalid(@"[%@] A shape without -1, or [-1] for a scalar, was expected, got %s.", method,
                  to_string(given).c_str());
  }
  return given;
}

MPSGraphTensor* splat(MPSGraph* graph, double scalar, ir::Shape shape, MPSDataType dtype) {
  const ir::Type type{dtype_of(dtype), std::move(shape)};
  const bool is_255 = type.dtype == ir::DType::boolean && scalar != 0 && imitates(ir::Quirk::true_is_255);
  ir::LiteralRef literal;
  build([&] {
    literal = is_255 ? std::make_shared<ir::Literal>(type, std::span(&compiler::kTrueOf255, 1))
                     : ir::Literal::splat(type, scalar);
  });
  return constant(graph, std::move(literal));
}

}  // namespace

@implementation MPSGraph (MemoryOps)

- (MPSGraphTensor*)placeholderWithShape:(MPSShape*)shape dataType:(MPSDataType)dataType name:(NSString*)name {
  MPSGraphTensor* tensor = add(self, OpCode::placeholder, {},
                               {{Attr::kShape, shape_or_unranked(shape)}, {Attr::kDtype, dtype_of(dataType)}}, name);
  graph_of(self)->placeholders.push_back(tensor);
  return tensor;
}

FORWARD(MPSGraphTensor*, passes(placeholderWithShape), sends(dataType, MPSDataTypeFloat32), passes(name))

- (MPSGraphTensor*)constantWithData:(NSData*)data shape:(MPSShape*)shape dataType:(MPSDataType)dataType {
  const ir::Type type = stored_type(data, shape, dataType, @"constantWithData");
  const std::span<const std::byte> bytes = bytes_of(data);
  ir::LiteralRef literal;
  build([&] { literal = std::make_shared<ir::Literal>(type, bytes); });
  return constant(self, std::move(literal));
}

- (MPSGraphTensor*)constantWithScalar:(double)scalar dataType:(MPSDataType)dataType {
  return splat(self, scalar, ir::Shape(), dataType);
}

- (MPSGraphTensor*)constantWithScalar:(double)scalar shape:(MPSShape*)shape dataType:(MPSDataType)dataType {
  return splat(self, scalar, splat_shape(shape, @"constantWithScalar"), dataType);
}

FORWARD(MPSGraphTensor*, passes(constantWithRealPart, double), passes(imaginaryPart, double),
        sends(dataType, MPSDataTypeComplexFloat32))

- (MPSGraphTensor*)constantWithRealPart:(double)realPart
                          imaginaryPart:(double)imaginaryPart
                               dataType:(MPSDataType)dataType {
  const ir::DType dtype = dtype_of(dataType);
  const auto part = part_of(dtype);
  if (!part) {
    raise_invalid(@"[constantWithRealPart] A complex type was expected, got %s.", std::string(ir::name(dtype)).c_str());
  }
  const auto scalar = [&](double number) {
    return value_of([self constantWithScalar:number dataType:data_type_of(*part)]);
  };
  return add(self, ir::Composite::complex, {scalar(realPart), scalar(imaginaryPart)}, {}, nil);
}

- (MPSGraphTensor*)constantWithRealPart:(double)realPart
                          imaginaryPart:(double)imaginaryPart
                                  shape:(MPSShape*)shape
                               dataType:(MPSDataType)dataType {
  MPSGraphTensor* scalar = [self constantWithRealPart:realPart imaginaryPart:imaginaryPart dataType:dataType];
  const ir::Shape given = splat_shape(shape, @"constantWithRealPart");
  if (given == ir::Shape()) return scalar;
  return add(self, OpCode::broadcast_to, {value_of(scalar)}, {{Attr::kShape, given}}, nil);
}

- (MPSGraphTensor*)variableWithData:(NSData*)data
                              shape:(MPSShape*)shape
                           dataType:(MPSDataType)dataType
                               name:(NSString*)name {
  const ir::Type type = stored_type(data, shape, dataType, @"variableWithData");
  const std::span<const std::byte> bytes = bytes_of(data);
  FacadeGraph& graph = *graph_of(self);
  // The value is on the device already; the graph needs only its type.
  MPSGraphTensor* tensor = add(self, OpCode::variable, {}, {{Attr::kValue, ir::Literal::elsewhere(type)}}, name);
  build([&] { graph.allocate_variable(bytes); });
  return tensor;
}

- (MPSGraphTensor*)variableFromTensorWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  const ir::Value value = value_of(self, tensor);
  if (value.op->code != OpCode::constant) {
    raise_invalid(@"[variableFromTensor] A constant was expected: it is not documented when a variable takes the value "
                  @"of another tensor; use variableWithData and assignVariable.");
  }
  const ir::LiteralRef& literal = value.op->attributes.get<ir::LiteralRef>(Attr::kValue);
  NSMutableData* data = [NSMutableData dataWithLength:literal->type().byte_count()];
  build([&, to = static_cast<std::byte*>([data mutableBytes])] { literal->fill(to); });
  return [self variableWithData:data shape:[tensor shape] dataType:[tensor dataType] name:name];
}

- (MPSGraphTensor*)readVariable:(MPSGraphTensor*)variable name:(NSString*)name {
  return add(self, OpCode::read_variable, {value_of(self, variable)}, {}, name);
}

- (MPSGraphOperation*)assignVariable:(MPSGraphTensor*)variable
                   withValueOfTensor:(MPSGraphTensor*)tensor
                                name:(NSString*)name {
  ir::Op* op = add_op(self, OpCode::assign, {value_of(self, variable), value_of(self, tensor)}, {}, name);
  return operation_of(graph_of(self), op);
}

@end
