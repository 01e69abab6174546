// Values of the constants of shaders, which nobody reads.

#import <Metal/Metal.h>

@implementation MTLFunctionConstantValues

- (void)setConstantValue:(const void*)value type:(MTLDataType)type atIndex:(NSUInteger)index {
}

- (void)setConstantValues:(const void*)values type:(MTLDataType)type withRange:(NSRange)range {
}

- (void)setConstantValue:(const void*)value type:(MTLDataType)type withName:(NSString*)name {
}

- (void)reset {
}

- (id)copyWithZone:(NSZone*)zone {
  return [[[self class] allocWithZone:zone] init];
}

@end
