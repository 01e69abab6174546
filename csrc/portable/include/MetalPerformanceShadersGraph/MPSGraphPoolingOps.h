// Pooling over two axes or the last four, and its gradients.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Sets which number describes the position of a window's largest element: its row-major index over the last 1 to 4
/// axes of the source (Global) or of the window (Local).
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

/// Geometry of a pooling; X is width, Y is height; lengths are in elements.
@interface MPSGraphPooling2DOpDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Length of the window.
@property(nonatomic, readwrite) NSUInteger kernelWidth;
@property(nonatomic, readwrite) NSUInteger kernelHeight;

/// Step of the window; 1 by default.
@property(nonatomic, readwrite) NSUInteger strideInX;
@property(nonatomic, readwrite) NSUInteger strideInY;

/// Distance between taps; 1 by default.
@property(nonatomic, readwrite) NSUInteger dilationRateInX;
@property(nonatomic, readwrite) NSUInteger dilationRateInY;

/// Padding around the source, used only by the Explicit style; 0 by default.
@property(nonatomic, readwrite) NSUInteger paddingLeft;
@property(nonatomic, readwrite) NSUInteger paddingRight;
@property(nonatomic, readwrite) NSUInteger paddingTop;
@property(nonatomic, readwrite) NSUInteger paddingBottom;

/// Explicit by default.
@property(nonatomic, readwrite) MPSGraphPaddingStyle paddingStyle;

/// Layout of source and result.
@property(nonatomic, readwrite) MPSGraphTensorNamedDataLayout dataLayout;

/// Whether the length of the result is rounded up; NO by default.
@property(nonatomic, readwrite) BOOL ceilMode;

/// Whether padding counts in the divisor of an average; NO by default.
@property(nonatomic, readwrite) BOOL includeZeroPadToAverage;

/// The meaning of returned indices; None by default.
@property(nonatomic, readwrite) MPSGraphPoolingReturnIndicesMode returnIndicesMode;

/// Type of the indices; only Int32.
@property(nonatomic, readwrite) MPSDataType returnIndicesDataType;

/// Sets all fields of the geometry; raises for a zero kernel, stride or rate.
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

/// Sets rates of 1 and padding of 0.
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

/// Geometry of a pooling over the last four axes. Each list has four numbers in elements, slowest axis first.
@interface MPSGraphPooling4DOpDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Lengths of the window.
@property(nonatomic, readwrite, copy) NSArray<NSNumber*>* kernelSizes;

/// Steps of the window; 1 by default.
@property(nonatomic, readwrite, copy) NSArray<NSNumber*>* strides;

/// Distances between taps; 1 by default.
@property(nonatomic, readwrite, copy) NSArray<NSNumber*>* dilationRates;

/// Eight numbers, before and after along each axis, used only by the Explicit style; 0 by default.
@property(nonatomic, readwrite, copy) NSArray<NSNumber*>* paddingValues;

/// Explicit by default.
@property(nonatomic, readwrite) MPSGraphPaddingStyle paddingStyle;

/// Whether the length of the result is rounded up; NO by default.
@property(nonatomic, readwrite) BOOL ceilMode;

/// Whether padding counts in the divisor of an average; NO by default.
@property(nonatomic, readwrite) BOOL includeZeroPadToAverage;

/// The meaning of returned indices; None by default.
@property(nonatomic, readwrite) MPSGraphPoolingReturnIndicesMode returnIndicesMode;

/// Type of the indices; only Int32.
@property(nonatomic, readwrite) MPSDataType returnIndicesDataType;

/// Sets all lists; raises for a list of another length.
+ (instancetype _Nullable)descriptorWithKernelSizes:(NSArray<NSNumber*>*)kernelSizes
                                            strides:(NSArray<NSNumber*>*)strides
                                      dilationRates:(NSArray<NSNumber*>*)dilationRates
                                      paddingValues:(NSArray<NSNumber*>*)paddingValues
                                       paddingStyle:(MPSGraphPaddingStyle)paddingStyle;

/// Sets strides and rates of 1 and padding of 0.
+ (instancetype _Nullable)descriptorWithKernelSizes:(NSArray<NSNumber*>*)kernelSizes
                                       paddingStyle:(MPSGraphPaddingStyle)paddingStyle;

@end

/// Pooling of sources of rank 4, or of one image of rank 3.
@interface MPSGraph (MPSGraphPoolingOps)

/// Largest element of each window, or NaN if the window holds a NaN; padding is never the largest.
- (MPSGraphTensor*)maxPooling2DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

/// Gradient of the maximum: it goes to the first NaN, or else to the first largest element, in window order.
- (MPSGraphTensor*)maxPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// Mean of each window.
- (MPSGraphTensor*)avgPooling2DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

/// Gradient of the mean.
- (MPSGraphTensor*)avgPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// The largest elements and their indices: [values, indices]. Raises if the index mode is None.
- (NSArray<MPSGraphTensor*>*)maxPooling2DReturnIndicesWithSourceTensor:(MPSGraphTensor*)source
                                                            descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                                  name:(NSString* _Nullable)name;

/// Gradient by the returned indices; `outputShape` is the shape of the source.
- (MPSGraphTensor*)maxPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                            indicesTensor:(MPSGraphTensor*)indices
                                              outputShape:(MPSShape*)outputShape
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// The same with the shape in a tensor of rank 1.
- (MPSGraphTensor*)maxPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                            indicesTensor:(MPSGraphTensor*)indices
                                        outputShapeTensor:(MPSGraphTensor*)outputShape
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// Largest element of each window over the last four axes, or NaN if the window holds a NaN; padding is never the
/// largest.
- (MPSGraphTensor*)maxPooling4DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

/// The largest elements and their indices: [values, indices]. Raises if the index mode is None.
- (NSArray<MPSGraphTensor*>*)maxPooling4DReturnIndicesWithSourceTensor:(MPSGraphTensor*)source
                                                            descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                                  name:(NSString* _Nullable)name;

/// Gradient of the maximum: it goes to the first NaN, or else to the first largest element, in window order.
- (MPSGraphTensor*)maxPooling4DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// Gradient by the returned indices; `outputShape` is the shape of the source.
- (MPSGraphTensor*)maxPooling4DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                            indicesTensor:(MPSGraphTensor*)indices
                                              outputShape:(MPSShape*)outputShape
                                               descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// The same with the shape in a tensor of rank 1.
- (MPSGraphTensor*)maxPooling4DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                            indicesTensor:(MPSGraphTensor*)indices
                                        outputShapeTensor:(MPSGraphTensor*)outputShape
                                               descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// Mean of each window over the last four axes.
- (MPSGraphTensor*)avgPooling4DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                           name:(NSString* _Nullable)name;

/// Gradient of the mean.
- (MPSGraphTensor*)avgPooling4DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

/// Root of the sum of squares of each window over the last four axes.
- (MPSGraphTensor*)L2NormPooling4DWithSourceTensor:(MPSGraphTensor*)source
                                        descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                              name:(NSString* _Nullable)name;

/// Gradient of the root, 0 where the root is 0.
- (MPSGraphTensor*)L2NormPooling4DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                                sourceTensor:(MPSGraphTensor*)source
                                                  descriptor:(MPSGraphPooling4DOpDescriptor*)descriptor
                                                        name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
