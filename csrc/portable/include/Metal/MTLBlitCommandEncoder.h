// Blit encoders: copies and fills of buffers.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLBuffer.h>
#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLFence.h>

NS_ASSUME_NONNULL_BEGIN

/// Encodes copies and fills, which run in the order of the command buffer. Buffers must belong to its device.
@protocol MTLBlitCommandEncoder <MTLCommandEncoder>

/// Makes the device's writes to a managed resource visible to the host; does nothing if memory is shared.
- (void)synchronizeResource:(id<MTLResource>)resource;

/// Sets each byte of the range to `value`; raises for a range outside the buffer.
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value;

/// Copies `size` bytes; raises for ranges outside the buffers and for ranges of one buffer that overlap.
- (void)copyFromBuffer:(id<MTLBuffer>)sourceBuffer
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)destinationBuffer
     destinationOffset:(NSUInteger)destinationOffset
                  size:(NSUInteger)size;

/// Sets the fence when the encoder's commands are done.
- (void)updateFence:(id<MTLFence>)fence;

/// Delays the encoder's commands until the fence is set.
- (void)waitForFence:(id<MTLFence>)fence;

@end

NS_ASSUME_NONNULL_END
