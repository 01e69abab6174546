// How a cell of a single gate runs.

#include "facade/ops/recurrent/recurrent.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

RecurrentFields& fields_of(MPSGraphSingleGateRNNDescriptor* descriptor) {
  static const Class our_class = [MPSGraphSingleGateRNNDescriptor class];
  require_kind(descriptor, our_class);
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
