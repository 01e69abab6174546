// Functions of each element of matrices.
#pragma once

#import <MPSMatrix/MPSMatrix.h>
#import <MPSNeuralNetwork/MPSCNNNeuronType.h>

NS_ASSUME_NONNULL_BEGIN

/// neuron(alpha * x + bias), where the bias has an element for each column. Elements are Float32 or Float16, of both
/// matrices the same; it is computed in float32.
@interface MPSMatrixNeuron : MPSMatrixUnaryKernel {
 @package
  NSUInteger _sourceNumberOfFeatureVectors, _sourceInputFeatureChannels;
  double _alpha;
  MPSCNNNeuronType _neuronType;
  float _parameterA, _parameterB, _parameterC;
  NSData* _parametersA;
}

/// How many rows and columns are read from the origin on; all there are at first, and at most so many.
@property(nonatomic, readwrite) NSUInteger sourceNumberOfFeatureVectors;
@property(nonatomic, readwrite) NSUInteger sourceInputFeatureChannels;

/// What elements are multiplied by; 1 at first.
@property(nonatomic, readwrite) double alpha;

/// The function, None at first; raises for PReLU, whose parameters the other method sets.
- (void)setNeuronType:(MPSCNNNeuronType)neuronType
           parameterA:(float)parameterA
           parameterB:(float)parameterB
           parameterC:(float)parameterC;

/// What was set.
- (MPSCNNNeuronType)neuronType;
- (float)neuronParameterA;
- (float)neuronParameterB;
- (float)neuronParameterC;

/// PReLU with a float of `A` for each column.
- (void)setNeuronToPReLUWithParametersA:(NSData*)A;

/// A kernel of the device.
- (instancetype)initWithDevice:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

/// Encodes it; raises for a result that is too small and for a bias that is too short. The result may share memory
/// with the source.
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix*)inputMatrix
                   biasVector:(MPSVector* _Nullable)biasVector
                 resultMatrix:(MPSMatrix*)resultMatrix;

/// What was encoded, for `device`.
- (instancetype _Nullable)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

/// A copy with all settings for `device`; nil stands for its own.
- (instancetype)copyWithZone:(NSZone* _Nullable)zone device:(id<MTLDevice> _Nullable)device;

@end

NS_ASSUME_NONNULL_END
