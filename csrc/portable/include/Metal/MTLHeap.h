// Heaps: one block of memory for many buffers.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLBuffer.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLResource.h>
#import <Metal/MTLTexture.h>

NS_ASSUME_NONNULL_BEGIN

/// Who chooses a buffer's offset in a heap: the heap or the program.
typedef NS_ENUM(NSInteger, MTLHeapType) {
  MTLHeapTypeAutomatic = 0,
  MTLHeapTypePlacement = 1,
  MTLHeapTypeSparse = 2,
};

/// Pages of sparse textures, which do not exist here.
typedef NS_ENUM(NSInteger, MTLSparsePageSize) {
  MTLSparsePageSize16 = 101,
  MTLSparsePageSize64 = 102,
  MTLSparsePageSize256 = 103,
};

/// Options of a new heap; private memory and automatic placement by default.
@interface MTLHeapDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Bytes; 0 by default, with which no heap can be made.
@property(nonatomic, readwrite) NSUInteger size;

/// Storage mode of the heap and of its buffers.
@property(nonatomic, readwrite) MTLStorageMode storageMode;

/// Cache mode of the heap and of its buffers.
@property(nonatomic, readwrite) MTLCPUCacheMode cpuCacheMode;

/// Stored without effect.
@property(nonatomic, readwrite) MTLSparsePageSize sparsePageSize;

/// Hazard tracking of its buffers; untracked by default.
@property(nonatomic, readwrite) MTLHazardTrackingMode hazardTrackingMode;

/// The three modes in one word; setting the word sets the modes, and the other way round.
@property(nonatomic, readwrite) MTLResourceOptions resourceOptions;

/// Who chooses the offsets of buffers.
@property(nonatomic, readwrite) MTLHeapType type;

@end

/// Memory of a device from which buffers are made without asking the system.
@protocol MTLHeap <NSObject>

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// The device that has the memory.
@property(readonly) id<MTLDevice> device;

/// The descriptor's values.
@property(readonly) MTLStorageMode storageMode;
@property(readonly) MTLCPUCacheMode cpuCacheMode;
@property(readonly) MTLHazardTrackingMode hazardTrackingMode;
@property(readonly) MTLResourceOptions resourceOptions;

/// Bytes of the heap, at least the number requested.
@property(readonly) NSUInteger size;

/// Bytes that buffers use now; a buffer that may be aliased uses none.
@property(readonly) NSUInteger usedSize;

/// Bytes taken from the device.
@property(readonly) NSUInteger currentAllocatedSize;

/// Who chooses the offsets of buffers.
@property(readonly) MTLHeapType type;

/// Length of the longest buffer that can be made now at a multiple of `alignment`, which is a power of two or 0.
- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment;

/// A buffer at a free offset; its contents are undefined. Nil if there is no room, and on a heap of the placement type.
/// Raises for modes that are not the heap's.
- (id<MTLBuffer> _Nullable)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;

/// A buffer at this offset of a placement heap, even if it overlaps others. Raises for an offset outside the heap, or
/// not a multiple of heapBufferSizeAndAlignWithLength:options:'s alignment.
- (id<MTLBuffer> _Nullable)newBufferWithLength:(NSUInteger)length
                                       options:(MTLResourceOptions)options
                                        offset:(NSUInteger)offset;

/// Nil: there are no textures.
- (id<MTLTexture> _Nullable)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor;
- (id<MTLTexture> _Nullable)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor offset:(NSUInteger)offset;

/// Sets whether the contents may be discarded; returns the former state, which is Empty if they have been discarded.
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state;

@end

NS_ASSUME_NONNULL_END
