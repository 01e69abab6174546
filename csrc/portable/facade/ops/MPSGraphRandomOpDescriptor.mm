// The distribution of random numbers.

#include "facade/ops/random_fields.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

DESCRIPTOR_FIELDS(RandomFields, MPSGraphRandomOpDescriptor)

}  // namespace alloy::facade

@implementation MPSGraphRandomOpDescriptor

+ (instancetype)descriptorWithDistribution:(MPSGraphRandomDistribution)distribution dataType:(MPSDataType)dataType {
  MPSGraphRandomOpDescriptor* descriptor = [[self new] autorelease];
  RandomFields& fields = fields_of(descriptor);
  fields.distribution = distribution;
  fields.dataType = dataType;
  if (distribution == MPSGraphRandomDistributionUniform) return descriptor;
  fields.min = -2;
  fields.max = 2;
  fields.maxInteger = 0;
  fields.standardDeviation = 1;
  return descriptor;
}

DESCRIPTOR_LIFE(RandomFields, {})

DESCRIPTOR_FIELD(RandomFields, MPSGraphRandomDistribution, distribution, setDistribution)
DESCRIPTOR_FIELD(RandomFields, MPSDataType, dataType, setDataType)
DESCRIPTOR_FIELD(RandomFields, float, min, setMin)
DESCRIPTOR_FIELD(RandomFields, float, max, setMax)
DESCRIPTOR_FIELD(RandomFields, NSInteger, minInteger, setMinInteger)
DESCRIPTOR_FIELD(RandomFields, NSInteger, maxInteger, setMaxInteger)
DESCRIPTOR_FIELD(RandomFields, float, mean, setMean)
DESCRIPTOR_FIELD(RandomFields, float, standardDeviation, setStandardDeviation)
DESCRIPTOR_FIELD(RandomFields, MPSGraphRandomNormalSamplingMethod, samplingMethod, setSamplingMethod)

@end
