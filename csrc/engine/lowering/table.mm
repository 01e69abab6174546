// Table ops: their rows name the selector.

#import "engine/lowering/axes.h"
#import "engine/lowering/ops.h"

namespace alloy::engine {
namespace {

using ir::OpCode;
using ir::Quirk;

bool is_rounding(OpCode code) {
  return code == OpCode::floor || code == OpCode::ceil || code == OpCode::round || code == OpCode::rint ||
         code == OpCode::trunc;
}

// a^b for a constant b that one or two faster ops compute exactly for every a; nil for other b. Two-byte floats are
// computed in float32 if they would be rounded twice.
MPSGraphTensor* power_of_constant(const Lowering& lowering, const ir::Op& op, NSString* name) {
  const ir::Value exponent = op.operands[1];
  if (exponent.op->code != OpCode::constant || exponent.shape() != ir::Shape()) return nil;
  const double b = exponent.op->attributes.get<ir::LiteralRef>(ir::Attr::kValue)->at(0);
  const ir::DType dtype = op.results[0].dtype;
  const bool is_floating = kind(dtype) == ir::DTypeKind::kFloating, is_half = is_floating && size_of(dtype) == 2;
  MPSGraph* graph = lowering.graph();
  MPSGraphTensor* a = lowering.x(op, 0);
  const auto widened = [&] { return [graph castTensor:a toType:mps_type(ir::DType::float32) name:nil]; };
  const auto narrowed = [&](MPSGraphTensor* y) { return [graph castTensor:y toType:mps_type(dtype) name:name]; };
  if (b == 1) return [graph identityWithTensor:a name:name];
  if (b == 2) return [graph squareWithTensor:a name:name];
  if (b == 3) {
    MPSGraphTensor* x = is_half ? widened() : a;
    MPSGraphTensor* y = [graph multiplicationWithPrimaryTensor:[graph squareWithTensor:x name:nil]
                                               secondaryTensor:x
                                                          name:is_half ? nil : name];
    return is_half ? narrowed(y) : y;
  }
  if (!is_floating) return nil;
  if (b == -1) return [graph reciprocalWithTensor:a name:name];
  if (b == -2) {
    MPSGraphTensor* inverse = [graph reciprocalWithTensor:is_half ? widened() : a name:nil];
    MPSGraphTensor* y = [graph squareWithTensor:inverse name:is_half ? nil : name];
    return is_half ? narrowed(y) : y;
  }
  if (b != 0.5) return nil;
  // Unlike the root, the power 0.5 of -0 is +0 and of -inf is inf.
  MPSGraphTensor* root = [graph absoluteWithTensor:[graph squareRootWithTensor:a name:nil] name:nil];
  return [graph selectWithPredicateTensor:[graph isInfiniteWithTensor:a name:nil]
                      truePredicateTensor:[graph absoluteWithTensor:a name:nil]
                     falsePredicateTensor:root
                                     name:name];
}

// A replacement for a row's selector if the framework's is wrong or slower; nil if there is none.
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
  // It is not known if the framework accepts integers.
  if (is_integer && is_rounding(op.code)) return [lowering.graph() identityWithTensor:lowering.x(op) name:name];
  if (op.code == OpCode::power) {
    if (MPSGraphTensor* other = power_of_constant(lowering, op, name); other != nil) return other;
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
