// Values of shaders' constants; nothing reads them.

#import <Metal/Metal.h>

#include "facade/errors.h"

using namespace alloy::facade;

@implementation MTLFunctionConstantValues

- (void)setConstantValue:(const void*)value type:(MTLDataType)type atIndex:(NSUInteger)index {
}

- (void)setConstantValues:(const void*)values type:(MTLDataType)type withRange:(NSRange)range {
}

- (void)setConstantValue:(const void*)value type:(MTLDataType)type withName:(NSString*)name {
  require_kind(name, [NSString class]);
}

- (void)reset {
}

- (id)copyWithZone:(NSZone*)zone {
  return [[[self class] allocWithZone:zone] init];
}

@end
