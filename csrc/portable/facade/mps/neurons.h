// The functions that neurons apply to each element.
#pragma once

#import <MPSNeuralNetwork/MPSNeuralNetwork.h>

#include "ir/rules/expr.h"

namespace alloy::facade {

struct Neuron {
  MPSCNNNeuronType type = MPSCNNNeuronTypeNone;
  double a = 0, b = 0, c = 0;
};

// The function applied to x. `slopes`, for PReLU, has one element for each index of the last axis.
ir::Expr applied(const Neuron& neuron, ir::Expr x, ir::Expr slopes);

// Raises, naming `method`, unless all elements share the type's parameters.
void require_shared_parameters(MPSCNNNeuronType type, NSString* method);

}  // namespace alloy::facade
