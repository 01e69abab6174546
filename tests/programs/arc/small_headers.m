// Darwin's small headers and words: clocks, locks, dispatch_apply, availability, nullability, in plain Objective-C.
#include "tensor_data.h"

#import <CoreFoundation/CoreFoundation.h>
#include <TargetConditionals.h>
#include <dispatch/dispatch.h>
#include <mach/mach_time.h>
#include <os/lock.h>
#include <unistd.h>

#if !TARGET_OS_MAC && !defined(__linux__)
#error "Neither"
#endif

typedef NS_ENUM(NSInteger, Phase) { PhaseIdle, PhaseBusy = 4 };

static os_unfair_lock lock = OS_UNFAIR_LOCK_INIT;

static NSString* __nullable described(NSNumber* __nonnull number, NSString* _Nullable unit) {
  return unit ? [NSString stringWithFormat:@"%@ %@", number, unit] : nil;
}

static float work(size_t i) {
  MPSGraph* graph = [MPSGraph new];
  MPSGraphTensor* root = [graph squareRootWithTensor:[graph constantWithScalar:(double)(i * i)
                                                                         shape:@[ @1 ]
                                                                      dataType:MPSDataTypeFloat32]
                                                name:nil];
  return float_of([graph runWithFeeds:@{} targetTensors:@[ root ] targetOperations:nil][root]);
}

int main(void) {
  @autoreleasepool {
    mach_timebase_info_data_t base;
    CHECK(mach_timebase_info(&base) == KERN_SUCCESS);
    const uint64_t start = mach_absolute_time();
    const CFAbsoluteTime time = CFAbsoluteTimeGetCurrent();
    CHECK(time > 700000000);
    __block float sum = 0;
    dispatch_apply(16, dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_DEFAULT, 0), ^(size_t i) {
      @autoreleasepool {
        const float root = work(i);
        os_unfair_lock_lock(&lock);
        sum += root;
        os_unfair_lock_unlock(&lock);
      }
    });
    CHECK_NEAR(sum, 120);
    CHECK(os_unfair_lock_trylock(&lock));
    os_unfair_lock_unlock(&lock);
    const uint64_t nanoseconds = (mach_absolute_time() - start) * base.numer / base.denom;
    CHECK(nanoseconds > 1000 && nanoseconds < 60 * NSEC_PER_SEC);
    CHECK(PAGE_SIZE % 4096 == 0);
    Phase phase = PhaseBusy;
    if (@available(macOS 13.0, iOS 16.0, *)) phase = PhaseIdle;
    CHECK(phase == PhaseIdle);
    CHECK([described(@3, @"ms") isEqual:@"3 ms"] && !described(@3, nil));
  }
  return 0;
}
