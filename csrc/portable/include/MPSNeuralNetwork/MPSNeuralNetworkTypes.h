// Padding and precision of image kernels.
#pragma once

#import <MPSCore/MPSCore.h>

NS_ASSUME_NONNULL_BEGIN

@class MPSState;

/// The precision of a convolution's sums; it is float32 whatever the value.
typedef NS_OPTIONS(NSUInteger, MPSNNConvolutionAccumulatorPrecisionOption) {
  MPSNNConvolutionAccumulatorPrecisionOptionHalf = 0,
  MPSNNConvolutionAccumulatorPrecisionOptionFloat = 1,
};

/// The size of a result and the positions that its pixels read: an Align, an AddRemainderTo for the rest of a Centered
/// one, and a Size. ValidOnly reads no pixel outside the source, Same has as many pixels as the source divided by the
/// stride, and Full reads every window that touches the source.
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

/// Decides how large a result is and which positions its pixels read.
@protocol MPSNNPadding <NSObject, NSSecureCoding>

/// The method.
- (MPSNNPaddingMethod)paddingMethod;

@optional

/// Text for debuggers.
- (NSString*)label;

/// For a Custom method: the descriptor of the image to write; sets the kernel's offset. The suggestion follows from the
/// rest of the method.
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
