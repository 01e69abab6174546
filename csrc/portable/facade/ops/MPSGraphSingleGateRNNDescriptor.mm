// How a cell of a single gate runs.

#include "facade/ops/recurrent.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

RecurrentFields& fields_of(MPSGraphSingleGateRNNDescriptor* descriptor) {
  if (descriptor == nil) raise_invalid(@"[singleGateRNN] A descriptor was expected, got nil.");
  return *static_cast<RecurrentFields*>(descriptor->_impl);
}

}  // namespace alloy::facade

@implementation MPSGraphSingleGateRNNDescriptor

+ (instancetype)descriptor {
  return [[self new] autorelease];
}

DESCRIPTOR_LIFE(RecurrentFields, {.activations = {MPSGraphRNNActivationRelu}})

RECURRENT_FLAG(reverse, setReverse)
RECURRENT_FLAG(bidirectional, setBidirectional)
RECURRENT_FLAG(training, setTraining)
RECURRENT_ACTIVATION(activation, setActivation, 0)

@end
