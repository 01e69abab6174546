// Encoders write commands of one kind into a command buffer.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLDevice;

/// Writes commands until endEncoding; a command buffer has one open encoder at a time.
@protocol MTLCommandEncoder <NSObject>

/// The device of the command buffer.
@property(readonly) id<MTLDevice> device;

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// Ends the encoder; later use of it raises. Must be called before anything else is encoded or committed.
- (void)endEncoding;

/// Marks a place for debuggers.
- (void)insertDebugSignpost:(NSString*)string;

/// Begins a group of commands for debuggers.
- (void)pushDebugGroup:(NSString*)string;

/// Ends the last group; raises if none is open.
- (void)popDebugGroup;

@end

NS_ASSUME_NONNULL_END
