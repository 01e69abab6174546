// Types shared by all of MPS: element types and shapes.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

NS_ASSUME_NONNULL_BEGIN

/// Element type: flag bits and, in the low 16 bits, the width in bits.
typedef NS_ENUM(uint32_t, MPSDataType) {
  MPSDataTypeInvalid = 0,
  MPSDataTypeFloatBit = 0x10000000,
  MPSDataTypeFloat32 = 0x10000020,
  MPSDataTypeFloat16 = 0x10000010,
  MPSDataTypeComplexBit = 0x1000000,
  MPSDataTypeComplexFloat32 = 0x11000040,
  MPSDataTypeComplexFloat16 = 0x11000020,
  MPSDataTypeSignedBit = 0x20000000,
  MPSDataTypeIntBit = 0x20000000,
  MPSDataTypeInt8 = 0x20000008,
  MPSDataTypeInt16 = 0x20000010,
  MPSDataTypeInt32 = 0x20000020,
  MPSDataTypeInt64 = 0x20000040,
  MPSDataTypeUInt8 = 8,
  MPSDataTypeUInt16 = 16,
  MPSDataTypeUInt32 = 32,
  MPSDataTypeUInt64 = 64,
  MPSDataTypeAlternateEncodingBit = 0x80000000,
  MPSDataTypeBool = 0x80000008,
  MPSDataTypeNormalizedBit = 0x40000000,
  MPSDataTypeUnorm1 = 0x40000001,
  MPSDataTypeUnorm8 = 0x40000008,
  MPSDataTypeBFloat16 = 0x90000010,
  MPSDataTypeComplexBFloat16 = 0x91000020,
  MPSDataTypeInt2 = 0x20000002,
  MPSDataTypeInt4 = 0x20000004,
  MPSDataTypeUInt2 = 2,
  MPSDataTypeUInt4 = 4,
};

/// How a kernel treats its arguments. The portable kernels always check them and compute in full precision.
typedef NS_OPTIONS(NSUInteger, MPSKernelOptions) {
  MPSKernelOptionsNone = 0,
  MPSKernelOptionsSkipAPIValidation = 1,
  MPSKernelOptionsAllowReducedPrecision = 2,
  MPSKernelOptionsDisableInternalTiling = 4,
  MPSKernelOptionsInsertDebugGroups = 8,
  MPSKernelOptionsVerbose = 16,
};

/// Whether a view shares the memory of its array, and which memory a copy uses; a copy always has memory of its own.
typedef NS_OPTIONS(NSUInteger, MPSAliasingStrategy) {
  MPSAliasingStrategyDefault = 0,
  MPSAliasingStrategyDontCare = 0,
  MPSAliasingStrategyShallAlias = 1,
  MPSAliasingStrategyShallNotAlias = 2,
  MPSAliasingStrategyAliasingReserved = 3,
  MPSAliasingStrategyPreferTemporaryMemory = 4,
  MPSAliasingStrategyPreferNonTemporaryMemory = 8,
};

/// The pixels outside an image.
typedef NS_ENUM(NSUInteger, MPSImageEdgeMode) {
  MPSImageEdgeModeZero = 0,
  MPSImageEdgeModeClamp = 1,
  MPSImageEdgeModeMirror = 2,
  MPSImageEdgeModeMirrorWithEdge = 3,
  MPSImageEdgeModeConstant = 4,
};

/// Type of the channels of images.
typedef NS_ENUM(NSUInteger, MPSImageFeatureChannelFormat) {
  MPSImageFeatureChannelFormatNone = 0,
  MPSImageFeatureChannelFormatUnorm8 = 1,
  MPSImageFeatureChannelFormatUnorm16 = 2,
  MPSImageFeatureChannelFormatFloat16 = 3,
  MPSImageFeatureChannelFormatFloat32 = 4,
  MPSImageFeatureChannelFormat_reserved0 = 5,
  MPSImageFeatureChannelFormatCount = 6,
};

/// A range of a dimension: `length` elements from `start` on.
typedef struct MPSDimensionSlice {
  NSUInteger start;
  NSUInteger length;
} MPSDimensionSlice;

/// A pixel and a channel of an image.
typedef struct MPSImageCoordinate {
  NSUInteger x;
  NSUInteger y;
  NSUInteger channel;
} MPSImageCoordinate;

/// Pixels and channels of an image.
typedef struct MPSImageRegion {
  MPSImageCoordinate offset;
  MPSImageCoordinate size;
} MPSImageRegion;

/// A shift by whole pixels.
typedef struct {
  NSInteger x;
  NSInteger y;
  NSInteger z;
} MPSOffset;

/// A position between pixels.
typedef struct MPSOrigin {
  double x;
  double y;
  double z;
} MPSOrigin;

/// Fractional extents of pixels.
typedef struct MPSSize {
  double width;
  double height;
  double depth;
} MPSSize;

/// A part of an image, with fractional bounds.
typedef struct MPSRegion {
  MPSOrigin origin;
  MPSSize size;
} MPSRegion;

/// All pixels of all images: the first value of clip rectangles.
MTL_EXTERN const MTLRegion MPSRectNoClip;

/// Bytes of one element of type `t`, rounded down.
NS_INLINE size_t MPSSizeofMPSDataType(MPSDataType t) { return ((size_t)t & 0xffff) >> 3; }

/// Lengths from the slowest to the fastest dimension; -1 is an unknown length.
typedef NSArray<NSNumber*> MPSShape;

NS_ASSUME_NONNULL_END
