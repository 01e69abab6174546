// Umbrella of the kernels of neural networks.
#pragma once

#import <MPSNeuralNetwork/MPSCNNNeuronType.h>
#import <MPSNeuralNetwork/MPSMatrixNeuron.h>
