// Options of a layer whose cell has one gate.

#include "facade/ops/recurrent/recurrent.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

DESCRIPTOR_FIELDS(RecurrentFields, MPSGraphSingleGateRNNDescriptor)

}  // namespace alloy::facade

@implementation MPSGraphSingleGateRNNDescriptor

+ (instancetype)descriptor {
  return [[self new] autorelease];
}

DESCRIPTOR_LIFE(RecurrentFields, {.activations = {MPSGraphRNNActivationRelu}})

DESCRIPTOR_FIELD(RecurrentFields, BOOL, reverse, setReverse)
DESCRIPTOR_FIELD(RecurrentFields, BOOL, bidirectional, setBidirectional)
DESCRIPTOR_FIELD(RecurrentFields, BOOL, training, setTraining)
RECURRENT_ACTIVATION(activation, setActivation, 0)

@end
