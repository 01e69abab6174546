// Heaps: one piece of memory for many buffers.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLBuffer.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLResource.h>
#import <Metal/MTLTexture.h>

NS_ASSUME_NONNULL_BEGIN

/// Who says where a buffer of a heap lies: the heap, or the program.
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

/// What a heap shall be; private memory and automatic places at first.
@interface MTLHeapDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Bytes; 0 at first, which makes no heap.
@property(nonatomic, readwrite) NSUInteger size;

/// Storage mode of the heap and of its buffers.
@property(nonatomic, readwrite) MTLStorageMode storageMode;

/// Cache mode of the heap and of its buffers.
@property(nonatomic, readwrite) MTLCPUCacheMode cpuCacheMode;

/// Kept, and of no effect.
@property(nonatomic, readwrite) MTLSparsePageSize sparsePageSize;

/// Hazard tracking of its buffers; untracked by default.
@property(nonatomic, readwrite) MTLHazardTrackingMode hazardTrackingMode;

/// The three modes in one word; setting one sets the other.
@property(nonatomic, readwrite) MTLResourceOptions resourceOptions;

/// Who places its buffers.
@property(nonatomic, readwrite) MTLHeapType type;

@end

/// Memory of a device from which buffers are made without asking the system.
@protocol MTLHeap <NSObject>

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// The device that has the memory.
@property(readonly) id<MTLDevice> device;

/// As the descriptor said.
@property(readonly) MTLStorageMode storageMode;
@property(readonly) MTLCPUCacheMode cpuCacheMode;
@property(readonly) MTLHazardTrackingMode hazardTrackingMode;
@property(readonly) MTLResourceOptions resourceOptions;

/// Bytes of the heap, at least those asked for.
@property(readonly) NSUInteger size;

/// Bytes that buffers take now; one that may be aliased takes none.
@property(readonly) NSUInteger usedSize;

/// Bytes taken from the device.
@property(readonly) NSUInteger currentAllocatedSize;

/// Who places its buffers.
@property(readonly) MTLHeapType type;

/// Bytes of the longest buffer that can be made now at a multiple of `alignment`, which is a power of two or 0.
- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment;

/// A buffer where there is room for it; its contents are what was there before. Nil where there is none, and on a heap
/// of the placement type. Raises for modes that are not the heap's.
- (id<MTLBuffer> _Nullable)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;

/// A buffer at a place of a placement heap, over whatever else lies there. Raises for a place that is not inside, or
/// no multiple of the alignment that heapBufferSizeAndAlignWithLength:options: says.
- (id<MTLBuffer> _Nullable)newBufferWithLength:(NSUInteger)length
                                       options:(MTLResourceOptions)options
                                        offset:(NSUInteger)offset;

/// Nil: there are no textures.
- (id<MTLTexture> _Nullable)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor;
- (id<MTLTexture> _Nullable)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor offset:(NSUInteger)offset;

/// Says whether the contents may go; the former state, which is Empty once they are gone.
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state;

@end

NS_ASSUME_NONNULL_END
