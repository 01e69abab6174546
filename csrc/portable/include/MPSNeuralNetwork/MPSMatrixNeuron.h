// Functions of each element of matrices.
#pragma once

#import <MPSMatrix/MPSMatrix.h>
#import <MPSNeuralNetwork/MPSCNNNeuronType.h>

NS_ASSUME_NONNULL_BEGIN

/// neuron(alpha * x + bias), where the bias has an element for each column. Elements are Float32 or Float16, the same
/// in both matrices; the function is computed in float32.
@interface MPSMatrixNeuron : MPSMatrixUnaryKernel {
 @package
  NSUInteger _sourceNumberOfFeatureVectors, _sourceInputFeatureChannels;
  double _alpha;
  MPSCNNNeuronType _neuronType;
  float _parameterA, _parameterB, _parameterC;
  NSData* _parametersA;
}

/// The most rows and columns that are read from the origin on; by default, all.
@property(nonatomic, readwrite) NSUInteger sourceNumberOfFeatureVectors;
@property(nonatomic, readwrite) NSUInteger sourceInputFeatureChannels;

/// The factor of the elements; 1 by default.
@property(nonatomic, readwrite) double alpha;

/// The function, None by default. Raises for PReLU, whose parameters the other method sets.
- (void)setNeuronType:(MPSCNNNeuronType)neuronType
           parameterA:(float)parameterA
           parameterB:(float)parameterB
           parameterC:(float)parameterC;

/// The function and its parameters.
- (MPSCNNNeuronType)neuronType;
- (float)neuronParameterA;
- (float)neuronParameterB;
- (float)neuronParameterC;

/// PReLU with a float of `A` for each column.
- (void)setNeuronToPReLUWithParametersA:(NSData*)A;

/// A kernel of the device.
- (instancetype)initWithDevice:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

/// Encodes the kernel; raises for a result that is too small and for a bias that is too short. The result may share
/// memory with the source.
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix*)inputMatrix
                   biasVector:(MPSVector* _Nullable)biasVector
                 resultMatrix:(MPSMatrix*)resultMatrix;

/// Decodes a kernel for `device`.
- (instancetype _Nullable)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

/// A copy with all settings for `device`; nil means the same device.
- (instancetype)copyWithZone:(NSZone* _Nullable)zone device:(id<MTLDevice> _Nullable)device;

@end

NS_ASSUME_NONNULL_END
