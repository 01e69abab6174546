// A function of each channel, which kernels apply to their results.

#include "facade/descriptor.h"
#include "facade/errors.h"
#include "facade/mps/neurons.h"

using namespace alloy::facade;

namespace {

struct NeuronFields {
  MPSCNNNeuronType neuronType = MPSCNNNeuronTypeNone;
  float a = 0, b = 0, c = 0;
  Retained<NSData*> data{};
};

}  // namespace

@implementation MPSNNNeuronDescriptor

+ (BOOL)supportsSecureCoding {
  return YES;
}

+ (MPSNNNeuronDescriptor*)cnnNeuronDescriptorWithType:(MPSCNNNeuronType)neuronType {
  return [self cnnNeuronDescriptorWithType:neuronType a:0 b:0 c:0];
}

+ (MPSNNNeuronDescriptor*)cnnNeuronDescriptorWithType:(MPSCNNNeuronType)neuronType a:(float)a {
  return [self cnnNeuronDescriptorWithType:neuronType a:a b:0 c:0];
}

+ (MPSNNNeuronDescriptor*)cnnNeuronDescriptorWithType:(MPSCNNNeuronType)neuronType a:(float)a b:(float)b {
  return [self cnnNeuronDescriptorWithType:neuronType a:a b:b c:0];
}

+ (MPSNNNeuronDescriptor*)cnnNeuronDescriptorWithType:(MPSCNNNeuronType)neuronType a:(float)a b:(float)b c:(float)c {
  require_shared_parameters(neuronType, @"cnnNeuronDescriptorWithType");
  MPSNNNeuronDescriptor* made = [[[self alloc] init] autorelease];
  *static_cast<NeuronFields*>(made->_impl) = {neuronType, a, b, c};
  return made;
}

+ (MPSNNNeuronDescriptor*)cnnNeuronPReLUDescriptorWithData:(NSData*)data noCopy:(bool)noCopy {
  require_kind(data, [NSData class]);
  MPSNNNeuronDescriptor* made = [[[self alloc] init] autorelease];
  [made setNeuronType:MPSCNNNeuronTypePReLU];
  [made setData:data];
  return made;
}

DESCRIPTOR_LIFE(NeuronFields, {})
DESCRIPTOR_FIELD(NeuronFields, MPSCNNNeuronType, neuronType, setNeuronType)
DESCRIPTOR_FIELD(NeuronFields, float, a, setA)
DESCRIPTOR_FIELD(NeuronFields, float, b, setB)
DESCRIPTOR_FIELD(NeuronFields, float, c, setC)

- (NSData*)data {
  return static_cast<NeuronFields*>(_impl)->data.get();
}

- (void)setData:(NSData*)data {
  require_kind_or_nil(data, [NSData class]);
  static_cast<NeuronFields*>(_impl)->data = Retained<NSData*>(data);
}

- (instancetype)initWithCoder:(NSCoder*)coder {
  if ((self = [self init])) {
    [self setNeuronType:static_cast<MPSCNNNeuronType>([coder decodeIntForKey:@"neuronType"])];
    [self setA:[coder decodeFloatForKey:@"a"]];
    [self setB:[coder decodeFloatForKey:@"b"]];
    [self setC:[coder decodeFloatForKey:@"c"]];
    [self setData:[coder decodeObjectForKey:@"data"]];
  }
  return self;
}

- (void)encodeWithCoder:(NSCoder*)coder {
  [coder encodeInt:[self neuronType] forKey:@"neuronType"];
  [coder encodeFloat:[self a] forKey:@"a"];
  [coder encodeFloat:[self b] forKey:@"b"];
  [coder encodeFloat:[self c] forKey:@"c"];
  [coder encodeObject:[self data] forKey:@"data"];
}

@end
