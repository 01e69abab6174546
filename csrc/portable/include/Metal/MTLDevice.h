// The device: what it is, and what it creates.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLResource.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLBuffer;
@protocol MTLCommandQueue;
@protocol MTLEvent;
@protocol MTLSharedEvent;

/// The default device, retained for the caller.
MTL_EXTERN id<MTLDevice> _Nullable MTLCreateSystemDefaultDevice(void) NS_RETURNS_RETAINED;

/// All devices, retained for the caller; the portable framework has one.
MTL_EXTERN NSArray<id<MTLDevice>>* MTLCopyAllDevices(void) NS_RETURNS_RETAINED;

/// A processor that runs command buffers; safe to use from every thread.
@protocol MTLDevice <NSObject>

/// Name for people.
@property(readonly) NSString* name;

/// Number that is the same in all processes of this machine.
@property(readonly) uint64_t registryID;

/// YES when host and device share memory.
@property(readonly) BOOL hasUnifiedMemory;

/// Bytes that may be allocated without slowing the machine.
@property(readonly) uint64_t recommendedMaxWorkingSetSize;

/// Bytes allocated now by this process.
@property(readonly) NSUInteger currentAllocatedSize;

/// Longest buffer that can be created, in bytes.
@property(readonly) NSUInteger maxBufferLength;

/// An empty command queue.
- (id<MTLCommandQueue> _Nullable)newCommandQueue;

/// A buffer of `length` bytes, zeroed; nil when memory is short.
- (id<MTLBuffer> _Nullable)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;

/// A buffer that starts as a copy of `length` bytes at `pointer`.
- (id<MTLBuffer> _Nullable)newBufferWithBytes:(const void*)pointer
                                       length:(NSUInteger)length
                                      options:(MTLResourceOptions)options;

/// A buffer over memory of the caller; `deallocator` runs when the last user is gone. On a Mac it must be whole
/// pages, here it may lie anywhere. Nil for no memory and for a storage mode that the host does not see.
- (id<MTLBuffer> _Nullable)newBufferWithBytesNoCopy:(void*)pointer
                                             length:(NSUInteger)length
                                            options:(MTLResourceOptions)options
                                        deallocator:(void (^_Nullable)(void*, NSUInteger))deallocator;

/// An event for ordering command buffers of one device.
- (id<MTLEvent> _Nullable)newEvent;

/// An event that the host can read, set and wait for.
- (id<MTLSharedEvent> _Nullable)newSharedEvent;

@end

NS_ASSUME_NONNULL_END
