// Pools in loops, and what they own.
#include "tensor_data.h"

static int alive;
@interface Counted : NSObject
@end
@implementation Counted
- (id)init {
  self = [super init];
  ++alive;
  return self;
}
- (void)dealloc {
  --alive;
  [super dealloc];
}
@end

int main(void) {
  NSAutoreleasePool* pool = [[NSAutoreleasePool alloc] init];
  Counted* kept = [[[Counted alloc] init] autorelease];
  for (int i = 0; i < 10; ++i) {
    NSAutoreleasePool* inner = [[NSAutoreleasePool alloc] init];
    for (int k = 0; k < 5; ++k) [[[Counted alloc] init] autorelease];
    CHECK(alive == 6);
    [inner drain];
    CHECK(alive == 1);
  }
  @autoreleasepool {
    [[kept retain] autorelease];
  }
  CHECK(alive == 1);
  [pool drain];
  CHECK(alive == 0);
  return 0;
}
