// The fields of a descriptor of random numbers.
#pragma once

#include "facade/ops/descriptor.h"

namespace alloy::facade {

struct RandomFields {
  MPSGraphRandomDistribution distribution = MPSGraphRandomDistributionUniform;
  MPSDataType dataType = MPSDataTypeFloat32;
  float min = 0, max = 1;
  NSInteger minInteger = 0, maxInteger = INT32_MAX;
  float mean = 0, standardDeviation = 0;
  MPSGraphRandomNormalSamplingMethod samplingMethod = MPSGraphRandomNormalSamplingInvCDF;
};

RandomFields& fields_of(MPSGraphRandomOpDescriptor* descriptor);

}  // namespace alloy::facade
