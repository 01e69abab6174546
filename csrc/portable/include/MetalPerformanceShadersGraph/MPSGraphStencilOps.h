// Weighted reductions of windows over the last four axes.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Geometry of the windows and the reduction over them. Arrays have one number for each of the last four axes; the
/// padding has two, before and after.
@interface MPSGraphStencilOpDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Sum by default.
@property(nonatomic, readwrite) MPSGraphReductionMode reductionMode;

/// Offsets used only by the padding style ExplicitOffset; 0 by default.
@property(nonatomic, readwrite, copy) MPSShape* offsets;

/// Step of the window; 1 by default.
@property(nonatomic, readwrite, copy) MPSShape* strides;

/// Distance between taps; 1 by default.
@property(nonatomic, readwrite, copy) MPSShape* dilationRates;

/// Used only by the style Explicit; 0 by default.
@property(nonatomic, readwrite, copy) MPSShape* explicitPadding;

/// The elements in the padding; Zero by default.
@property(nonatomic, readwrite) MPSGraphPaddingMode boundaryMode;

/// Explicit by default.
@property(nonatomic, readwrite) MPSGraphPaddingStyle paddingStyle;

/// The padding's elements in the mode Constant; 0 by default.
@property(nonatomic, readwrite) float paddingConstant;

/// Sets all fields; raises for arrays of other lengths, and for strides and rates below 1.
+ (instancetype _Nullable)descriptorWithReductionMode:(MPSGraphReductionMode)reductionMode
                                              offsets:(MPSShape*)offsets
                                              strides:(MPSShape*)strides
                                        dilationRates:(MPSShape*)dilationRates
                                      explicitPadding:(MPSShape*)explicitPadding
                                         boundaryMode:(MPSGraphPaddingMode)boundaryMode
                                         paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                                      paddingConstant:(float)paddingConstant;

/// Sets the style ExplicitOffset.
+ (instancetype _Nullable)descriptorWithOffsets:(MPSShape*)offsets explicitPadding:(MPSShape*)explicitPadding;

/// Sets the style Explicit.
+ (instancetype _Nullable)descriptorWithExplicitPadding:(MPSShape*)explicitPadding;

+ (instancetype _Nullable)descriptorWithPaddingStyle:(MPSGraphPaddingStyle)paddingStyle;

@end

@interface MPSGraph (MPSGraphStencilOps)

/// Multiplies each window of the source by the weights, which are not flipped, and takes the sum, product, least or
/// greatest of the products. The source has rank 4 or more, the weights rank 4. The modes ArgumentMin and ArgumentMax
/// and the style ExplicitOffset raise: Apple does not document them.
- (MPSGraphTensor*)stencilWithSourceTensor:(MPSGraphTensor*)source
                             weightsTensor:(MPSGraphTensor*)weights
                                descriptor:(MPSGraphStencilOpDescriptor*)descriptor
                                      name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
