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
  if ((self = [super init])) _isTemporary = [coder decodeBoolForKey:@"temporary"];
  return self;
}

- (void)encodeWithCoder:(NSCoder*)coder {
  [coder encodeBool:_isTemporary forKey:@"temporary"];
}

- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}

- (MPSNDArray*)arrayForCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                     arrayDescriptor:(MPSNDArrayDescriptor*)descriptor
                              kernel:(MPSKernel*)kernel {
  if (_isTemporary) return [MPSTemporaryNDArray temporaryNDArrayWithCommandBuffer:cmdBuf descriptor:descriptor];
  if (!cmdBuf) raise_invalid(@"[arrayForCommandBuffer] The command buffer is nil.");
  return [[[MPSNDArray alloc] initWithDevice:[cmdBuf device] descriptor:descriptor] autorelease];
}

@end
