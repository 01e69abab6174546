// Convolutions of images.
#pragma once

#import <MPSNeuralNetwork/MPSCNNKernel.h>
#import <MPSNeuralNetwork/MPSCNNNeuron.h>

NS_ASSUME_NONNULL_BEGIN

#ifndef SIMD_LENGTH
/// Two floats, as <simd/simd.h> names them.
typedef __attribute__((__ext_vector_type__(2))) float vector_float2;
#endif

/// The geometry of a convolution, and the function of its results.
@interface MPSCNNConvolutionDescriptor : NSObject <NSSecureCoding, NSCopying> {
 @package
  void* _impl;
}

/// The window; 3 by 3 in a descriptor made without them.
@property(nonatomic, readwrite) NSUInteger kernelWidth;
@property(nonatomic, readwrite) NSUInteger kernelHeight;

/// Channels of the source and of the result.
@property(nonatomic, readwrite) NSUInteger inputFeatureChannels;
@property(nonatomic, readwrite) NSUInteger outputFeatureChannels;

/// Step of the window in pixels of the source; 1 by default.
@property(nonatomic, readwrite) NSUInteger strideInPixelsX;
@property(nonatomic, readwrite) NSUInteger strideInPixelsY;

/// Number of independent groups of channels, each with a multiple of 4 channels; 1 by default.
@property(nonatomic, readwrite) NSUInteger groups;

/// Distance of the weights in pixels of the source; 1 by default.
@property(nonatomic, readwrite) NSUInteger dilationRateX;
@property(nonatomic, readwrite) NSUInteger dilationRateY;

/// The function that is applied to the results; None by default.
@property(nonatomic, readwrite, retain) MPSNNNeuronDescriptor* fusedNeuronDescriptor;

/// A convolution with a stride of 1.
+ (instancetype)cnnConvolutionDescriptorWithKernelWidth:(NSUInteger)kernelWidth
                                           kernelHeight:(NSUInteger)kernelHeight
                                   inputFeatureChannels:(NSUInteger)inputFeatureChannels
                                  outputFeatureChannels:(NSUInteger)outputFeatureChannels;

/// Before the function, results become (y - mean) / sqrt(variance + epsilon) * gamma + beta, where NULL means 0, 1, 1
/// and 0. The numbers, one for each channel of the result, are copied.
- (void)setBatchNormalizationParametersForInferenceWithMean:(const float* _Nullable)mean
                                                   variance:(const float* _Nullable)variance
                                                      gamma:(const float* _Nullable)gamma
                                                       beta:(const float* _Nullable)beta
                                                    epsilon:(const float)epsilon;

/// The function that is applied to the results, as in fusedNeuronDescriptor.
- (void)setNeuronType:(MPSCNNNeuronType)neuronType parameterA:(float)parameterA parameterB:(float)parameterB;
- (MPSCNNNeuronType)neuronType;
- (float)neuronParameterA;
- (float)neuronParameterB;

/// PReLU with a float of `A` for each channel of the result.
- (void)setNeuronToPReLUWithParametersA:(NSData*)A;

@end

/// Each channel of the result is computed from one channel of the source. The results of the first source channel come
/// first. `groups` is 1.
@interface MPSCNNDepthWiseConvolutionDescriptor : MPSCNNConvolutionDescriptor

/// Number of result channels for each source channel.
@property(nonatomic, readonly) NSUInteger channelMultiplier;

@end

/// The order of weights.
typedef NS_ENUM(uint32_t, MPSCNNConvolutionWeightsLayout) {
  MPSCNNConvolutionWeightsLayoutOHWI = 0,  ///< channels of the result, rows, columns, channels of the source
};

/// How weights of UInt8 are decoded.
typedef NS_ENUM(uint32_t, MPSCNNWeightsQuantizationType) {
  MPSCNNWeightsQuantizationTypeNone = 0,         ///< nothing: no weights of UInt8
  MPSCNNWeightsQuantizationTypeLinear = 1,       ///< 0 for the least and 255 for the greatest number of a range
  MPSCNNWeightsQuantizationTypeLookupTable = 2,  ///< an entry of a table
};

/// Provides the weights. When a convolution is made, it calls load, then the others, then purge.
@protocol MPSCNNConvolutionDataSource <NSCopying, NSObject>

/// The type of the weights: Float32, Float16 or UInt8.
- (MPSDataType)dataType;

/// The extents.
- (MPSCNNConvolutionDescriptor*)descriptor;

/// outputFeatureChannels x kernelHeight x kernelWidth x (inputFeatureChannels / groups) weights; without the last
/// factor for a depthwise convolution.
- (void*)weights;

/// A number that is added to each channel of the result, or NULL.
- (float* _Nullable)biasTerms;

/// Called before the weights are used; NO if they cannot be provided.
- (BOOL)load;

/// Called when the weights are not needed any more.
- (void)purge;

/// The label of the convolution.
- (NSString* _Nullable)label;

@optional

/// For weights of UInt8: the least and the greatest number, for each channel of the result.
- (vector_float2*)rangesForUInt8Kernel;

/// For weights of UInt8: 256 numbers.
- (float*)lookupTableForUInt8Kernel;

/// Which of the two decodings is used.
- (MPSCNNWeightsQuantizationType)weightsQuantizationType;

/// A copy for a copy of the convolution.
- (instancetype)copyWithZone:(NSZone* _Nullable)zone device:(id<MTLDevice> _Nullable)device;

/// The order of the weights, OHWI.
- (MPSCNNConvolutionWeightsLayout)weightsLayout;

/// The type to which weights are rounded; the portable framework does not round them.
- (MPSDataType)kernelWeightsDataType;

@end

/// Sums of products of the weights and the pixels in a window. The first weight's pixel is (extent of the window) / 2
/// before the position, in whole pixels. Sums are in float32, and rounded once to the format of the destination.
@interface MPSCNNConvolution : MPSCNNKernel {
 @package
  void* _convolution;
}

/// The descriptor's values.
@property(nonatomic, readonly) NSUInteger inputFeatureChannels;
@property(nonatomic, readonly) NSUInteger outputFeatureChannels;
@property(nonatomic, readonly) NSUInteger groups;
@property(nonatomic, readonly) MPSNNNeuronDescriptor* _Nullable fusedNeuronDescriptor;

/// For a depthwise convolution, the number of result channels for each source channel; else 0.
@property(nonatomic, readonly) NSUInteger channelMultiplier;

/// 1.
@property(nonatomic, readonly) NSUInteger subPixelScaleFactor;

/// The provider of the weights.
@property(nonatomic, readonly, retain) id<MPSCNNConvolutionDataSource> dataSource;

/// Stored without effect; Float by default.
@property(nonatomic, readwrite) MPSNNConvolutionAccumulatorPrecisionOption accumulatorPrecisionOption;

/// Reads the weights; nil if they cannot be loaded. Raises for extents that do not fit.
- (instancetype)initWithDevice:(id<MTLDevice>)device
                       weights:(id<MPSCNNConvolutionDataSource>)weights NS_DESIGNATED_INITIALIZER;

/// Use the other initialiser.
- (instancetype)initWithDevice:(id<MTLDevice>)device NS_UNAVAILABLE;

/// Raises: kernels of images cannot be archived.
- (instancetype _Nullable)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device;

/// Reads the weights again.
- (void)reloadWeightsAndBiasesFromDataSource;

@end

NS_ASSUME_NONNULL_END
