// Pooling over two axes or the last four, and its gradients.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// How the places of the greatest elements are told: row-major over so many of the last axes, of the source (global) or
/// of the window (local).
typedef NS_ENUM(NSUInteger, MPSGraphPoolingReturnIndicesMode) {
  MPSGraphPoolingReturnIndicesNone = 0,
  MPSGraphPoolingReturnIndicesGlobalFlatten1D = 1,
  MPSGraphPoolingReturnIndicesGlobalFlatten2D = 2,
  MPSGraphPoolingReturnIndicesGlobalFlatten3D = 3,
  MPSGraphPoolingReturnIndicesGlobalFlatten4D = 4,
  MPSGraphPoolingReturnIndicesLocalFlatten1D = 5,
  MPSGraphPoolingReturnIndicesLocalFlatten2D = 6,
  MPSGraphPoolingReturnIndicesLocalFlatten3D = 7,
  MPSGraphPoolingReturnIndicesLocalFlatten4D = 8,
};

/// Geometry of a pooling; X is width, Y is height, lengths in elements.
@interface MPSGraphPooling2DOpDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Length of the window.
@property(nonatomic, readwrite) NSUInteger kernelWidth;
@property(nonatomic, readwrite) NSUInteger kernelHeight;

/// Step of the window; 1 at first.
@property(nonatomic, readwrite) NSUInteger strideInX;
@property(nonatomic, readwrite) NSUInteger strideInY;

/// Distance of the taps; 1 at first.
@property(nonatomic, readwrite) NSUInteger dilationRateInX;
@property(nonatomic, readwrite) NSUInteger dilationRateInY;

/// Padding around the source, used by the Explicit style only; 0 at first.
@property(nonatomic, readwrite) NSUInteger paddingLeft;
@property(nonatomic, readwrite) NSUInteger paddingRight;
@property(nonatomic, readwrite) NSUInteger paddingTop;
@property(nonatomic, readwrite) NSUInteger paddingBottom;

/// Explicit at first.
@property(nonatomic, readwrite) MPSGraphPaddingStyle paddingStyle;

/// Layout of source and result.
@property(nonatomic, readwrite) MPSGraphTensorNamedDataLayout dataLayout;

/// Whether the result length is rounded up; NO at first.
@property(nonatomic, readwrite) BOOL ceilMode;

/// Whether padding counts in the divisor of an average; NO at first.
@property(nonatomic, readwrite) BOOL includeZeroPadToAverage;

/// How places of the greatest elements are told; None at first.
@property(nonatomic, readwrite) MPSGraphPoolingReturnIndicesMode returnIndicesMode;

/// Type of the indices; Int32 at first, and no other.
@property(nonatomic, readwrite) MPSDataType returnIndicesDataType;

/// All fields of the geometry; raises for a zero kernel, stride or rate.
+ (instancetype _Nullable)descriptorWithKernelWidth:(NSUInteger)kernelWidth
                                       kernelHeight:(NSUInteger)kernelHeight
                                          strideInX:(NSUInteger)strideInX
                                          strideInY:(NSUInteger)strideInY
                                    dilationRateInX:(NSUInteger)dilationRateInX
                                    dilationRateInY:(NSUInteger)dilationRateInY
                                        paddingLeft:(NSUInteger)paddingLeft
                                       paddingRight:(NSUInteger)paddingRight
                                         paddingTop:(NSUInteger)paddingTop
                                      paddingBottom:(NSUInteger)paddingBottom
                                       paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                                         dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout;

/// Rates 1, padding 0.
+ (instancetype _Nullable)descriptorWithKernelWidth:(NSUInteger)kernelWidth
                                       kernelHeight:(NSUInteger)kernelHeight
                                          strideInX:(NSUInteger)strideInX
                                          strideInY:(NSUInteger)strideInY
                                       paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                                         dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout;

/// Sets the padding and the Explicit style.
- (void)setExplicitPaddingWithPaddingLeft:(NSUInteger)paddingLeft
                             paddingRight:(NSUInteger)paddingRight
                               paddingTop:(NSUInteger)paddingTop
                            paddingBottom:(NSUInteger)paddingBottom;

@end

/// Geometry of a pooling over the last four axes: four numbers, slowest first, in elements.
@interface MPSGraphPooling4DOpDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Lengths of the window.
@property(nonatomic, readwrite, copy) NSArray<NSNumber*>* kernelSizes;

/// Steps of the window; 1 at first.
@property(nonatomic, readwrite, copy) NSArray<NSNumber*>* strides;

