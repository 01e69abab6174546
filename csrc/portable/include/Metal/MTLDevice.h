// The device: its properties, and the objects that it creates.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLComputePipeline.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLLibrary.h>
#import <Metal/MTLResource.h>
#import <Metal/MTLTypes.h>
#import <dispatch/dispatch.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLBuffer;
@protocol MTLCommandQueue;
@protocol MTLEvent;
@protocol MTLFence;
@protocol MTLHeap;
@protocol MTLSharedEvent;
@protocol MTLTexture;
@class MTLHeapDescriptor;
@class MTLSharedEventHandle;
@class MTLTextureDescriptor;

/// Features that Apple's processors have in common; a device that runs no shaders has none of them.
typedef NS_ENUM(NSInteger, MTLGPUFamily) {
  MTLGPUFamilyApple1 = 1001,
  MTLGPUFamilyApple2 = 1002,
  MTLGPUFamilyApple3 = 1003,
  MTLGPUFamilyApple4 = 1004,
  MTLGPUFamilyApple5 = 1005,
  MTLGPUFamilyApple6 = 1006,
  MTLGPUFamilyApple7 = 1007,
  MTLGPUFamilyApple8 = 1008,
  MTLGPUFamilyApple9 = 1009,
  MTLGPUFamilyApple10 = 1010,
  MTLGPUFamilyMac1 = 2001,
  MTLGPUFamilyMac2 = 2002,
  MTLGPUFamilyCommon1 = 3001,
  MTLGPUFamilyCommon2 = 3002,
  MTLGPUFamilyCommon3 = 3003,
  MTLGPUFamilyMacCatalyst1 = 4001,
  MTLGPUFamilyMacCatalyst2 = 4002,
  MTLGPUFamilyMetal3 = 5001,
  MTLGPUFamilyMetal4 = 5002,
};

/// The location of a device; the processor's own device is built in.
typedef NS_ENUM(NSUInteger, MTLDeviceLocation) {
  MTLDeviceLocationBuiltIn = 0,
  MTLDeviceLocationSlot = 1,
  MTLDeviceLocationExternal = 2,
  MTLDeviceLocationUnspecified = 0xffffffffffffffff,
};

/// The size and the alignment of a resource in a heap.
typedef struct {
  NSUInteger size;
  NSUInteger align;
} MTLSizeAndAlign;

/// A time in nanoseconds.
typedef uint64_t MTLTimestamp;

/// Kind of processor of a device.
@interface MTLArchitecture : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// A word for programs, such as "cpu".
@property(readonly) NSString* name;

@end

/// The default device, retained for the caller.
MTL_EXTERN id<MTLDevice> _Nullable MTLCreateSystemDefaultDevice(void) NS_RETURNS_RETAINED;

/// All devices, retained for the caller, the default one first.
MTL_EXTERN NSArray<id<MTLDevice>>* MTLCopyAllDevices(void) NS_RETURNS_RETAINED;

/// A processor that runs command buffers; safe to use from every thread.
@protocol MTLDevice <NSObject>

/// Name for people.
@property(readonly) NSString* name;

/// Number that is the same in all processes of this machine.
@property(readonly) uint64_t registryID;

/// YES if host and device share memory.
@property(readonly) BOOL hasUnifiedMemory;

/// Bytes that may be allocated without slowing the machine.
@property(readonly) uint64_t recommendedMaxWorkingSetSize;

/// Bytes currently allocated by this process.
@property(readonly) NSUInteger currentAllocatedSize;

/// Longest buffer that can be created, in bytes.
@property(readonly) NSUInteger maxBufferLength;

/// Kind of processor.
@property(readonly) MTLArchitecture* architecture;

/// For a device without shaders: groups of one thread, and no group memory.
@property(readonly) MTLSize maxThreadsPerThreadgroup;
@property(readonly) NSUInteger maxThreadgroupMemoryLength;

/// Whether it saves power at the cost of speed, has no display, can be removed; NO, YES and NO.
@property(readonly, getter=isLowPower) BOOL lowPower;
@property(readonly, getter=isHeadless) BOOL headless;
@property(readonly, getter=isRemovable) BOOL removable;

/// Whether textures of float32 can be filtered; NO without textures.
@property(readonly) BOOL supports32BitFloatFiltering;

/// Its location: built in, number 0, with no bus between it and the host's memory.
@property(readonly) MTLDeviceLocation location;
@property(readonly) NSUInteger locationNumber;
@property(readonly) uint64_t maxTransferRate;

/// The group of devices that reach each other's memory; none.
@property(readonly) uint64_t peerGroupID;
@property(readonly) uint32_t peerIndex;
@property(readonly) uint32_t peerCount;

