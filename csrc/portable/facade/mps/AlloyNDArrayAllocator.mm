// Allocators of the arrays that kernels write to.

#include "facade/mps/arrays.h"

using namespace alloy::facade;

@interface AlloyNDArrayAllocator : AlloyAllocator <MPSNDArrayAllocator>
@end

namespace alloy::facade {

id<MPSNDArrayAllocator> new_array_allocator(BOOL temporary) { return [AlloyNDArrayAllocator newTemporary:temporary]; }

}  // namespace alloy::facade

@implementation AlloyNDArrayAllocator

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
