// The pool that owns an exception goes while the exception is in flight.
#import <Foundation/Foundation.h>

#include "program.h"

static void fail_in_pool(void) {
  @autoreleasepool {
    [NSException raise:@"InPool" format:@"number %d of many", 17];
  }
}

int main(void) {
  for (int i = 0; i < 100; ++i) {
    NSString* reason = nil;
    @try {
      @autoreleasepool {
        @try {
          fail_in_pool();
        } @finally {
          @autoreleasepool {
            for (int k = 0; k < 100; ++k) (void)[NSMutableData dataWithLength:64];
          }
        }
      }
    } @catch (NSException* e) {
      CHECK([e.name isEqual:@"InPool"]);
      reason = e.reason;
    }
    CHECK([reason isEqual:@"number 17 of many"]);
  }
  run_steps(^{
    @try {
      fail_in_pool();
    } @catch (NSException* e) {
      CHECK(e.reason.length == 17);
    }
  });
}