/// Whether it has all features of a family; NO, because all of them concern shaders or textures.
- (BOOL)supportsFamily:(MTLGPUFamily)gpuFamily;

/// The time of the host and of the device at one moment; here, both are the same clock.
- (void)sampleTimestamps:(MTLTimestamp*)cpuTimestamp gpuTimestamp:(MTLTimestamp*)gpuTimestamp;

/// An empty command queue, with at most 64 uncompleted command buffers.
- (id<MTLCommandQueue> _Nullable)newCommandQueue;

/// An empty command queue with at most this number of uncompleted command buffers, beyond which commandBuffer blocks;
/// raises for 0.
- (id<MTLCommandQueue> _Nullable)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)maxCommandBufferCount;

/// A buffer of `length` bytes, zeroed; nil if there is not enough memory.
- (id<MTLBuffer> _Nullable)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;

/// A buffer with a copy of `length` bytes at `pointer`.
- (id<MTLBuffer> _Nullable)newBufferWithBytes:(const void*)pointer
                                       length:(NSUInteger)length
                                      options:(MTLResourceOptions)options;

/// A buffer in memory of the caller; `deallocator` runs when the last user is gone. On a Mac the memory must be whole
/// pages; here it may have any address. Nil for no memory and for a storage mode that the host cannot read.
- (id<MTLBuffer> _Nullable)newBufferWithBytesNoCopy:(void*)pointer
                                             length:(NSUInteger)length
                                            options:(MTLResourceOptions)options
                                        deallocator:(void (^_Nullable)(void*, NSUInteger))deallocator;

/// An event for ordering command buffers of one device.
- (id<MTLEvent> _Nullable)newEvent;

/// An event that the host can read, set and wait for.
- (id<MTLSharedEvent> _Nullable)newSharedEvent;

/// An event that shares the value of the handle's event: setting one sets the other.
- (id<MTLSharedEvent> _Nullable)newSharedEventWithHandle:(MTLSharedEventHandle*)sharedEventHandle;

/// A fence that is not set.
- (id<MTLFence> _Nullable)newFence;

/// The size and alignment of a buffer in a heap.
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length options:(MTLResourceOptions)options;

/// Memory for buffers; nil if there is not enough, and for size 0, memoryless storage and sparse heaps.
- (id<MTLHeap> _Nullable)newHeapWithDescriptor:(MTLHeapDescriptor*)descriptor;

/// Nil: there are no textures.
- (id<MTLTexture> _Nullable)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor;

/// Nil, and an error of MTLLibraryErrorDomain if the method returns errors: this device has no shaders.
- (id<MTLLibrary> _Nullable)newDefaultLibrary;
- (id<MTLLibrary> _Nullable)newDefaultLibraryWithBundle:(NSBundle*)bundle error:(NSError* _Nullable* _Nullable)error;
- (id<MTLLibrary> _Nullable)newLibraryWithFile:(NSString*)filepath error:(NSError* _Nullable* _Nullable)error;
- (id<MTLLibrary> _Nullable)newLibraryWithURL:(NSURL*)url error:(NSError* _Nullable* _Nullable)error;
- (id<MTLLibrary> _Nullable)newLibraryWithData:(dispatch_data_t)data error:(NSError* _Nullable* _Nullable)error;
- (id<MTLLibrary> _Nullable)newLibraryWithSource:(NSString*)source
                                         options:(MTLCompileOptions* _Nullable)options
                                           error:(NSError* _Nullable* _Nullable)error;
- (void)newLibraryWithSource:(NSString*)source
                     options:(MTLCompileOptions* _Nullable)options
           completionHandler:(MTLNewLibraryCompletionHandler)completionHandler;

/// The same for pipelines.
- (id<MTLComputePipelineState> _Nullable)newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                                                       error:(NSError* _Nullable* _Nullable)error;
- (id<MTLComputePipelineState> _Nullable)
    newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                options:(MTLPipelineOption)options
                             reflection:(MTLAutoreleasedComputePipelineReflection* _Nullable)reflection
                                  error:(NSError* _Nullable* _Nullable)error;
- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                          completionHandler:(MTLNewComputePipelineStateCompletionHandler)completionHandler;
- (id<MTLComputePipelineState> _Nullable)
    newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor*)descriptor
                                  options:(MTLPipelineOption)options
                               reflection:(MTLAutoreleasedComputePipelineReflection* _Nullable)reflection
                                    error:(NSError* _Nullable* _Nullable)error;

@end

NS_ASSUME_NONNULL_END
