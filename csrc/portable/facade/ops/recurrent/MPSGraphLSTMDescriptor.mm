// How an LSTM runs.

#include "facade/ops/recurrent/recurrent.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

RecurrentFields& fields_of(MPSGraphLSTMDescriptor* descriptor) {
  static const Class our_class = [MPSGraphLSTMDescriptor class];
  require_kind(descriptor, our_class);
  return *static_cast<RecurrentFields*>(descriptor->_impl);
}

}  // namespace alloy::facade

@implementation MPSGraphLSTMDescriptor

+ (instancetype)descriptor {
  return [[self new] autorelease];
}

DESCRIPTOR_LIFE(RecurrentFields,
                {.activations = {MPSGraphRNNActivationSigmoid, MPSGraphRNNActivationSigmoid, MPSGraphRNNActivationTanh,
                                 MPSGraphRNNActivationSigmoid, MPSGraphRNNActivationTanh}})

RECURRENT_FLAG(reverse, setReverse)
RECURRENT_FLAG(bidirectional, setBidirectional)
RECURRENT_FLAG(produceCell, setProduceCell)
RECURRENT_FLAG(training, setTraining)
RECURRENT_FLAG(forgetGateLast, setForgetGateLast)
RECURRENT_ACTIVATION(inputGateActivation, setInputGateActivation, 0)
RECURRENT_ACTIVATION(forgetGateActivation, setForgetGateActivation, 1)
RECURRENT_ACTIVATION(cellGateActivation, setCellGateActivation, 2)
RECURRENT_ACTIVATION(outputGateActivation, setOutputGateActivation, 3)
RECURRENT_ACTIVATION(activation, setActivation, 4)

@end
