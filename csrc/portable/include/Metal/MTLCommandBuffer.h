// Command buffers: work that is encoded, committed once and then runs.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;
@protocol MTLCommandQueue;
@protocol MTLCommandBuffer;
@protocol MTLEvent;
@protocol MTLBlitCommandEncoder;
@protocol MTLComputeCommandEncoder;
@protocol MTLLogState;

/// Seconds, on the clock that also times the device.
typedef double CFTimeInterval;

/// Phases of a command buffer, which only advance.
typedef NS_ENUM(NSUInteger, MTLCommandBufferStatus) {
  MTLCommandBufferStatusNotEnqueued = 0,
  MTLCommandBufferStatusEnqueued = 1,
  MTLCommandBufferStatusCommitted = 2,
  MTLCommandBufferStatusScheduled = 3,
  MTLCommandBufferStatusCompleted = 4,
  MTLCommandBufferStatusError = 5,
};

/// Codes of the errors of a command buffer.
typedef NS_ENUM(NSUInteger, MTLCommandBufferError) {
  MTLCommandBufferErrorNone = 0,
  MTLCommandBufferErrorInternal = 1,
  MTLCommandBufferErrorTimeout = 2,
  MTLCommandBufferErrorPageFault = 3,
  MTLCommandBufferErrorBlacklisted = 4,
  MTLCommandBufferErrorAccessRevoked = 4,
  MTLCommandBufferErrorNotPermitted = 7,
  MTLCommandBufferErrorOutOfMemory = 8,
  MTLCommandBufferErrorInvalidResource = 9,
  MTLCommandBufferErrorMemoryless = 10,
  MTLCommandBufferErrorDeviceRemoved = 11,
  MTLCommandBufferErrorStackOverflow = 12,
};

/// Whether dispatches of a compute encoder wait for each other.
typedef NS_ENUM(NSUInteger, MTLDispatchType) {
  MTLDispatchTypeSerial = 0,
  MTLDispatchTypeConcurrent = 1,
};

/// The details in a command buffer's error, besides its sentence.
typedef NS_OPTIONS(NSUInteger, MTLCommandBufferErrorOption) {
  MTLCommandBufferErrorOptionNone = 0,
  MTLCommandBufferErrorOptionEncoderExecutionStatus = 1,
};

/// Domain of the errors of a command buffer.
MTL_EXTERN NSString* const MTLCommandBufferErrorDomain;

/// Options of a new command buffer.
@interface MTLCommandBufferDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Whether the buffer keeps what it uses alive; YES by default. The portable framework always does.
@property(nonatomic, readwrite) BOOL retainedReferences;

/// The details of errors; the sentence of a failed graph always names the op.
@property(nonatomic, readwrite) MTLCommandBufferErrorOption errorOptions;

/// The log of shaders; stored without effect.
@property(nonatomic, readwrite, retain, nullable) id<MTLLogState> logState;

@end

/// Called with its command buffer, on a thread of the queue that only runs handlers.
typedef void (^MTLCommandBufferHandler)(id<MTLCommandBuffer>);

/// Work for a queue; one thread encodes, every thread may wait.
@protocol MTLCommandBuffer <NSObject>

/// The device of the queue.
@property(readonly) id<MTLDevice> device;

/// The queue it will run on.
@property(readonly) id<MTLCommandQueue> commandQueue;

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// The value of the descriptor's retainedReferences.
@property(readonly) BOOL retainedReferences;

/// The descriptor's value.
@property(readonly) MTLCommandBufferErrorOption errorOptions;

/// When the host began and finished scheduling it; 0 before.
@property(readonly) CFTimeInterval kernelStartTime;
@property(readonly) CFTimeInterval kernelEndTime;

/// When the device started on it; 0 before.
@property(readonly) CFTimeInterval GPUStartTime;

/// When the device finished it; 0 before.
@property(readonly) CFTimeInterval GPUEndTime;

/// Its current phase.
@property(readonly) MTLCommandBufferStatus status;

/// The reason of the failure; nil unless the status is Error.
@property(readonly, nullable) NSError* error;

/// Reserves the next turn in the queue: later committed buffers wait until this one is committed.
- (void)enqueue;

/// Commits the work; raises when called twice.
- (void)commit;

/// Adds a block that is called when the work is about to start; only before commit.
- (void)addScheduledHandler:(MTLCommandBufferHandler)block;

/// Blocks until the work is about to start; raises before commit.
- (void)waitUntilScheduled;

/// Adds a block that is called when the work is done or has failed; only before commit.
- (void)addCompletedHandler:(MTLCommandBufferHandler)block;

/// Blocks until the work is done and its completed handlers have returned. Raises before commit, and in an earlier
/// handler of the same queue.
- (void)waitUntilCompleted;

/// Delays the later work of the buffer until the event's value is at least `value`.
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value;

/// Sets the value of `event` once the earlier work of the buffer is done.
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value;

/// An encoder of copies and fills, autoreleased; raises after commit and while another encoder is open.
- (id<MTLBlitCommandEncoder> _Nullable)blitCommandEncoder;

/// Nil: this device has no shaders.
- (id<MTLComputeCommandEncoder> _Nullable)computeCommandEncoder;
- (id<MTLComputeCommandEncoder> _Nullable)computeCommandEncoderWithDispatchType:(MTLDispatchType)dispatchType;

/// Begins a group of commands for debuggers.
- (void)pushDebugGroup:(NSString*)string;

/// Ends the last group; raises if none is open.
- (void)popDebugGroup;

@end

NS_ASSUME_NONNULL_END
