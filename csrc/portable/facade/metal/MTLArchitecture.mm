// The kind of a device's processor.

#include "facade/metal/metal.h"

using namespace alloy::facade;

namespace alloy::facade {

MTLArchitecture* new_architecture(NSString* name) {
  MTLArchitecture* architecture = [MTLArchitecture new];
  architecture->_impl = [name copy];
  return architecture;
}

}  // namespace alloy::facade

@implementation MTLArchitecture

- (NSString*)name {
  return static_cast<NSString*>(_impl);
}

- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}

- (void)dealloc {
  [static_cast<NSString*>(_impl) release];
  [super dealloc];
}

@end
