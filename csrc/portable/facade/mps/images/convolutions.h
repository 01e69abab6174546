// What a convolution's descriptor says beside its properties.
#pragma once

#import <MPSNeuralNetwork/MPSNeuralNetwork.h>

#include <vector>

namespace alloy::facade {

// What becomes of each channel of the result: y * scale + shift; both empty where there is no batch normalization.
// Raises for other counts than the descriptor's channels.
struct Normalization {
  std::vector<double> scale, shift;
};
Normalization normalization_of(MPSCNNConvolutionDescriptor* descriptor);

}  // namespace alloy::facade
