// Values of the constants of shaders, which programs make and this device never reads.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLArgument.h>
#import <Metal/MTLDefines.h>

NS_ASSUME_NONNULL_BEGIN

/// Takes values and keeps none: there is no function that could be made with them.
@interface MTLFunctionConstantValues : NSObject <NSCopying>

/// A value by index.
- (void)setConstantValue:(const void*)value type:(MTLDataType)type atIndex:(NSUInteger)index;

/// Values of one type, one an index.
- (void)setConstantValues:(const void*)values type:(MTLDataType)type withRange:(NSRange)range;

/// A value by name.
- (void)setConstantValue:(const void*)value type:(MTLDataType)type withName:(NSString*)name;

/// Forgets all values.
- (void)reset;

@end

NS_ASSUME_NONNULL_END
