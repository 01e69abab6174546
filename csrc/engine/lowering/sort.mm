// Sorting and cumulative ops.

#import "engine/lowering/axes.h"
#import "engine/lowering/ops.h"

namespace alloy::engine {

using ir::Attr;
using ir::DType;
using ir::Quirk;

namespace {

MPSGraphTensor* in_order(const Lowering& lowering, const ir::Op& op, const AlongAxis& work, NSString* name) {
  const int64_t rank = op.operands[0].shape().rank();
  const bool is_flat = lowering.has(Quirk::order_beyond_axis4) &&
                       !ir::is_near_the_end(*ir::normalize_axis(op.attributes.integer(Attr::kAxis), rank), rank);
  return along_axis(lowering, op, is_flat, work, name);
}

// Numbers of the same order, in a type that the framework sorts.
MPSGraphTensor* sortable(const Lowering& lowering, const ir::Op& op, MPSGraphTensor* x) {
  const DType dtype = op.operands[0].dtype();
  if (ir::is_sorted_as_it_is(dtype) || !lowering.has(Quirk::order_of_other_types)) return x;
  MPSGraph* graph = lowering.graph();
  if (dtype != DType::uint64)
    return as_type(graph, x, dtype, dtype == DType::boolean ? DType::int32 : computed_in(dtype));
  MPSGraphTensor* bits = [graph reinterpretCastTensor:x toType:MPSDataTypeInt64 name:nil];
  MPSGraphTensor* least = [graph constantWithScalar:-0x1p63 dataType:MPSDataTypeInt64];
  return [graph additionWithPrimaryTensor:bits secondaryTensor:least name:nil];  // wraps around: x - 2^63
}

}  // namespace

Nodes lower_argsort(Lowering& lowering, const ir::Op& op, NSString* name) {
  MPSGraph* graph = lowering.graph();
  const ir::Shape& x = op.operands[0].shape();
  const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), x.rank()),
                count = op.results[0].shape[axis];
  const bool is_whole = count == x[axis];
  const AlongAxis work = [&](MPSGraphTensor* source, NSInteger along, NSString* as) {
    MPSGraphTensor* order = [graph argSortWithTensor:sortable(lowering, op, source)
                                                axis:along
                                          descending:op.attributes.flag(Attr::kDescending)
                                                name:is_whole ? as : nil];
    if (is_whole) return order;
    return [graph sliceTensor:order dimension:static_cast<NSUInteger>(along) start:0 length:count name:as];
  };
  return in_order(lowering, op, work, name);
}

Nodes lower_accumulate(Lowering& lowering, const ir::Op& op, NSString* name) {
  MPSGraph* graph = lowering.graph();
  const std::string& operation = op.attributes.word(Attr::kOperation);
  const BOOL reverse = op.attributes.flag(Attr::kReverse);
  const DType dtype = op.results[0].dtype;
  const bool is_widened = ir::is_narrow(dtype) && lowering.has(Quirk::narrow_accumulation);
  const DType wide = is_widened ? computed_in(dtype) : dtype;
  const AlongAxis accumulated = [&](MPSGraphTensor* x, NSInteger axis, NSString* as) {
    if (operation == "sum") return [graph cumulativeSumWithTensor:x axis:axis exclusive:NO reverse:reverse name:as];
    if (operation == "product") {
      return [graph cumulativeProductWithTensor:x axis:axis exclusive:NO reverse:reverse name:as];
    }
    if (operation == "minimum") {
      return [graph cumulativeMinimumWithTensor:x axis:axis exclusive:NO reverse:reverse name:as];
    }
    return [graph cumulativeMaximumWithTensor:x axis:axis exclusive:NO reverse:reverse name:as];
  };
  const AlongAxis work = [&](MPSGraphTensor* x, NSInteger axis, NSString* as) {
    MPSGraphTensor* total = accumulated(as_type(graph, x, dtype, wide), axis, is_widened ? nil : as);
    return as_type(graph, total, wide, dtype, as);
  };
  return in_order(lowering, op, work, name);
}

}  // namespace alloy::engine
