// Messages sent by the names of the runtime's functions, through casts: arguments in every kind of register and on the
// stack, results of every kind, nil, superclasses, exceptions of +initialize.

#import <Foundation/Foundation.h>
#import <objc/message.h>
#import <objc/runtime.h>

#include "program.h"

typedef struct {
  double a, b, c, d;
} Box;

@interface Base : NSObject
@end

@implementation Base

- (int)plus:(int)x {
  return x + 1;
}

- (Box)boxOf:(double)d {
  return Box{1, 2, 3, d};
}

@end

@interface Derived : Base
@end

@implementation Derived

- (int)plus:(int)x {
  struct objc_super to = {self, class_getSuperclass([Derived class])};
  return reinterpret_cast<int (*)(struct objc_super*, SEL, int)>(objc_msgSendSuper)(&to, _cmd, x) + 10;
}

- (double)a:(int)a
          b:(double)b
          c:(long)c
          d:(float)d
          e:(double)e
          f:(double)f
          g:(double)g
          h:(double)h
          i:(double)i
          j:(double)j
          k:(double)k
          l:(char)l
          m:(int)m
          n:(int)n {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l + 13 * m + 14 * n;
}

@end

@interface Refusing : NSObject
@end

@implementation Refusing

+ (void)initialize {
  [NSException raise:@"Refused" format:@"no"];
}

@end

int main() {
  @autoreleasepool {
    Derived* object = [Derived new];
    const auto plus = reinterpret_cast<int (*)(id, SEL, int)>(objc_msgSend);
    CHECK(plus(object, @selector(plus:), 4) == 15);
    CHECK(plus(nil, @selector(plus:), 4) == 0);

    using Many = double (*)(id, SEL, int, double, long, float, double, double, double, double, double, double, double,
                            char, int, int);
    const SEL many = @selector(a:b:c:d:e:f:g:h:i:j:k:l:m:n:);
    const auto send_many = reinterpret_cast<Many>(objc_msgSend);
    CHECK(send_many(object, many, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14) == 1015);
    CHECK(send_many(nil, many, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14) == 0);

    const auto format = reinterpret_cast<id (*)(id, SEL, NSString*, ...)>(objc_msgSend);
    CHECK([format([NSString class], @selector(stringWithFormat:), @"%d %.1f", 3, 2.5) isEqual:@"3 2.5"]);

#ifdef __x86_64__
    const auto box = reinterpret_cast<Box (*)(id, SEL, double)>(objc_msgSend_stret);
    const auto super_box = reinterpret_cast<Box (*)(struct objc_super*, SEL, double)>(objc_msgSendSuper_stret);
#else
    const auto box = reinterpret_cast<Box (*)(id, SEL, double)>(objc_msgSend);
    const auto super_box = reinterpret_cast<Box (*)(struct objc_super*, SEL, double)>(objc_msgSendSuper);
#endif
    struct objc_super to = {object, [Base class]};
    CHECK(box(object, @selector(boxOf:), 4).d == 4 && super_box(&to, @selector(boxOf:), 5).d == 5);

    int caught = 0;
    @try {
      reinterpret_cast<id (*)(id, SEL)>(objc_msgSend)(objc_getClass("Refusing"), @selector(new));
    } @catch (NSException* exception) {
      caught += [exception.name isEqual:@"Refused"];
    }
    CHECK(caught == 1);
  }
}
