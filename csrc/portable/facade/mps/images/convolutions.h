// Parts of a convolution's descriptor that are no properties.
#pragma once

#import <MPSNeuralNetwork/MPSNeuralNetwork.h>

#include <vector>

namespace alloy::facade {

// The batch normalization of each result channel: y * scale + shift; both are empty if there is none. Raises if their
// counts differ from the descriptor's channels.
struct Normalization {
  std::vector<double> scale, shift;
};
Normalization normalization_of(MPSCNNConvolutionDescriptor* descriptor);

}  // namespace alloy::facade
