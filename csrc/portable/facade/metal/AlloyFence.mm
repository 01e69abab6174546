// Fences. A queue runs its encoders in order, so a fence need not delay anything.

#include "facade/metal/require.h"

using namespace alloy::facade;

@interface AlloyFence : NSObject <MTLFence> {
 @package
  id<MTLDevice> _device;
  NSString* _label;
}
@end

namespace alloy::facade {

id<MTLFence> new_fence(id<MTLDevice> device) {
  AlloyFence* fence = [AlloyFence new];
  fence->_device = [device retain];
  return fence;
}

void require_fence(id<MTLFence> fence) { require<AlloyFence>(fence, [AlloyFence class], @"MTLFence"); }

}  // namespace alloy::facade

@implementation AlloyFence

LABEL(_label)
@synthesize device = _device;

- (void)dealloc {
  [_device release];
  [_label release];
  [super dealloc];
}

@end
