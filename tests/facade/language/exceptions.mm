// How Objective-C and C++ exceptions meet: what the engine and its callers rely on.

#import <Foundation/Foundation.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "check.h"
#include "exceptions_cxx.h"

struct CountedDestruction {
  int* count;
  ~CountedDestruction() { ++*count; }
};

static void raise_objc(NSString* reason) {
  [[NSException exceptionWithName:NSInvalidArgumentException reason:reason userInfo:nil] raise];
}

// True when another thread can enter @synchronized on the object.
static bool is_unlocked(id object) {
  std::atomic<bool> entered{false};
  std::thread thread([&] {
    @autoreleasepool {
      @synchronized(object) {
        entered = true;
      }
    }
  });
  for (int i = 0; i < 200 && !entered; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const bool result = entered;
  if (result) {
    thread.join();
  } else {
    thread.detach();
  }
  return result;
}

TEST(an_nsexception_becomes_a_cxx_exception) {
  const std::string message = message_of_cxx_exception([] {
    std::string reason;
    @autoreleasepool {
      @try {
        raise_objc(@"shapes differ");
      } @catch (NSException* exception) {
        reason = [[exception reason] UTF8String];
      }
    }
    if (!reason.empty()) throw_cxx_exception(reason);
  });
  CHECK(message == "shapes differ");
}

TEST(a_cxx_exception_passes_objc_frames) {
  int destroyed = 0;
  NSObject* lock = [NSObject new];
  const std::string in_pool = message_of_cxx_exception([&] {
    CountedDestruction outer{&destroyed};
    @autoreleasepool {
      CountedDestruction inner{&destroyed};
      [[[NSObject alloc] init] autorelease];
      throw_cxx_exception("in a pool");
    }
  });
  CHECK(in_pool == "in a pool");
  CHECK(destroyed == 2);

  destroyed = 0;
  const std::string in_block = message_of_cxx_exception([&] {
    int* count = &destroyed;
    void (^block)(void) = ^{
      CountedDestruction local{count};
      throw_cxx_exception("in a block");
    };
    block();
  });
  CHECK(in_block == "in a block");
  CHECK(destroyed == 1);

  destroyed = 0;
  const std::string in_lock = message_of_cxx_exception([&] {
    @synchronized(lock) {
      CountedDestruction local{&destroyed};
      throw_cxx_exception("in a lock");
    }
  });
  CHECK(in_lock == "in a lock");
  CHECK(destroyed == 1);
  CHECK(is_unlocked(lock));
  [lock release];
}

TEST(an_nsexception_passes_cxx_frames) {
  int destroyed = 0;
  bool caught = false;
  @try {
    call_through_cxx([] { raise_objc(@"from below"); }, &destroyed);
  } @catch (NSException* exception) {
    caught = [[exception reason] isEqualToString:@"from below"];
  }
  CHECK(caught);
  CHECK(destroyed == 1);
}

TEST(an_nsexception_runs_destructors_and_finally) {
  int destroyed = 0;
  bool finally = false;
  NSObject* lock = [NSObject new];
  @try {
    @try {
      @synchronized(lock) {
        CountedDestruction local{&destroyed};
        raise_objc(@"in a lock");
      }
    } @finally {
      finally = true;
    }
  } @catch (NSException* exception) {
    CHECK([[exception name] isEqualToString:NSInvalidArgumentException]);
  }
  CHECK(destroyed == 1);
  CHECK(finally);
  CHECK(is_unlocked(lock));
  [lock release];
}

TEST(an_nsexception_leaves_a_block_and_a_lambda) {
  bool caught = false;
  void (^block)(void) = ^{
    [] { raise_objc(@"deep"); }();
  };
  @try {
    block();
  } @catch (NSException* exception) {
    caught = [[exception reason] isEqualToString:@"deep"];
  }
  CHECK(caught);
}

#ifndef __APPLE__
// On a Mac the framework aborts instead.
TEST(the_facade_raises_through_cxx_frames) {
  int destroyed = 0;
  NSString* reason = nil;
  @try {
    call_through_cxx([] { [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeInvalid shape:[NSArray array]]; },
                     &destroyed);
  } @catch (NSException* exception) {
    reason = [exception reason];
  }
  CHECK([reason length] > 0);
  CHECK(destroyed == 1);
}

// A dispatched block that raises has had its turn.
TEST(a_block_that_raises_leaves_its_queue_usable) {
  dispatch_queue_t queue = dispatch_queue_create("raises", DISPATCH_QUEUE_SERIAL);
  __block int later = 0;
  bool caught = false;
  @try {
    dispatch_sync(queue, ^{
      raise_objc(@"in a queue");
    });
  } @catch (NSException* exception) {
    caught = [[exception reason] isEqualToString:@"in a queue"];
  }
  CHECK(caught);
  dispatch_async(queue, ^{
    ++later;
  });
  dispatch_sync(queue, ^{
    ++later;
  });
  CHECK(later == 2);
  dispatch_release(queue);
}
#endif

TEST(exceptions_stay_on_their_thread) {
  std::atomic<int> caught{0};
  std::thread threads[4];
  for (auto& thread : threads) {
    thread = std::thread([&] {
      for (int i = 0; i < 200; ++i) {
        @autoreleasepool {
          NSString* reason = [NSString stringWithFormat:@"number %d", i];
          @try {
            raise_objc(reason);
          } @catch (NSException* exception) {
            caught += [[exception reason] isEqualToString:reason];
          }
          caught += message_of_cxx_exception([&] { throw_cxx_exception([reason UTF8String]); }) == [reason UTF8String];
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(caught == 4 * 200 * 2);
}

int main(int count, char** arguments) { return check::run(count, arguments); }
