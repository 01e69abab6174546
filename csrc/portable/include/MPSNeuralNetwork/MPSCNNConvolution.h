// Convolutions of images.
#pragma once

#import <MPSNeuralNetwork/MPSCNNKernel.h>
#import <MPSNeuralNetwork/MPSCNNNeuron.h>

NS_ASSUME_NONNULL_BEGIN

#ifndef SIMD_LENGTH
/// Two floats, as <simd/simd.h> names them.
typedef __attribute__((__ext_vector_type__(2))) float vector_float2;
#endif

/// The extents of a convolution, and what follows it.
@interface MPSCNNConvolutionDescriptor : NSObject <NSSecureCoding, NSCopying> {
 @package
  void* _impl;
}

/// The window; 3 by 3 where a descriptor is made without them.
@property(nonatomic, readwrite) NSUInteger kernelWidth;
@property(nonatomic, readwrite) NSUInteger kernelHeight;

/// Channels of the source and of the result.
@property(nonatomic, readwrite) NSUInteger inputFeatureChannels;
@property(nonatomic, readwrite) NSUInteger outputFeatureChannels;

/// Pixels of the source from one pixel of the result to the next; 1 at first.
@property(nonatomic, readwrite) NSUInteger strideInPixelsX;
@property(nonatomic, readwrite) NSUInteger strideInPixelsY;

/// The channels are convolved in so many groups of their own, of a multiple of 4 channels each; 1 at first.
@property(nonatomic, readwrite) NSUInteger groups;

/// Pixels of the source from one weight to the next; 1 at first.
@property(nonatomic, readwrite) NSUInteger dilationRateX;
@property(nonatomic, readwrite) NSUInteger dilationRateY;

/// The function of the results; None at first.
@property(nonatomic, readwrite, retain) MPSNNNeuronDescriptor* fusedNeuronDescriptor;

/// A convolution with a stride of 1.
+ (instancetype)cnnConvolutionDescriptorWithKernelWidth:(NSUInteger)kernelWidth
                                           kernelHeight:(NSUInteger)kernelHeight
                                   inputFeatureChannels:(NSUInteger)inputFeatureChannels
                                  outputFeatureChannels:(NSUInteger)outputFeatureChannels;

/// Before the function, results become (y - mean) / sqrt(variance + epsilon) * gamma + beta, where NULL stands for 0,
/// 1, 1 and 0. The numbers, one for each channel of the result, are copied.
- (void)setBatchNormalizationParametersForInferenceWithMean:(const float* _Nullable)mean
                                                   variance:(const float* _Nullable)variance
                                                      gamma:(const float* _Nullable)gamma
                                                       beta:(const float* _Nullable)beta
                                                    epsilon:(const float)epsilon;

/// The function of the results, as fusedNeuronDescriptor has it.
- (void)setNeuronType:(MPSCNNNeuronType)neuronType parameterA:(float)parameterA parameterB:(float)parameterB;
- (MPSCNNNeuronType)neuronType;
- (float)neuronParameterA;
- (float)neuronParameterB;

/// PReLU with a float of `A` for each channel of the result.
- (void)setNeuronToPReLUWithParametersA:(NSData*)A;

@end

/// Each channel of the result is made of one of the source: those of the first one come first. `groups` is 1.
@interface MPSCNNDepthWiseConvolutionDescriptor : MPSCNNConvolutionDescriptor

/// Channels of the result for each of the source.
@property(nonatomic, readonly) NSUInteger channelMultiplier;

@end

/// The order of weights.
typedef NS_ENUM(uint32_t, MPSCNNConvolutionWeightsLayout) {
  MPSCNNConvolutionWeightsLayoutOHWI = 0,  ///< channels of the result, rows, columns, channels of the source
};

/// What weights of UInt8 stand for.
typedef NS_ENUM(uint32_t, MPSCNNWeightsQuantizationType) {
  MPSCNNWeightsQuantizationTypeNone = 0,         ///< nothing: no weights of UInt8
  MPSCNNWeightsQuantizationTypeLinear = 1,       ///< 0 for the least and 255 for the greatest number of a range
  MPSCNNWeightsQuantizationTypeLookupTable = 2,  ///< an entry of a table
};

/// Who has the weights. Asked when a convolution is made: load, then the rest, then purge.
@protocol MPSCNNConvolutionDataSource <NSCopying, NSObject>

/// The type of the weights: Float32, Float16 or UInt8.
- (MPSDataType)dataType;

/// The extents.
- (MPSCNNConvolutionDescriptor*)descriptor;

/// outputFeatureChannels x kernelHeight x kernelWidth x (inputFeatureChannels / groups) weights; of a depthwise
/// convolution without the last.
- (void*)weights;

/// A number that is added to each channel of the result, or NULL.
- (float* _Nullable)biasTerms;

/// The weights will be wanted; NO if they cannot be.
- (BOOL)load;

/// They are not wanted any more.
- (void)purge;

/// The label of the convolution.
- (NSString* _Nullable)label;

@optional

/// Of weights of UInt8: the least and the greatest number, for each channel of the result.
- (vector_float2*)rangesForUInt8Kernel;

/// Of weights of UInt8: 256 numbers.
- (float*)lookupTableForUInt8Kernel;

/// Which of these two.
- (MPSCNNWeightsQuantizationType)weightsQuantizationType;

/// A copy for a copy of the convolution.
- (instancetype)copyWithZone:(NSZone* _Nullable)zone device:(id<MTLDevice> _Nullable)device;

/// The order of the weights, OHWI.
- (MPSCNNConvolutionWeightsLayout)weightsLayout;

/// The type that the weights are rounded to; they are not rounded here.
- (MPSDataType)kernelWeightsDataType;

@end

/// Sums of products of the pixels around a place with weights: the first weight's pixel is (extent of the window) / 2
/// before the place, whole pixels. They are computed in float32, and rounded once to the format of the destination.
@interface MPSCNNConvolution : MPSCNNKernel {
 @package
  void* _convolution;
}

/// As the descriptor said.
@property(nonatomic, readonly) NSUInteger inputFeatureChannels;
@property(nonatomic, readonly) NSUInteger outputFeatureChannels;
@property(nonatomic, readonly) NSUInteger groups;
@property(nonatomic, readonly) MPSNNNeuronDescriptor* _Nullable fusedNeuronDescriptor;

/// Of a depthwise convolution the channels of the result for each of the source, else 0.
@property(nonatomic, readonly) NSUInteger channelMultiplier;

/// 1.
@property(nonatomic, readonly) NSUInteger subPixelScaleFactor;

/// Who gave the weights.
@property(nonatomic, readonly, retain) id<MPSCNNConvolutionDataSource> dataSource;

/// Kept, and of no effect; Float at first.
@property(nonatomic, readwrite) MPSNNConvolutionAccumulatorPrecisionOption accumulatorPrecisionOption;

/// Takes the weights; nil where they cannot be loaded. Raises for extents that do not fit.
- (instancetype)initWithDevice:(id<MTLDevice>)device
                       weights:(id<MPSCNNConvolutionDataSource>)weights NS_DESIGNATED_INITIALIZER;

/// Use the other one.
- (instancetype)initWithDevice:(id<MTLDevice>)device NS_UNAVAILABLE;

/// Raises: kernels of images are not archived here.
- (instancetype _Nullable)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device;

/// Takes the weights anew.
- (void)reloadWeightsAndBiasesFromDataSource;

@end

NS_ASSUME_NONNULL_END
