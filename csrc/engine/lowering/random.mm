// Random numbers.

#include <string_view>

#import "engine/lowering/ops.h"
#import "engine/lowering/workarounds.h"

namespace alloy::engine {
namespace {

using ir::Attr;

MPSGraphRandomDistribution distribution(std::string_view word) {
  if (word == "normal") return MPSGraphRandomDistributionNormal;
  return word == "uniform" ? MPSGraphRandomDistributionUniform : MPSGraphRandomDistributionTruncatedNormal;
}

}  // namespace

// Only the framework itself makes this op: users keep a state in a variable.
Nodes lower_fresh_random_state(Lowering&, const ir::Op& op, NSString*) { op.fail("The op cannot be lowered"); }

Nodes lower_random(Lowering& lowering, const ir::Op& op, NSString* name) {
  const auto number = [&](Attr attr) { return static_cast<float>(op.attributes.number(attr)); };
  const ir::Type& type = op.results[0];
  MPSGraphRandomOpDescriptor* descriptor =
      [MPSGraphRandomOpDescriptor descriptorWithDistribution:distribution(op.attributes.word(Attr::kDistribution))
                                                    dataType:mps_type(type.dtype)];
  [descriptor setMin:number(Attr::kLow)];
  [descriptor setMax:number(Attr::kHigh)];
  if (type.dtype == ir::DType::int32) {
    [descriptor setMinInteger:static_cast<NSInteger>(op.attributes.number(Attr::kLow))];
    [descriptor setMaxInteger:static_cast<NSInteger>(op.attributes.number(Attr::kHigh))];
  }
  [descriptor setMean:number(Attr::kMean)];
  [descriptor setStandardDeviation:number(Attr::kDeviation)];
  const bool inverse = op.attributes.word(Attr::kSampling) == "inverse_cdf";
  [descriptor setSamplingMethod:inverse ? MPSGraphRandomNormalSamplingInvCDF : MPSGraphRandomNormalSamplingBoxMuller];
  NSArray<MPSGraphTensor*>* results = [lowering.graph() randomTensorWithShape:mps_shape(type.shape)
                                                                   descriptor:descriptor
                                                                  stateTensor:lowering.x(op)
                                                                         name:name];
  const bool is_normal = op.attributes.word(Attr::kDistribution) == "normal";
  if (!is_normal || !inverse || !lowering.has(ir::Quirk::least_normal)) return results;
  MPSGraphTensor* numbers =
      least_normal_for_nan(lowering.graph(), [results objectAtIndex:0], op.attributes.number(Attr::kMean),
                           op.attributes.number(Attr::kDeviation), type.dtype, nil);
  return [NSArray arrayWithObjects:numbers, [results objectAtIndex:1], nil];
}

}  // namespace alloy::engine
