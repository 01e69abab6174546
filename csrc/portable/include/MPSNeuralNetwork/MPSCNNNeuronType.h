// The functions that neurons apply to each element.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>

/// A function of x with the parameters a, b and c.
typedef NS_ENUM(int32_t, MPSCNNNeuronType) {
  MPSCNNNeuronTypeNone = 0,          ///< x
  MPSCNNNeuronTypeReLU = 1,          ///< x, or a x where that is negative
  MPSCNNNeuronTypeLinear = 2,        ///< a x + b
  MPSCNNNeuronTypeSigmoid = 3,       ///< 1 / (1 + exp(-x))
  MPSCNNNeuronTypeHardSigmoid = 4,   ///< a x + b within 0 and 1
  MPSCNNNeuronTypeTanH = 5,          ///< a tanh(b x)
  MPSCNNNeuronTypeAbsolute = 6,      ///< |x|
  MPSCNNNeuronTypeSoftPlus = 7,      ///< a log(1 + exp(b x))
  MPSCNNNeuronTypeSoftSign = 8,      ///< x / (1 + |x|)
  MPSCNNNeuronTypeELU = 9,           ///< x, or a (exp(x) - 1) where that is negative
  MPSCNNNeuronTypePReLU = 10,        ///< ReLU with an a for each column
  MPSCNNNeuronTypeReLUN = 11,        ///< ReLU, at most b
  MPSCNNNeuronTypePower = 12,        ///< (a x + b) to the power of c
  MPSCNNNeuronTypeExponential = 13,  ///< c to the power of a x + b; c = -1 stands for e
  MPSCNNNeuronTypeLogarithm = 14,    ///< the logarithm of a x + b to the base c; c = -1 stands for e
  MPSCNNNeuronTypeGeLU = 15,         ///< x (1 + erf(x / sqrt(2))) / 2
  MPSCNNNeuronTypeCount = 16,        ///< the number of types
};
