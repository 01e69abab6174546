// Types shared by all of MPSGraph.
#pragma once

#import <Foundation/Foundation.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

NS_ASSUME_NONNULL_BEGIN

/// Order of the dimensions of images and weights, slowest first.
typedef NS_ENUM(NSUInteger, MPSGraphTensorNamedDataLayout) {
  MPSGraphTensorNamedDataLayoutNCHW = 0,
  MPSGraphTensorNamedDataLayoutNHWC = 1,
  MPSGraphTensorNamedDataLayoutOIHW = 2,
  MPSGraphTensorNamedDataLayoutHWIO = 3,
  MPSGraphTensorNamedDataLayoutCHW = 4,
  MPSGraphTensorNamedDataLayoutHWC = 5,
  MPSGraphTensorNamedDataLayoutHW = 6,
  MPSGraphTensorNamedDataLayoutNCDHW = 7,
  MPSGraphTensorNamedDataLayoutNDHWC = 8,
  MPSGraphTensorNamedDataLayoutOIDHW = 9,
  MPSGraphTensorNamedDataLayoutDHWIO = 10,
};

/// Sets how a window op finds its padding.
typedef NS_ENUM(NSUInteger, MPSGraphPaddingStyle) {
  MPSGraphPaddingStyleExplicit = 0,
  MPSGraphPaddingStyleTF_VALID = 1,
  MPSGraphPaddingStyleTF_SAME = 2,
  MPSGraphPaddingStyleExplicitOffset = 3,
  MPSGraphPaddingStyleONNX_SAME_LOWER = 4,
};

/// Sets the elements that fill padding.
typedef NS_ENUM(NSInteger, MPSGraphPaddingMode) {
  MPSGraphPaddingModeConstant = 0,
  MPSGraphPaddingModeReflect = 1,
  MPSGraphPaddingModeSymmetric = 2,
  MPSGraphPaddingModeClampToEdge = 3,
  MPSGraphPaddingModeZero = 4,
  MPSGraphPaddingModePeriodic = 5,
  MPSGraphPaddingModeAntiPeriodic = 6,
};

/// Sets how a reduction combines several values into one.
typedef NS_ENUM(NSUInteger, MPSGraphReductionMode) {
  MPSGraphReductionModeMin = 0,
  MPSGraphReductionModeMax = 1,
  MPSGraphReductionModeSum = 2,
  MPSGraphReductionModeProduct = 3,
  MPSGraphReductionModeArgumentMin = 4,
  MPSGraphReductionModeArgumentMax = 5,
};

/// Base of classes that came with macOS 14 and later.
@interface MPSGraphObject : NSObject

@end

/// Base of the types of graph values.
@interface MPSGraphType : NSObject <NSCopying>

@end

/// Shape and element type of a tensor.
@interface MPSGraphShapedType : MPSGraphType {
 @package
  void* _impl;
}

/// nil when the rank is unknown; -1 for an unknown length.
@property(atomic, readwrite, copy, nullable) MPSShape* shape;

/// Type of the elements.
@property(atomic, readwrite) MPSDataType dataType;

/// Copies `shape`.
- (instancetype)initWithShape:(MPSShape* _Nullable)shape dataType:(MPSDataType)dataType;

/// YES when shape and type are the same.
- (BOOL)isEqualTo:(MPSGraphShapedType* _Nullable)object;

@end

NS_ASSUME_NONNULL_END
