// A library to preload, which hides the selectors that the portable framework has beyond Apple's API (engine/device.h).
// A program that runs with it gets the same answers as on a Mac.
#import <Foundation/Foundation.h>
#import <objc/runtime.h>

#include <cstring>

#pragma clang diagnostic ignored "-Wobjc-protocol-method-implementation"  // the methods replace NSObject's own

@implementation NSObject (AlloyMute)
- (BOOL)respondsToSelector:(SEL)selector {
  return selector != nullptr && std::strncmp(sel_getName(selector), "alloy", 5) != 0 &&
         class_respondsToSelector(object_getClass(self), selector);
}
@end
