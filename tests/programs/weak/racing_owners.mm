// Eight threads own the same object, refer to it weakly and let go, each trying to be the last.
#import <Foundation/Foundation.h>
#import <dispatch/dispatch.h>

#include <atomic>

#include "program.h"

enum { kThreads = 8, kRounds = 2000, kMark = 0xfeed };

static std::atomic<int> alive;

@interface Layer : NSObject {
 @public
  int _mark;
}
@end

@implementation Layer
- (instancetype)init {
  if ((self = [super init])) {
    _mark = kMark;
    ++alive;
  }
  return self;
}
- (void)dealloc {
  _mark = 0;
  --alive;
}
@end

int main() {
  static std::atomic<int> arrived;
  static const void* owned[kThreads];
  dispatch_queue_t queue = dispatch_queue_create("owners", DISPATCH_QUEUE_CONCURRENT);
  dispatch_semaphore_t ended = dispatch_semaphore_create(0);
  static __weak Layer* outside;
  static __weak Layer* inside[kThreads];
  for (int round = 0; round < kRounds; ++round) {
    @autoreleasepool {
      Layer* layer = [Layer new];
      if (round % 2) outside = layer;
      for (int i = 0; i < kThreads; ++i) owned[i] = CFBridgingRetain(layer);
    }
    arrived = 0;
    for (int i = 0; i < kThreads; ++i) {
      dispatch_async(queue, ^{
        @autoreleasepool {
          ++arrived;
          for (int spins = 0; arrived < kThreads && spins < 10000; ++spins) continue;
          Layer* mine = CFBridgingRelease(owned[i]);
          CHECK(mine->_mark == kMark);
          inside[i] = mine;
          mine = nil;
          if (Layer* again = inside[(i + 1) % kThreads]) CHECK(again->_mark == kMark);
        }
        dispatch_semaphore_signal(ended);
      });
    }
    for (int i = 0; i < kThreads; ++i) dispatch_semaphore_wait(ended, DISPATCH_TIME_FOREVER);
    CHECK(alive == 0 && !outside);
    for (int i = 0; i < kThreads; ++i) CHECK(!inside[i]);
  }
}
