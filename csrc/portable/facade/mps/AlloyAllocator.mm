// The common base of the allocators of arrays and of images.

#include "facade/mps/arrays.h"

using namespace alloy::facade;

@implementation AlloyAllocator

+ (instancetype)newTemporary:(BOOL)temporary {
  AlloyAllocator* allocator = [self new];
  allocator->_isTemporary = temporary;
  return allocator;
}

+ (BOOL)supportsSecureCoding {
  return YES;
}

- (instancetype)initWithCoder:(NSCoder*)coder {
  require_kind(coder, [NSCoder class]);
  if ((self = [super init])) _isTemporary = [coder decodeBoolForKey:@"temporary"];
  return self;
}

- (void)encodeWithCoder:(NSCoder*)coder {
  require_kind(coder, [NSCoder class]);
  [coder encodeBool:_isTemporary forKey:@"temporary"];
}

@end
