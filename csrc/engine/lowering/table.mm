// Table ops: the selector is made from the stem in the op's row.

#import "engine/lowering/axes.h"
#import "engine/lowering/ops.h"

namespace alloy::engine {
namespace {

using ir::OpCode;
using ir::Quirk;

// What stands in for a row's selector where the framework is wrong about it; nil where it is right.
MPSGraphTensor* stand_in(const Lowering& lowering, const ir::Op& op, NSString* name) {
  const ir::DType dtype = op.results[0].dtype;
  const bool is_integer = kind(dtype) == ir::DTypeKind::kSigned || kind(dtype) == ir::DTypeKind::kUnsigned;
  if (op.code == OpCode::divide && is_integer && lowering.has(Quirk::integer_quotient)) {
    if (dtype == ir::DType::uint64) op.fail("Quotients of uint64 are not exact on this system", ir::Error::Kind::kType);
    const ir::DType wide = computed_in(dtype);
    MPSGraph* graph = lowering.graph();
    if (wide == dtype) return exact_quotient(graph, lowering.x(op, 0), lowering.x(op, 1), dtype, name);
    const auto widened = [&](size_t i) { return [graph castTensor:lowering.x(op, i) toType:mps_type(wide) name:nil]; };
    return [graph castTensor:exact_quotient(graph, widened(0), widened(1), wide, nil) toType:mps_type(dtype) name:name];
  }
  if (op.code == OpCode::sign && lowering.has(Quirk::sign_of_negative_zero)) {
    return sign_by_comparison(lowering.graph(), lowering.x(op), dtype, name);
  }
  if (op.code == OpCode::power && lowering.has(Quirk::power_of_negative)) {
    return power_of_any_base(lowering.graph(), lowering.x(op, 0), lowering.x(op, 1), dtype, name);
  }
  return nil;
}

}  // namespace

#define ALLOY_UNARY(op_name, stem, ...)                                                   \
  Nodes lower_##op_name(Lowering& lowering, const ir::Op& op, NSString* name) {           \
    if (MPSGraphTensor* other = stand_in(lowering, op, name); other != nil) return other; \
    return [lowering.graph() stem##WithTensor:lowering.x(op) name:name];                  \
  }
#define ALLOY_ACTIVATION ALLOY_UNARY
#define ALLOY_PREDICATE ALLOY_UNARY
#define ALLOY_BINARY(op_name, stem, ...)                                                                             \
  Nodes lower_##op_name(Lowering& lowering, const ir::Op& op, NSString* name) {                                      \
    if (MPSGraphTensor* other = stand_in(lowering, op, name); other != nil) return other;                            \
    return [lowering.graph() stem##WithPrimaryTensor:lowering.x(op, 0) secondaryTensor:lowering.x(op, 1) name:name]; \
  }
#define ALLOY_COMPARISON ALLOY_BINARY
#define ALLOY_ACTIVATION_GRADIENT(op_name, stem, ...)                                                                \
  Nodes lower_##op_name(Lowering& lowering, const ir::Op& op, NSString* name) {                                      \
    return [lowering.graph() stem##WithIncomingGradient:lowering.x(op, 0) sourceTensor:lowering.x(op, 1) name:name]; \
  }
#define ALLOY_REDUCTION(op_name, stem, ...)                                                \
  Nodes lower_##op_name(Lowering& lowering, const ir::Op& op, NSString* name) {            \
    const Reduction row = [&](MPSGraphTensor* x, NSArray<NSNumber*>* axes, NSString* as) { \
      return [lowering.graph() stem##WithTensor:x axes:axes name:as];                      \
    };                                                                                     \
    return reduced(lowering, op, row, name);                                               \
  }
#define ALLOY_MOMENT(op_name, stem, ...)                                                   \
  Nodes lower_##op_name(Lowering& lowering, const ir::Op& op, NSString* name) {            \
    const Reduction row = [&](MPSGraphTensor* x, NSArray<NSNumber*>* axes, NSString* as) { \
      return [lowering.graph() stem##OfTensor:x axes:axes name:as];                        \
    };                                                                                     \
    return reduced(lowering, op, row, name);                                               \
  }
#define ALLOY_ARG_REDUCTION(op_name, stem, ...)                                  \
  Nodes lower_##op_name(Lowering& lowering, const ir::Op& op, NSString* name) {  \
    const AlongAxis row = [&](MPSGraphTensor* x, NSInteger axis, NSString* as) { \
      return [lowering.graph() stem##WithTensor:x axis:axis name:as];            \
    };                                                                           \
    return along_axis(lowering, op, row, name);                                  \
  }
#include "ir/ops.def"

}  // namespace alloy::engine
