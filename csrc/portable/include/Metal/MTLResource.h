// Resources: options, modes and the protocol of all resources.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;
@protocol MTLHeap;

/// Whether the system may discard a resource's contents if memory is short; the portable device never does so by
/// itself.
typedef NS_ENUM(NSUInteger, MTLPurgeableState) {
  MTLPurgeableStateKeepCurrent = 1,
  MTLPurgeableStateNonVolatile = 2,
  MTLPurgeableStateVolatile = 3,
  MTLPurgeableStateEmpty = 4,
};

/// How the CPU caches a resource; the portable device stores the value and ignores it.
typedef NS_ENUM(NSUInteger, MTLCPUCacheMode) {
  MTLCPUCacheModeDefaultCache = 0,
  MTLCPUCacheModeWriteCombined = 1,
};

/// The memory of a resource; the portable device keeps every mode except memoryless in host memory.
typedef NS_ENUM(NSUInteger, MTLStorageMode) {
  MTLStorageModeShared = 0,
  MTLStorageModeManaged = 1,
  MTLStorageModePrivate = 2,
  MTLStorageModeMemoryless = 3,
};

/// Whether the framework orders conflicting accesses. The default of a buffer is tracked.
typedef NS_ENUM(NSUInteger, MTLHazardTrackingMode) {
  MTLHazardTrackingModeDefault = 0,
  MTLHazardTrackingModeUntracked = 1,
  MTLHazardTrackingModeTracked = 2,
};

/// Cache mode, storage mode and hazard tracking in one word: cache | storage << 4 | hazard << 8.
typedef NS_OPTIONS(NSUInteger, MTLResourceOptions) {
  MTLResourceCPUCacheModeDefaultCache = 0,
  MTLResourceCPUCacheModeWriteCombined = 1,
  MTLResourceStorageModeShared = 0,
  MTLResourceStorageModeManaged = 16,
  MTLResourceStorageModePrivate = 32,
  MTLResourceStorageModeMemoryless = 48,
  MTLResourceHazardTrackingModeDefault = 0,
  MTLResourceHazardTrackingModeUntracked = 256,
  MTLResourceHazardTrackingModeTracked = 512,
  MTLResourceOptionCPUCacheModeDefault = 0,
  MTLResourceOptionCPUCacheModeWriteCombined = 1,
};

/// Memory owned by a device.
@protocol MTLResource <NSObject>

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// The device that allocated the resource.
@property(readonly) id<MTLDevice> device;

/// Decoded from the options of its creation.
@property(readonly) MTLCPUCacheMode cpuCacheMode;
@property(readonly) MTLStorageMode storageMode;
@property(readonly) MTLHazardTrackingMode hazardTrackingMode;
@property(readonly) MTLResourceOptions resourceOptions;

/// Bytes taken from the device, at least the length.
@property(readonly) NSUInteger allocatedSize;

/// The heap of its memory; nil for a resource with memory of its own.
@property(readonly, nullable) id<MTLHeap> heap;

/// Offset in the heap, in bytes; 0 without a heap.
@property(readonly) NSUInteger heapOffset;

/// Sets whether the contents may be discarded; returns the former state. Empty discards them: they are undefined from
/// then on, and the next call returns Empty.
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state;

/// Lets the heap reuse the memory while this resource still exists; raises without a heap.
- (void)makeAliasable;

/// Whether makeAliasable was called.
- (BOOL)isAliasable;

@end

NS_ASSUME_NONNULL_END
