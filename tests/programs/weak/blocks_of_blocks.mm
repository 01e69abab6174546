// A weak reference to a block that other blocks and queues own, and that they release without a message.
#import <Foundation/Foundation.h>
#import <dispatch/dispatch.h>

#include "program.h"

typedef int (^Step)(int);

int main() {
  __weak Step weak;
  @autoreleasepool {
    int factor = 2;
    Step step = ^(int x) {
      return x * factor;
    };
    weak = step;
    Step outer = ^(int x) {
      return step(x) + 1;
    };
    step = nil;
    CHECK(outer(3) == 7);
    NSArray* kept = @[ outer ];
    outer = nil;
    Step again = kept[0];
    CHECK(again(4) == 9 && weak(5) == 10);
  }
  CHECK(!weak);

  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  __weak dispatch_block_t sent;
  @autoreleasepool {
    NSMutableArray* log = [NSMutableArray array];
    dispatch_block_t work = ^{
      [log addObject:@1];
      dispatch_semaphore_signal(done);
    };
    sent = work;
    dispatch_queue_t queue = dispatch_queue_create("one", DISPATCH_QUEUE_SERIAL);
    dispatch_async(queue, work);
    work = nil;
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    dispatch_sync(queue, ^{
      (void)0;
    });
  }
  CHECK(!sent);

  // Recursion through a weak block.
  run_steps(^{
    __block __weak int (^weakFactorial)(int);
    int (^factorial)(int) = ^(int n) {
      int (^next)(int) = weakFactorial;
      return n < 2 ? 1 : n * next(n - 1);
    };
    weakFactorial = factorial;
    CHECK(factorial(6) == 720);
  });
}
