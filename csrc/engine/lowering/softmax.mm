// Softmax, its logarithm and softmax_cross_entropy.

#import "engine/lowering/axes.h"
#import "engine/lowering/ops.h"

namespace alloy::engine {
namespace {

// Computed in float32 and rounded once.
MPSGraphTensor* log_softmax(MPSGraph* graph, MPSGraphTensor* x, NSInteger axis, NSString* name) {
  const MPSDataType type = [x dataType];
  if (type != MPSDataTypeFloat32) {
    MPSGraphTensor* wide = [graph castTensor:x toType:MPSDataTypeFloat32 name:nil];
    return [graph castTensor:log_softmax(graph, wide, axis, nil) toType:type name:name];
  }
  MPSGraphTensor* shifted = [graph subtractionWithPrimaryTensor:x
                                                secondaryTensor:[graph reductionMaximumWithTensor:x axis:axis name:nil]
                                                           name:nil];
  MPSGraphTensor* total = [graph reductionSumWithTensor:[graph exponentWithTensor:shifted name:nil] axis:axis name:nil];
  return [graph subtractionWithPrimaryTensor:shifted
                             secondaryTensor:[graph logarithmWithTensor:total name:nil]
                                        name:name];
}

MPSGraphLossReductionType loss_reduction(const std::string& word) {
  return word == "none"  ? MPSGraphLossReductionTypeAxis
         : word == "sum" ? MPSGraphLossReductionTypeSum
                         : MPSGraphLossReductionTypeMean;
}

}  // namespace

Nodes lower_softmax(Lowering& lowering, const ir::Op& op, NSString* name) {
  const AlongAxis softmax = [&](MPSGraphTensor* x, NSInteger axis, NSString* as) {
    return [lowering.graph() softMaxWithTensor:x axis:axis name:as];
  };
  return along_axis(lowering, op, softmax, name);
}

Nodes lower_log_softmax(Lowering& lowering, const ir::Op& op, NSString* name) {
  const AlongAxis work = [&](MPSGraphTensor* x, NSInteger axis, NSString* as) {
    return log_softmax(lowering.graph(), x, axis, as);
  };
  return along_axis(lowering, op, work, name);
}

Nodes lower_softmax_cross_entropy(Lowering& lowering, const ir::Op& op, NSString* name) {
  MPSGraph* graph = lowering.graph();
  const AlongAxis loss = [&](MPSGraphTensor* source, NSInteger axis, NSString* as) {
    MPSGraphTensor* labels = lowering.x(op, 1);
    if (source != lowering.x(op, 0)) labels = [graph reshapeTensor:labels withShape:[source shape] name:nil];
    return [graph softMaxCrossEntropyWithSourceTensor:source
                                         labelsTensor:labels
                                                 axis:axis
                                        reductionType:loss_reduction(op.attributes.word(ir::Attr::kReduction))
                                                 name:as];
  };
  // The shape of Apple's reduced loss is not documented.
  return [graph reshapeTensor:along_axis(lowering, op, loss, name) withShape:mps_shape(op.results[0].shape) name:nil];
}

}  // namespace alloy::engine
