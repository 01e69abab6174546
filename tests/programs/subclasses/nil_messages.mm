// What a message to nil returns: zero of every type.
#include "tensor_data.h"

struct Small {
  int a;
};
struct Pair {
  double a, b;
};
struct Large {
  double values[9];
};
@interface Source : NSObject
- (float)f;
- (double)d;
- (long double)l;
- (Small)small;
- (Pair)pair;
- (Large)large;
- (BOOL)yes;
- (int64_t)sum:(int)a b:(int)b c:(int)c d:(int)d e:(int)e f:(double)f g:(int64_t)g h:(char)h;
@end
@implementation Source
- (float)f {
  return 1.5f;
}
- (double)d {
  return 2.5;
}
- (long double)l {
  return 3.5L;
}
- (Small)small {
  return {5};
}
- (Pair)pair {
  return {6, 7};
}
- (Large)large {
  return {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
}
- (BOOL)yes {
  return YES;
}
- (int64_t)sum:(int)a b:(int)b c:(int)c d:(int)d e:(int)e f:(double)f g:(int64_t)g h:(char)h {
  return a + b + c + d + e + (int64_t)f + g + h;
}
@end

int main() {
  for (int i = 0; i < 2; ++i) {
    @autoreleasepool {
      Source* source = i ? [Source new] : nil;
      CHECK(source.f == (i ? 1.5f : 0) && source.d == (i ? 2.5 : 0) && source.l == (i ? 3.5L : 0));
      CHECK(source.small.a == (i ? 5 : 0) && source.yes == (i == 1));
      CHECK(source.pair.a == (i ? 6 : 0) && source.pair.b == (i ? 7 : 0));
      CHECK(source.large.values[8] == (i ? 9 : 0) && source.large.values[0] == (i ? 1 : 0));
      CHECK([source sum:1 b:2 c:3 d:4 e:5 f:6.5 g:70 h:8] == (i ? 99 : 0));
    }
  }
}
