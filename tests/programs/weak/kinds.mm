// Weak references to blocks, proxies, objects of class clusters; in structures, arrays, C++ containers, blocks.
#import <Foundation/Foundation.h>

#include <vector>

#include "program.h"

@interface Forwarder : NSProxy
- (instancetype)initWithTarget:(id)target;
@end

@implementation Forwarder {
  id _target;
}
- (instancetype)initWithTarget:(id)target {
  _target = target;
  return self;
}
- (NSMethodSignature*)methodSignatureForSelector:(SEL)selector {
  return [_target methodSignatureForSelector:selector];
}
- (void)forwardInvocation:(NSInvocation*)invocation {
  [invocation invokeWithTarget:_target];
}
@end

struct Pair {
  __weak id first, second;
};

@interface Node : NSObject
@property(nonatomic, weak) Node* parent;
@property(nonatomic, strong) NSMutableArray<Node*>* children;
@property(atomic, weak) id observer;
@end
@implementation Node
@end

int main() {
  __weak id block, proxy, array, string, number, data;
  Pair pairs[4];
  std::vector<Pair> vector(3);
  @autoreleasepool {
    int n = 3;
    id made[] = {[^{
                   return n;
                 } copy],
                 [[Forwarder alloc] initWithTarget:@"text"],
                 [NSMutableArray arrayWithObject:@1],
                 [NSString stringWithFormat:@"a string that is long enough %d", n],
                 [NSNumber numberWithDouble:1e300],
                 [NSMutableData dataWithLength:1000]};
    block = made[0], proxy = made[1], array = made[2], string = made[3], number = made[4], data = made[5];
    CHECK(((int (^)(void))block)() == 3);
    CHECK([proxy length] == 4);
    CHECK(array && string && number && data);
    for (int i = 0; i < 4; ++i) pairs[i].first = made[i], pairs[i].second = made[5 - i];
    for (Pair& pair : vector) pair = pairs[2];
    vector.reserve(100);  // moves them
    Pair copy = vector[1];
    CHECK(copy.first == made[2] && vector[2].second == made[3]);
  }
  CHECK(!block && !proxy && !array && !string && !data);
  for (Pair& pair : pairs) CHECK(!pair.first);
  for (Pair& pair : vector) CHECK(!pair.first && !pair.second);

  Node* child = [Node new];
  @autoreleasepool {
    Node* parent = [Node new];
    parent.children = [NSMutableArray arrayWithObject:child];
    [child setValue:parent forKey:@"parent"];
    child.observer = parent;
    CHECK([child valueForKey:@"parent"] == parent && child.observer == parent);
    __weak Node* weak = parent;
    BOOL (^there)(void) = ^{
      return (BOOL)(weak != nil);
    };
    CHECK(there());
    parent = nil;
  }
  CHECK(!child.parent && !child.observer && ![child valueForKey:@"parent"]);
}
