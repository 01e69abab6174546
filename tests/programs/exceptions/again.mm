// Exceptions that are thrown again, from handlers in handlers, and those that leave handlers.
#import <Foundation/Foundation.h>

#include "program.h"

static int deallocs;
@interface Failure : NSException
@end
@implementation Failure
- (void)dealloc {
  ++deallocs;
}
@end

static void fail(NSString* reason) { @throw [[Failure alloc] initWithName:@"Failure" reason:reason userInfo:nil]; }

int main() {
  @autoreleasepool {
    NSMutableString* log = [NSMutableString string];
    @try {
      @try {
        fail(@"first");
      } @catch (NSException* e) {
        @try {
          @throw;
        } @catch (Failure* same) {
          CHECK(same == e);
          [log appendString:@"a"];
        }
        [log appendString:@"b"];
        @throw;
      } @finally {
        [log appendString:@"c"];
      }
    } @catch (Failure* e) {
      CHECK([e.reason isEqual:@"first"]);
      [log appendString:@"d"];
    }
    CHECK([log isEqual:@"abcd"]);

    @try {
      @try {
        fail(@"second");
      } @catch (NSException* e) {
        @try {
          fail(@"third");
        } @catch (NSException* inner) {
          CHECK([inner.reason isEqual:@"third"] && [e.reason isEqual:@"second"]);
        }
        fail(@"fourth");
      }
    } @catch (NSException* e) {
      CHECK([e.reason isEqual:@"fourth"]);
    }

    for (int i = 0; i < 5; ++i) {  // leaves handlers by continue, break
      @try {
        fail(@"fifth");
      } @catch (Failure* e) {
        if (i < 3) continue;
        break;
      } @finally {
        [log appendString:@"e"];
      }
    }
    CHECK([log isEqual:@"abcdeeee"]);
    // A C++ handler around one of Objective-C that throws C++.
    try {
      @try {
        fail(@"sixth");
      } @catch (NSException* e) {
        throw (int)e.reason.length;
      }
    } catch (int length) {
      CHECK(length == 5);
    }
    try {
      try {
        throw 1;
      } catch (int) {
        fail(@"seventh");
      }
    } catch (Failure* e) {
      CHECK([e.reason isEqual:@"seventh"]);
    }
  }
  CHECK(deallocs == 3 + 1 + 4 + 1 + 1 - 0);
  run_steps(^{
    @try {
      fail(@"step");
    } @catch (Failure* e) {
      CHECK(e.reason.length == 4);
    }
  });
}
