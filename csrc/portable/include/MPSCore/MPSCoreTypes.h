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

/// Bytes of one element of type `t`, rounded down.
NS_INLINE size_t MPSSizeofMPSDataType(MPSDataType t) { return ((size_t)t & 0xffff) >> 3; }

/// Lengths from the slowest to the fastest dimension; -1 is a length not known yet.
typedef NSArray<NSNumber*> MPSShape;

NS_ASSUME_NONNULL_END
