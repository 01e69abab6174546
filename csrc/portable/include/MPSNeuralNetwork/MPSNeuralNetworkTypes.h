// How kernels of images place what they read.
#pragma once

#import <MPSCore/MPSCore.h>

NS_ASSUME_NONNULL_BEGIN

@class MPSState;

/// The type that a convolution adds up in; it is float32 whatever this says.
typedef NS_OPTIONS(NSUInteger, MPSNNConvolutionAccumulatorPrecisionOption) {
  MPSNNConvolutionAccumulatorPrecisionOptionHalf = 0,
  MPSNNConvolutionAccumulatorPrecisionOptionFloat = 1,
};

/// The size of a result and where its pixels read: an Align, an AddRemainderTo for what is left of a Centered one, and
/// a Size. ValidOnly reads no pixel outside the source, Same gives as many pixels as the source has, divided by the
/// stride, and Full reads whatever touches the source.
typedef NS_OPTIONS(NSUInteger, MPSNNPaddingMethod) {
  MPSNNPaddingMethodAlignCentered = 0,
  MPSNNPaddingMethodAlignTopLeft = 1,
  MPSNNPaddingMethodAlignBottomRight = 2,
  MPSNNPaddingMethodAlign_reserved = 3,
  MPSNNPaddingMethodAlignMask = 3,
  MPSNNPaddingMethodAddRemainderToTopLeft = 0,
  MPSNNPaddingMethodAddRemainderToTopRight = 4,
  MPSNNPaddingMethodAddRemainderToBottomLeft = 8,
  MPSNNPaddingMethodAddRemainderToBottomRight = 12,
  MPSNNPaddingMethodAddRemainderToMask = 12,
  MPSNNPaddingMethodSizeValidOnly = 0,
  MPSNNPaddingMethodSizeSame = 16,
  MPSNNPaddingMethodSizeFull = 32,
  MPSNNPaddingMethodSize_reserved = 48,
  MPSNNPaddingMethodCustomWhitelistForNodeFusion = 8192,
  MPSNNPaddingMethodCustomAllowForNodeFusion = 8192,
  MPSNNPaddingMethodCustom = 16384,
  MPSNNPaddingMethodSizeMask = 2032,
  MPSNNPaddingMethodExcludeEdges = 32768,
};

/// Who says how large a result is and where its pixels read.
@protocol MPSNNPadding <NSObject, NSSecureCoding>

/// The method.
- (MPSNNPaddingMethod)paddingMethod;

@optional

/// Text for debuggers.
- (NSString*)label;

/// Of a Custom method: the image to write; sets the offset of the kernel. What is suggested follows from the rest of
/// the method.
- (MPSImageDescriptor*)destinationImageDescriptorForSourceImages:(NSArray<MPSImage*>*)sourceImages
                                                    sourceStates:(NSArray<MPSState*>* _Nullable)sourceStates
                                                       forKernel:(MPSKernel*)kernel
                                             suggestedDescriptor:(MPSImageDescriptor*)inDescriptor;

@end

/// A method that is not Custom.
@interface MPSNNDefaultPadding : NSObject <MPSNNPadding> {
 @package
  MPSNNPaddingMethod _method;
}

/// The method.
+ (instancetype)paddingWithMethod:(MPSNNPaddingMethod)method;

/// Text for debuggers.
- (NSString*)label;

@end

NS_ASSUME_NONNULL_END
