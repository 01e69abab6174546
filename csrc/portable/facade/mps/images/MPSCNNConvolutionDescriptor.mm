// Extents of convolutions, and the functions applied to their results.

#include <cmath>
#include <iterator>

#include "facade/descriptor.h"
#include "facade/errors.h"
#include "facade/mps/images/convolutions.h"
#include "facade/mps/neurons.h"

using namespace alloy::facade;

namespace {

struct ConvolutionFields {
  NSUInteger kernelWidth = 3, kernelHeight = 3, inputFeatureChannels = 0, outputFeatureChannels = 0;
  NSUInteger strideInPixelsX = 1, strideInPixelsY = 1, groups = 1, dilationRateX = 1, dilationRateY = 1;
  Retained<MPSNNNeuronDescriptor*> fusedNeuronDescriptor{};
  Normalization normalization{};
};

ConvolutionFields& fields_of(MPSCNNConvolutionDescriptor* descriptor) {
  return *static_cast<ConvolutionFields*>(descriptor->_impl);
}

MPSNNNeuronDescriptor* no_neuron() { return [MPSNNNeuronDescriptor cnnNeuronDescriptorWithType:MPSCNNNeuronTypeNone]; }

NSData* bytes_of(const std::vector<double>& numbers) {
  return [NSData dataWithBytes:numbers.data() length:numbers.size() * sizeof(double)];
}

std::vector<double> numbers_in(NSData* bytes) {
  const auto* begin = static_cast<const double*>([bytes bytes]);
  return std::vector<double>(begin, begin + [bytes length] / sizeof(double));
}

// The properties that archives hold unchanged.
#define EXTENTS(F)                                   \
  F(kernelWidth, setKernelWidth)                     \
  F(kernelHeight, setKernelHeight)                   \
  F(inputFeatureChannels, setInputFeatureChannels)   \
  F(outputFeatureChannels, setOutputFeatureChannels) \
  F(strideInPixelsX, setStrideInPixelsX)             \
  F(strideInPixelsY, setStrideInPixelsY)             \
  F(groups, setGroups)                               \
  F(dilationRateX, setDilationRateX)                 \
  F(dilationRateY, setDilationRateY)

}  // namespace

namespace alloy::facade {

Normalization normalization_of(MPSCNNConvolutionDescriptor* descriptor) {
  const Normalization& all = fields_of(descriptor).normalization;
  if (!all.scale.empty() && all.scale.size() != [descriptor outputFeatureChannels]) {
    raise_invalid(@"[MPSCNNConvolution] The batch normalization was set for %lu channels, but there are %lu.",
                  static_cast<unsigned long>(all.scale.size()),
                  static_cast<unsigned long>([descriptor outputFeatureChannels]));
  }
  return all;
}

}  // namespace alloy::facade

@implementation MPSCNNConvolutionDescriptor

+ (BOOL)supportsSecureCoding {
  return YES;
}

+ (instancetype)cnnConvolutionDescriptorWithKernelWidth:(NSUInteger)kernelWidth
                                           kernelHeight:(NSUInteger)kernelHeight
                                   inputFeatureChannels:(NSUInteger)inputFeatureChannels
                                  outputFeatureChannels:(NSUInteger)outputFeatureChannels {
  MPSCNNConvolutionDescriptor* made = [[self new] autorelease];
  [made setKernelWidth:kernelWidth];
  [made setKernelHeight:kernelHeight];
  [made setInputFeatureChannels:inputFeatureChannels];
  [made setOutputFeatureChannels:outputFeatureChannels];
  return made;
}

DESCRIPTOR_LIFE(ConvolutionFields, {.fusedNeuronDescriptor = Retained<MPSNNNeuronDescriptor*>(no_neuron())})
#define EXTENT(getter, setter) DESCRIPTOR_FIELD(ConvolutionFields, NSUInteger, getter, setter)
EXTENTS(EXTENT)
#undef EXTENT

- (MPSNNNeuronDescriptor*)fusedNeuronDescriptor {
  return fields_of(self).fusedNeuronDescriptor.get();
}

- (void)setFusedNeuronDescriptor:(MPSNNNeuronDescriptor*)fusedNeuronDescriptor {
  require_kind(fusedNeuronDescriptor, [MPSNNNeuronDescriptor class]);
  fields_of(self).fusedNeuronDescriptor = Retained<MPSNNNeuronDescriptor*>(fusedNeuronDescriptor);
}

- (instancetype)initWithCoder:(NSCoder*)coder {
  if ((self = [self init])) {
#define DECODE(getter, setter) [self setter:static_cast<NSUInteger>([coder decodeInt64ForKey:@ #getter])];
    EXTENTS(DECODE)
#undef DECODE
    if (id neuron = [coder decodeObjectForKey:@"neuron"]) [self setFusedNeuronDescriptor:neuron];
    fields_of(self).normalization = {numbers_in([coder decodeObjectForKey:@"scale"]),
                                     numbers_in([coder decodeObjectForKey:@"shift"])};
  }
  return self;
}

- (void)encodeWithCoder:(NSCoder*)coder {
#define ENCODE(getter, setter) [coder encodeInt64:static_cast<int64_t>([self getter]) forKey:@ #getter];
  EXTENTS(ENCODE)
#undef ENCODE
  [coder encodeObject:[self fusedNeuronDescriptor] forKey:@"neuron"];
  [coder encodeObject:bytes_of(fields_of(self).normalization.scale) forKey:@"scale"];
  [coder encodeObject:bytes_of(fields_of(self).normalization.shift) forKey:@"shift"];
}

- (void)setBatchNormalizationParametersForInferenceWithMean:(const float*)mean
                                                   variance:(const float*)variance
                                                      gamma:(const float*)gamma
                                                       beta:(const float*)beta
                                                    epsilon:(const float)epsilon {
  Normalization all;
  for (NSUInteger i = 0; i < [self outputFeatureChannels]; ++i) {
    const double scale =
        (gamma ? double{gamma[i]} : 1) / std::sqrt((variance ? double{variance[i]} : 1) + double{epsilon});
    all.scale.push_back(scale);
    all.shift.push_back((beta ? double{beta[i]} : 0) - scale * (mean ? double{mean[i]} : 0));
  }
  fields_of(self).normalization = all;
}

- (void)setNeuronType:(MPSCNNNeuronType)neuronType parameterA:(float)parameterA parameterB:(float)parameterB {
  [self setFusedNeuronDescriptor:[MPSNNNeuronDescriptor cnnNeuronDescriptorWithType:neuronType
                                                                                  a:parameterA
                                                                                  b:parameterB]];
}

- (MPSCNNNeuronType)neuronType {
  return [[self fusedNeuronDescriptor] neuronType];
}

- (float)neuronParameterA {
  return [[self fusedNeuronDescriptor] a];
}

- (float)neuronParameterB {
  return [[self fusedNeuronDescriptor] b];
}

- (void)setNeuronToPReLUWithParametersA:(NSData*)A {
  require_kind(A, [NSData class]);
  [self setFusedNeuronDescriptor:[MPSNNNeuronDescriptor cnnNeuronPReLUDescriptorWithData:[[A copy] autorelease]
                                                                                  noCopy:false]];
}

@end

@implementation MPSCNNDepthWiseConvolutionDescriptor

- (NSUInteger)channelMultiplier {
  const NSUInteger channels = [self inputFeatureChannels];
  return channels == 0 ? 0 : [self outputFeatureChannels] / channels;
}

@end
