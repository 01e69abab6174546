// The fields of the descriptors of recurrent layers. A flag that a layer does not have stays NO.
#pragma once

#include "facade/ops/descriptor.h"

namespace alloy::facade {

struct RecurrentFields {
  BOOL reverse = NO, bidirectional = NO, training = NO, produceCell = NO;
  BOOL forgetGateLast = NO, resetGateFirst = NO, resetAfter = NO, flipZ = NO;
  std::vector<MPSGraphRNNActivation> activations;  // in the order of ir
};

RecurrentFields& fields_of(MPSGraphSingleGateRNNDescriptor* descriptor);
RecurrentFields& fields_of(MPSGraphLSTMDescriptor* descriptor);
RecurrentFields& fields_of(MPSGraphGRUDescriptor* descriptor);

MPSGraphRNNActivation checked_activation(MPSGraphRNNActivation activation, NSString* field);

}  // namespace alloy::facade

// The accessors of the activation with this number.
#define RECURRENT_ACTIVATION(getter, setter, number)                               \
  -(MPSGraphRNNActivation)getter {                                                 \
    return fields_of(self).activations.at(number);                                 \
  }                                                                                \
  -(void)setter : (MPSGraphRNNActivation)value {                                   \
    fields_of(self).activations.at(number) = checked_activation(value, @ #getter); \
  }
