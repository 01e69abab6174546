// Values of the constants of shaders. Programs make them, but this device never reads them.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLArgument.h>
#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

/// Accepts values and stores none, because no function could use them.
@interface MTLFunctionConstantValues : NSObject <NSCopying>

/// A value by index.
- (void)setConstantValue:(const void*)value type:(MTLDataType)type atIndex:(NSUInteger)index;

/// Values of one type for a range of indices.
- (void)setConstantValues:(const void*)values type:(MTLDataType)type withRange:(NSRange)range;

/// A value by name.
- (void)setConstantValue:(const void*)value type:(MTLDataType)type withName:(NSString*)name;

/// Removes all values.
- (void)reset;

@end

NS_ASSUME_NONNULL_END
