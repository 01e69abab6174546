// Buffers: untyped bytes of a device, which the host can read if memory is unified.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLResource.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLTexture;
@class MTLTextureDescriptor;

/// A range of bytes of fixed length.
@protocol MTLBuffer <MTLResource>

/// Bytes a client may use.
@property(readonly) NSUInteger length;

/// Host address of the first byte, valid while the buffer lives; raises for a private buffer.
- (void*)contents NS_RETURNS_INNER_POINTER;

/// Tells a managed buffer that the host wrote `range`; does nothing if memory is shared.
- (void)didModifyRange:(NSRange)range;

/// The device's address of the first byte; buffers whose ranges overlap share memory.
@property(readonly) uint64_t gpuAddress;

/// Names a range for debuggers; raises for a range outside the buffer.
- (void)addDebugMarker:(NSString*)marker range:(NSRange)range;

/// Removes those names.
- (void)removeAllDebugMarkers;

/// Nil: there are no textures.
- (id<MTLTexture> _Nullable)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor
                                              offset:(NSUInteger)offset
                                         bytesPerRow:(NSUInteger)bytesPerRow;

/// Nil: no device can read another's memory.
- (id<MTLBuffer> _Nullable)newRemoteBufferViewForDevice:(id<MTLDevice>)device;

/// The buffer of another device that this one mirrors; always nil.
@property(readonly) id<MTLBuffer> remoteStorageBuffer;

@end

NS_ASSUME_NONNULL_END
