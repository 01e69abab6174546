// Buffers: untyped bytes of a device, which the host sees if the device's memory is unified.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLResource.h>

NS_ASSUME_NONNULL_BEGIN

/// A run of bytes of fixed length.
@protocol MTLBuffer <MTLResource>

/// Bytes a client may use.
@property(readonly) NSUInteger length;

/// Host address of the first byte, valid while the buffer lives; raises for a private buffer.
- (void*)contents NS_RETURNS_INNER_POINTER;

/// Tells a managed buffer that the host wrote `range`; nothing to do where memory is shared.
- (void)didModifyRange:(NSRange)range;

@end

NS_ASSUME_NONNULL_END
