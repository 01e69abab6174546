// Preloaded, hides that the portable framework answers the engine's questions beyond Apple's API (engine/device.h):
// what runs with it meets a device as silent as a Mac's.
#import <Foundation/Foundation.h>
#import <objc/runtime.h>

#include <cstring>

#pragma clang diagnostic ignored "-Wobjc-protocol-method-implementation"  // in place of NSObject's own

@implementation NSObject (AlloyMute)
- (BOOL)respondsToSelector:(SEL)selector {
  return selector != nullptr && std::strncmp(sel_getName(selector), "alloy", 5) != 0 &&
         class_respondsToSelector(object_getClass(self), selector);
}
@end
