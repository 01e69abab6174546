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

/// Seconds, of the clock that also times the device.
typedef double CFTimeInterval;

/// Life of a command buffer; never goes back.
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

/// What the error of a command buffer shall say beside its sentence.
typedef NS_OPTIONS(NSUInteger, MTLCommandBufferErrorOption) {
  MTLCommandBufferErrorOptionNone = 0,
  MTLCommandBufferErrorOptionEncoderExecutionStatus = 1,
};

/// Domain of the errors of a command buffer.
MTL_EXTERN NSString* const MTLCommandBufferErrorDomain;

/// How a command buffer shall be made.
@interface MTLCommandBufferDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Whether the buffer keeps what it uses alive; YES at first. The portable framework always does.
@property(nonatomic, readwrite) BOOL retainedReferences;

/// What an error shall say; the sentence of a failed graph names the op in any case.
@property(nonatomic, readwrite) MTLCommandBufferErrorOption errorOptions;

/// Where shaders would log; kept, and of no effect.
@property(nonatomic, readwrite, retain, nullable) id<MTLLogState> logState;

@end

/// Called with the command buffer it was added to, on a thread of the queue that runs nothing but handlers.
typedef void (^MTLCommandBufferHandler)(id<MTLCommandBuffer>);

/// Work for a queue; one thread encodes, every thread may wait.
@protocol MTLCommandBuffer <NSObject>

/// The device of the queue.
@property(readonly) id<MTLDevice> device;

/// The queue it will run on.
@property(readonly) id<MTLCommandQueue> commandQueue;

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// Whether it was asked to keep what it uses alive.
@property(readonly) BOOL retainedReferences;

/// As its descriptor said.
@property(readonly) MTLCommandBufferErrorOption errorOptions;

/// When the host began and ended to schedule it; 0 before.
@property(readonly) CFTimeInterval kernelStartTime;
@property(readonly) CFTimeInterval kernelEndTime;

/// When the device started on it; 0 before.
@property(readonly) CFTimeInterval GPUStartTime;

/// When the device finished it; 0 before.
@property(readonly) CFTimeInterval GPUEndTime;

/// Where in its life it is.
@property(readonly) MTLCommandBufferStatus status;

/// Why it failed; nil unless the status is Error.
@property(readonly, nullable) NSError* error;

/// Reserves the place in the queue: committed buffers behind it wait until it is committed.
- (void)enqueue;

/// Hands the work over; raises when called twice.
- (void)commit;

/// Adds a block called when the work is about to start; only before commit.
- (void)addScheduledHandler:(MTLCommandBufferHandler)block;

/// Blocks until the work is about to start; raises before commit.
- (void)waitUntilScheduled;

/// Adds a block called when the work is done or has failed; only before commit.
- (void)addCompletedHandler:(MTLCommandBufferHandler)block;

/// Blocks until the work is done and its completed handlers have returned; raises before commit, and in a handler of
/// the same queue that is called before them.
- (void)waitUntilCompleted;

/// Holds the later work of the buffer until the value of `event` has reached `value`.
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value;

/// Sets the value of `event` once the earlier work of the buffer is done.
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value;

/// An encoder of copies and fills, autoreleased; raises after commit and while another encoder is open.
- (id<MTLBlitCommandEncoder> _Nullable)blitCommandEncoder;

/// Nil: shaders do not exist on this device.
- (id<MTLComputeCommandEncoder> _Nullable)computeCommandEncoder;
- (id<MTLComputeCommandEncoder> _Nullable)computeCommandEncoderWithDispatchType:(MTLDispatchType)dispatchType;

/// Begins a group of commands for debuggers.
- (void)pushDebugGroup:(NSString*)string;

/// Ends the group begun last; raises where none is open.
- (void)popDebugGroup;

@end

NS_ASSUME_NONNULL_END
