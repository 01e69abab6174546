// Weighted reductions of windows over the last four axes.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Geometry of the windows, and what becomes of them. Arrays have a number for each of the last four axes, the padding
/// one before and one after each.
@interface MPSGraphStencilOpDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Sum at first.
@property(nonatomic, readwrite) MPSGraphReductionMode reductionMode;

/// Of the padding style ExplicitOffset; 0 at first.
@property(nonatomic, readwrite, copy) MPSShape* offsets;

/// Step of the window; 1 at first.
@property(nonatomic, readwrite, copy) MPSShape* strides;

/// Distance of the taps; 1 at first.
@property(nonatomic, readwrite, copy) MPSShape* dilationRates;

/// Used when the style is Explicit; 0 at first.
@property(nonatomic, readwrite, copy) MPSShape* explicitPadding;

/// What stands in the padding; Zero at first.
@property(nonatomic, readwrite) MPSGraphPaddingMode boundaryMode;

/// Explicit at first.
@property(nonatomic, readwrite) MPSGraphPaddingStyle paddingStyle;

/// What stands there in the mode Constant; 0 at first.
@property(nonatomic, readwrite) float paddingConstant;

/// All fields; raises for arrays of other lengths, and for strides and rates below 1.
+ (instancetype _Nullable)descriptorWithReductionMode:(MPSGraphReductionMode)reductionMode
                                              offsets:(MPSShape*)offsets
                                              strides:(MPSShape*)strides
                                        dilationRates:(MPSShape*)dilationRates
                                      explicitPadding:(MPSShape*)explicitPadding
                                         boundaryMode:(MPSGraphPaddingMode)boundaryMode
                                         paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                                      paddingConstant:(float)paddingConstant;

/// Of the style ExplicitOffset.
+ (instancetype _Nullable)descriptorWithOffsets:(MPSShape*)offsets explicitPadding:(MPSShape*)explicitPadding;

/// Of the style Explicit.
+ (instancetype _Nullable)descriptorWithExplicitPadding:(MPSShape*)explicitPadding;

+ (instancetype _Nullable)descriptorWithPaddingStyle:(MPSGraphPaddingStyle)paddingStyle;

@end

@interface MPSGraph (MPSGraphStencilOps)

/// Each window of the source, of rank 4 or more, times the weights, of rank 4 and unflipped, and of that the sum,
/// product, least or greatest element. What the modes ArgumentMin and ArgumentMax give, and where windows begin in the
/// style ExplicitOffset, is documented nowhere; these raise.
- (MPSGraphTensor*)stencilWithSourceTensor:(MPSGraphTensor*)source
                             weightsTensor:(MPSGraphTensor*)weights
                                descriptor:(MPSGraphStencilOpDescriptor*)descriptor
                                      name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
