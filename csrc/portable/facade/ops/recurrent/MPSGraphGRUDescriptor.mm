// Options of a GRU.

#include "facade/ops/recurrent/recurrent.h"

using namespace alloy;
using namespace alloy::facade;

namespace alloy::facade {

DESCRIPTOR_FIELDS(RecurrentFields, MPSGraphGRUDescriptor)

}  // namespace alloy::facade

@implementation MPSGraphGRUDescriptor

+ (instancetype)descriptor {
  return [[self new] autorelease];
}

DESCRIPTOR_LIFE(RecurrentFields, {.activations = {MPSGraphRNNActivationSigmoid, MPSGraphRNNActivationSigmoid,
                                                  MPSGraphRNNActivationTanh}})

DESCRIPTOR_FIELD(RecurrentFields, BOOL, reverse, setReverse)
DESCRIPTOR_FIELD(RecurrentFields, BOOL, bidirectional, setBidirectional)
DESCRIPTOR_FIELD(RecurrentFields, BOOL, training, setTraining)
DESCRIPTOR_FIELD(RecurrentFields, BOOL, resetGateFirst, setResetGateFirst)
DESCRIPTOR_FIELD(RecurrentFields, BOOL, resetAfter, setResetAfter)
DESCRIPTOR_FIELD(RecurrentFields, BOOL, flipZ, setFlipZ)
RECURRENT_ACTIVATION(updateGateActivation, setUpdateGateActivation, 0)
RECURRENT_ACTIVATION(resetGateActivation, setResetGateActivation, 1)
RECURRENT_ACTIVATION(outputGateActivation, setOutputGateActivation, 2)

@end
