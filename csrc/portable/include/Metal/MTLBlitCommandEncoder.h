// Blit encoders: copies and fills of buffers.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLBuffer.h>
#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLFence.h>

NS_ASSUME_NONNULL_BEGIN

/// Writes copies and fills; each runs in its place of the command buffer. Buffers must be of its device.
@protocol MTLBlitCommandEncoder <MTLCommandEncoder>

/// Makes what the device wrote to a managed resource visible to the host; nothing to do where memory is shared.
- (void)synchronizeResource:(id<MTLResource>)resource;

/// Gives each byte of the range that value; raises for a range that is not inside the buffer.
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value;

/// Copies `size` bytes; raises for ranges that are not inside the buffers and for ranges of one buffer that overlap.
- (void)copyFromBuffer:(id<MTLBuffer>)sourceBuffer
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)destinationBuffer
     destinationOffset:(NSUInteger)destinationOffset
                  size:(NSUInteger)size;

/// Sets the fence when the encoder's commands are done.
- (void)updateFence:(id<MTLFence>)fence;

/// Holds the encoder's commands until the fence is set.
- (void)waitForFence:(id<MTLFence>)fence;

@end

NS_ASSUME_NONNULL_END
