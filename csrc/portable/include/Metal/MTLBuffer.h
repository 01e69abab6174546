// Buffers: untyped bytes of a device, which the host sees if the device's memory is unified.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLResource.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLTexture;
@class MTLTextureDescriptor;

/// A run of bytes of fixed length.
@protocol MTLBuffer <MTLResource>

/// Bytes a client may use.
@property(readonly) NSUInteger length;

/// Host address of the first byte, valid while the buffer lives; raises for a private buffer.
- (void*)contents NS_RETURNS_INNER_POINTER;

/// Tells a managed buffer that the host wrote `range`; nothing to do where memory is shared.
- (void)didModifyRange:(NSRange)range;

/// Where the first byte is among the device's addresses; buffers that overlap there share memory.
@property(readonly) uint64_t gpuAddress;

/// Names a range for debuggers; raises for one that is not inside.
- (void)addDebugMarker:(NSString*)marker range:(NSRange)range;

/// Forgets those names.
- (void)removeAllDebugMarkers;

/// Nil: there are no textures.
- (id<MTLTexture> _Nullable)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor
                                              offset:(NSUInteger)offset
                                         bytesPerRow:(NSUInteger)bytesPerRow;

/// Nil: no device sees another one's memory.
- (id<MTLBuffer> _Nullable)newRemoteBufferViewForDevice:(id<MTLDevice>)device;

/// The buffer of another device that this is a view of; always nil.
@property(readonly) id<MTLBuffer> remoteStorageBuffer;

@end

NS_ASSUME_NONNULL_END
