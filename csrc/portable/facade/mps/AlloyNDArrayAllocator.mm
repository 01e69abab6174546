// Who makes the arrays that kernels write to.

#include "facade/mps/arrays.h"

using namespace alloy::facade;

@interface AlloyNDArrayAllocator : NSObject <MPSNDArrayAllocator> {
 @package
  BOOL _isTemporary;
}
@end

namespace alloy::facade {

id<MPSNDArrayAllocator> new_array_allocator(BOOL temporary) {
  AlloyNDArrayAllocator* allocator = [AlloyNDArrayAllocator new];
  allocator->_isTemporary = temporary;
  return allocator;
}

}  // namespace alloy::facade

@implementation AlloyNDArrayAllocator

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

- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}

- (MPSNDArray*)arrayForCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                     arrayDescriptor:(MPSNDArrayDescriptor*)descriptor
                              kernel:(MPSKernel*)kernel {
  require_kind(kernel, [MPSKernel class]);
  if (_isTemporary) return [MPSTemporaryNDArray temporaryNDArrayWithCommandBuffer:cmdBuf descriptor:descriptor];
  return [[[MPSNDArray alloc] initWithDevice:owner_of(cmdBuf) descriptor:descriptor] autorelease];
}

@end
