// +load before everything, superclasses and classes before their subclasses and categories; +initialize at the first
// message.
#include "tensor_data.h"

static int order[8], count;
static void note(int step) { order[count++] = step; }

struct First {
  First() { note(10); }
};
static First first;

@interface Base : NSObject
@end
@interface Derived : Base
@end
@interface Base (Extra)
@end

@implementation Derived
+ (void)load {
  note(2);
}
+ (void)initialize {
  note(21);
}
@end
@implementation Base
+ (void)load {
  note(1);
}
+ (void)initialize {
  note(self == [Base class] ? 20 : 99);
}
@end
@implementation Base (Extra)
+ (void)load {
  note(3);
}
@end

int main() {
  CHECK(count == 4);
  CHECK(order[0] == 1 && order[1] + order[2] == 5 && order[3] == 10);
  @autoreleasepool {
    CHECK([Derived new] && [Base new]);
    CHECK(count == 6 && order[4] == 20 && order[5] == 21);
  }
}
