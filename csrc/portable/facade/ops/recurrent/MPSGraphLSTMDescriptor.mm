// Options of an LSTM.

#include "facade/ops/recurrent/recurrent.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

DESCRIPTOR_FIELDS(RecurrentFields, MPSGraphLSTMDescriptor)

}  // namespace alloy::facade

@implementation MPSGraphLSTMDescriptor

+ (instancetype)descriptor {
  return [[self new] autorelease];
}

DESCRIPTOR_LIFE(RecurrentFields,
                {.activations = {MPSGraphRNNActivationSigmoid, MPSGraphRNNActivationSigmoid, MPSGraphRNNActivationTanh,
                                 MPSGraphRNNActivationSigmoid, MPSGraphRNNActivationTanh}})

DESCRIPTOR_FIELD(RecurrentFields, BOOL, reverse, setReverse)
DESCRIPTOR_FIELD(RecurrentFields, BOOL, bidirectional, setBidirectional)
DESCRIPTOR_FIELD(RecurrentFields, BOOL, produceCell, setProduceCell)
DESCRIPTOR_FIELD(RecurrentFields, BOOL, training, setTraining)
DESCRIPTOR_FIELD(RecurrentFields, BOOL, forgetGateLast, setForgetGateLast)
RECURRENT_ACTIVATION(inputGateActivation, setInputGateActivation, 0)
RECURRENT_ACTIVATION(forgetGateActivation, setForgetGateActivation, 1)
RECURRENT_ACTIVATION(cellGateActivation, setCellGateActivation, 2)
RECURRENT_ACTIVATION(outputGateActivation, setOutputGateActivation, 3)
RECURRENT_ACTIVATION(activation, setActivation, 4)

@end
