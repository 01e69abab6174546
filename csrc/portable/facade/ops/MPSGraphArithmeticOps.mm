// Elementwise ops and comparisons. The selectors of table rows come from ops.def.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

// In arithmetic of a number with a bool, the bool is 0 or 1 in the number's type. Other types must be equal.
MPSGraphTensor* add_arithmetic(MPSGraph* graph, OpCode code, ir::Value a, ir::Value b, NSString* name) {
  auto as_number = [&](ir::Value v, ir::DType dtype) {
    const bool is_mixed = v.dtype() == ir::DType::boolean && ir::accepts(ir::TypeClass::numeric, dtype);
    return is_mixed ? value_of(add(graph, OpCode::cast, {v}, {{Attr::kDtype, dtype}}, nil)) : v;
  };
  return add(graph, code, {as_number(a, b.dtype()), as_number(b, a.dtype())}, {}, name);
}

}  // namespace

@implementation MPSGraph (MPSGraphArithmeticOps)

#define ALLOY_UNARY(op, stem, ...)                                              \
  METHOD(MPSGraphTensor*, takes(stem##WithTensor), takes(name)) {               \
    return add(self, OpCode::op, {value_of(self, stem##WithTensor)}, {}, name); \
  }
#define ALLOY_PREDICATE ALLOY_UNARY
#define ALLOY_BINARY(op, stem, ...)                                                                                   \
  METHOD(MPSGraphTensor*, takes(stem##WithPrimaryTensor), takes(secondaryTensor), takes(name)) {                      \
    return add_arithmetic(self, OpCode::op, value_of(self, stem##WithPrimaryTensor), value_of(self, secondaryTensor), \
                          name);                                                                                      \
  }
#define ALLOY_COMPARISON(op, stem, ...)                                                                          \
  METHOD(MPSGraphTensor*, takes(stem##WithPrimaryTensor), takes(secondaryTensor), takes(name)) {                 \
    return add(self, OpCode::op, {value_of(self, stem##WithPrimaryTensor), value_of(self, secondaryTensor)}, {}, \
               name);                                                                                            \
  }
#include "ir/ops.def"

FORWARD(MPSGraphTensor*, takes(reciprocalSquareRootWithTensor),
        sends(reverseSquareRootWithTensor, reciprocalSquareRootWithTensor), passes(name))

- (MPSGraphTensor*)absoluteSquareWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add(self, ir::Composite::absolute_square, {value_of(self, tensor)}, {}, name);
}

- (MPSGraphTensor*)conjugateWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add(self, ir::Composite::conjugate, {value_of(self, tensor)}, {}, name);
}

- (MPSGraphTensor*)realPartOfTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add(self, ir::Composite::real, {value_of(self, tensor)}, {}, name);
}

- (MPSGraphTensor*)imaginaryPartOfTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add(self, ir::Composite::imag, {value_of(self, tensor)}, {}, name);
}

- (MPSGraphTensor*)complexTensorWithRealTensor:(MPSGraphTensor*)real
                               imaginaryTensor:(MPSGraphTensor*)imaginary
                                          name:(NSString*)name {
  return add(self, ir::Composite::complex, {value_of(self, real), value_of(self, imaginary)}, {}, name);
}

- (MPSGraphTensor*)planarTensorWithComplexTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add(self, ir::Composite::planar, {value_of(self, tensor)}, {}, name);
}

- (MPSGraphTensor*)selectWithPredicateTensor:(MPSGraphTensor*)predicate
                         truePredicateTensor:(MPSGraphTensor*)yes
                        falsePredicateTensor:(MPSGraphTensor*)no
                                        name:(NSString*)name {
  return add(self, OpCode::select, {value_of(self, predicate), value_of(self, yes), value_of(self, no)}, {}, name);
}

- (MPSGraphTensor*)clampWithTensor:(MPSGraphTensor*)tensor
                    minValueTensor:(MPSGraphTensor*)low
                    maxValueTensor:(MPSGraphTensor*)high
                              name:(NSString*)name {
  return add(self, OpCode::clamp, {value_of(self, tensor), value_of(self, low), value_of(self, high)}, {}, name);
}

@end
