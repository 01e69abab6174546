// Umbrella of the kernels of neural networks.
#pragma once

#import <MPSNeuralNetwork/MPSCNNConvolution.h>
#import <MPSNeuralNetwork/MPSCNNKernel.h>
#import <MPSNeuralNetwork/MPSCNNNeuron.h>
#import <MPSNeuralNetwork/MPSCNNNeuronType.h>
#import <MPSNeuralNetwork/MPSMatrixNeuron.h>
#import <MPSNeuralNetwork/MPSNeuralNetworkTypes.h>
