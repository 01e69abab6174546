// Static initialisers, main and threads of every kind autorelease without a pool: nothing is logged, and what a thread
// left goes with it.

#import <Foundation/Foundation.h>

#include <unistd.h>

#include <atomic>
#include <thread>

#include "program.h"

static std::atomic<int> alive{0};

@interface Counted : NSObject
+ (Counted*)counted;
@end

@implementation Counted

+ (Counted*)counted {
  ++alive;
  Counted* __autoreleasing made = [Counted new];
  return made;
}

- (void)dealloc {
  --alive;
}

+ (void)use:(id)times {
  for (int i = 0; i < [times intValue]; ++i) (void)[Counted counted];
}

@end

static NSString* greeting = [NSString stringWithFormat:@"static %d", 1];

int main() {
  char name[] = "/tmp/without_pools_XXXXXX";
  const int log = mkstemp(name);
  CHECK(log >= 0);
  unlink(name);
  const int screen = dup(2);
  dup2(log, 2);

  (void)[Counted counted];
  CHECK([greeting isEqual:@"static 1"] && alive == 1);
  std::thread([] { [Counted use:@10]; }).join();
  CHECK(alive == 1);
  NSThread* thread = [[NSThread alloc] initWithTarget:[Counted class] selector:@selector(use:) object:@10];
  [thread start];
  while (!thread.isFinished || alive > 1) usleep(1000);
  std::thread([] {
    @autoreleasepool {
      [Counted use:@10];
    }
    CHECK(alive == 1);
    [Counted use:@1];
  }).join();
  CHECK(alive == 1);

  dup2(screen, 2);
  CHECK(lseek(log, 0, SEEK_END) == 0);
}