/// Distances of the taps; 1 at first.
@property(nonatomic, readwrite, copy) NSArray<NSNumber*>* dilationRates;

/// Eight numbers, before and after along each axis, used by the Explicit style only; 0 at first.
@property(nonatomic, readwrite, copy) NSArray<NSNumber*>* paddingValues;

/// Explicit at first.
@property(nonatomic, readwrite) MPSGraphPaddingStyle paddingStyle;

/// Whether the result length is rounded up; NO at first.
@property(nonatomic, readwrite) BOOL ceilMode;

/// Whether padding counts in the divisor of an average; NO at first.
@property(nonatomic, readwrite) BOOL includeZeroPadToAverage;

/// How places of the greatest elements are told; None at first.
@property(nonatomic, readwrite) MPSGraphPoolingReturnIndicesMode returnIndicesMode;

/// Type of the indices; Int32 at first, and no other.
@property(nonatomic, readwrite) MPSDataType returnIndicesDataType;

/// All lists; raises for one of another length.
+ (instancetype _Nullable)descriptorWithKernelSizes:(NSArray<NSNumber*>*)kernelSizes
                                            strides:(NSArray<NSNumber*>*)strides
                                      dilationRates:(NSArray<NSNumber*>*)dilationRates
                                      paddingValues:(NSArray<NSNumber*>*)paddingValues
                                       paddingStyle:(MPSGraphPaddingStyle)paddingStyle;

/// Strides and rates 1, padding 0.
+ (instancetype _Nullable)descriptorWithKernelSizes:(NSArray<NSNumber*>*)kernelSizes
                                       paddingStyle:(MPSGraphPaddingStyle)paddingStyle;

@end

/// Pooling of sources of rank 4, or of one image of rank 3.
@interface MPSGraph (MPSGraphPoolingOps)

/// Largest element of each window, NaN where it holds one; padding never wins.
- (MPSGraphTensor*)maxPooling2DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

/// Its gradient, to the first largest element in window order, or to the first NaN.
- (MPSGraphTensor*)maxPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// Mean of each window.
- (MPSGraphTensor*)avgPooling2DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

/// Its gradient.
- (MPSGraphTensor*)avgPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// The largest elements and their places, by the descriptor's mode: [values, indices]. Raises if the mode is None.
- (NSArray<MPSGraphTensor*>*)maxPooling2DReturnIndicesWithSourceTensor:(MPSGraphTensor*)source
                                                            descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                                  name:(NSString* _Nullable)name;

/// The gradient from such indices; `outputShape` is the shape of the source.
- (MPSGraphTensor*)maxPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                            indicesTensor:(MPSGraphTensor*)indices
                                              outputShape:(MPSShape*)outputShape
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// As above with the shape in a tensor of rank 1.
- (MPSGraphTensor*)maxPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                            indicesTensor:(MPSGraphTensor*)indices
                                        outputShapeTensor:(MPSGraphTensor*)outputShape
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// Largest element of each window over the last four axes, NaN where it holds one; padding never wins.
- (MPSGraphTensor*)maxPooling4DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

/// The largest elements and their places, by the descriptor's mode: [values, indices]. Raises if the mode is None.
- (NSArray<MPSGraphTensor*>*)maxPooling4DReturnIndicesWithSourceTensor:(MPSGraphTensor*)source
                                                            descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                                  name:(NSString* _Nullable)name;

/// Its gradient, to the first largest element in window order, or to the first NaN.
- (MPSGraphTensor*)maxPooling4DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// The gradient from indices; `outputShape` is the shape of the source.
- (MPSGraphTensor*)maxPooling4DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                            indicesTensor:(MPSGraphTensor*)indices
                                              outputShape:(MPSShape*)outputShape
                                               descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// As above with the shape in a tensor of rank 1.
- (MPSGraphTensor*)maxPooling4DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                            indicesTensor:(MPSGraphTensor*)indices
                                        outputShapeTensor:(MPSGraphTensor*)outputShape
                                               descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// Mean of each window over the last four axes.
- (MPSGraphTensor*)avgPooling4DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

/// Its gradient.
- (MPSGraphTensor*)avgPooling4DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// Root of the sum of squares of each window over the last four axes.
- (MPSGraphTensor*)L2NormPooling4DWithSourceTensor:(MPSGraphTensor*)source
                                        descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                              name:(NSString* _Nullable)name;

/// Its gradient, 0 where the root is 0.
- (MPSGraphTensor*)L2NormPooling4DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                                sourceTensor:(MPSGraphTensor*)source
                                                  descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                        name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
