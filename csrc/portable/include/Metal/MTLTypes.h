// Positions and sizes in grids.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>

/// A position in a grid; for a matrix, x is the row and y the column.
typedef struct {
  NSUInteger x, y, z;
} MTLOrigin;

/// The extents of a grid.
typedef struct {
  NSUInteger width, height, depth;
} MTLSize;

/// A part of a grid.
typedef struct {
  MTLOrigin origin;
  MTLSize size;
} MTLRegion;

/// A resource as shaders name it.
typedef struct MTLResourceID {
  uint64_t _impl;
} MTLResourceID;

/// The position (x, y, z).
NS_INLINE MTLOrigin MTLOriginMake(NSUInteger x, NSUInteger y, NSUInteger z) {
  MTLOrigin origin = {x, y, z};
  return origin;
}

/// The extents (width, height, depth).
NS_INLINE MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
  MTLSize size = {width, height, depth};
  return size;
}

/// `width` positions of a line from `x` on.
NS_INLINE MTLRegion MTLRegionMake1D(NSUInteger x, NSUInteger width) {
  MTLRegion region = {MTLOriginMake(x, 0, 0), MTLSizeMake(width, 1, 1)};
  return region;
}

/// A rectangle.
NS_INLINE MTLRegion MTLRegionMake2D(NSUInteger x, NSUInteger y, NSUInteger width, NSUInteger height) {
  MTLRegion region = {MTLOriginMake(x, y, 0), MTLSizeMake(width, height, 1)};
  return region;
}

/// A box.
NS_INLINE MTLRegion MTLRegionMake3D(NSUInteger x, NSUInteger y, NSUInteger z, NSUInteger width, NSUInteger height,
                                    NSUInteger depth) {
  MTLRegion region = {MTLOriginMake(x, y, z), MTLSizeMake(width, height, depth)};
  return region;
}
