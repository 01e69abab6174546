// The functions that neurons apply to each element.
#pragma once

#import <MPSNeuralNetwork/MPSNeuralNetwork.h>

#include "ir/rules/expr.h"

namespace alloy::facade {

struct Neuron {
  MPSCNNNeuronType type = MPSCNNNeuronTypeNone;
  double a = 0, b = 0, c = 0;
};

// The function of x; `slopes` has an element for each of the last axis, for PReLU.
ir::Expr applied(const Neuron& neuron, ir::Expr x, ir::Expr slopes);

// Raises, naming `method`, unless the type is one whose parameters all elements share.
void require_shared_parameters(MPSCNNNeuronType type, NSString* method);

}  // namespace alloy::facade
