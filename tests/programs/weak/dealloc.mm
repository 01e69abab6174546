// Weak references are nil while their object is deallocated, and those it holds are forgotten with it.
#import <Foundation/Foundation.h>

#include "program.h"

static __weak id watched;
static int deallocs;

@interface Parent : NSObject
@property(nonatomic, strong) id child;
@end
@interface Child : NSObject
@property(nonatomic, weak) Parent* parent;
@end

@implementation Child
- (void)dealloc {
  CHECK(!self.parent);
  ++deallocs;
}
@end
@implementation Parent
- (void)dealloc {
  CHECK(!watched);
  CHECK(![self.child parent]);
  ++deallocs;
}
@end

int main() {
  for (int i = 0; i < 3; ++i) {
    @autoreleasepool {
      Parent* parent = [Parent new];
      Child* child = [Child new];
      parent.child = child;
      child.parent = parent;
      watched = parent;
      CHECK(watched == parent);
    }
    CHECK(!watched);
  }
  CHECK(deallocs == 6);
  run_steps(^{
    Parent* parent = [Parent new];
    __weak Parent *a = parent, *b = a;
    b = parent;
    a = nil;
    CHECK(!a && b == parent);
  });
}
