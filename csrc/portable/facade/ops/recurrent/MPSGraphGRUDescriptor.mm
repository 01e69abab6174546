// How a GRU runs.

#include "facade/ops/recurrent/recurrent.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

RecurrentFields& fields_of(MPSGraphGRUDescriptor* descriptor) {
  static const Class our_class = [MPSGraphGRUDescriptor class];
  require_kind(descriptor, our_class);
  return *static_cast<RecurrentFields*>(descriptor->_impl);
}

}  // namespace alloy::facade

@implementation MPSGraphGRUDescriptor

+ (instancetype)descriptor {
  return [[self new] autorelease];
}

DESCRIPTOR_LIFE(RecurrentFields, {.activations = {MPSGraphRNNActivationSigmoid, MPSGraphRNNActivationSigmoid,
                                                  MPSGraphRNNActivationTanh}})

RECURRENT_FLAG(reverse, setReverse)
RECURRENT_FLAG(bidirectional, setBidirectional)
RECURRENT_FLAG(training, setTraining)
RECURRENT_FLAG(resetGateFirst, setResetGateFirst)
RECURRENT_FLAG(resetAfter, setResetAfter)
RECURRENT_FLAG(flipZ, setFlipZ)
RECURRENT_ACTIVATION(updateGateActivation, setUpdateGateActivation, 0)
RECURRENT_ACTIVATION(resetGateActivation, setResetGateActivation, 1)
RECURRENT_ACTIVATION(outputGateActivation, setOutputGateActivation, 2)

@end
