// Which random numbers are drawn.

#include "facade/ops/random_fields.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

RandomFields& fields_of(MPSGraphRandomOpDescriptor* descriptor) {
  static const Class our_class = [MPSGraphRandomOpDescriptor class];
  require_kind(descriptor, our_class);
  return *static_cast<RandomFields*>(descriptor->_impl);
}

}  // namespace alloy::facade

// The accessors of one field.
#define RANDOM_PROPERTY(type, getter, setter) \
  -(type)getter {                             \
    return fields_of(self).getter;            \
  }                                           \
  -(void)setter : (type)value {               \
    fields_of(self).getter = value;           \
  }

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

RANDOM_PROPERTY(MPSGraphRandomDistribution, distribution, setDistribution)
RANDOM_PROPERTY(MPSDataType, dataType, setDataType)
RANDOM_PROPERTY(float, min, setMin)
RANDOM_PROPERTY(float, max, setMax)
RANDOM_PROPERTY(NSInteger, minInteger, setMinInteger)
RANDOM_PROPERTY(NSInteger, maxInteger, setMaxInteger)
RANDOM_PROPERTY(float, mean, setMean)
RANDOM_PROPERTY(float, standardDeviation, setStandardDeviation)
RANDOM_PROPERTY(MPSGraphRandomNormalSamplingMethod, samplingMethod, setSamplingMethod)

@end
