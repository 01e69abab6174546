// Dispatch: once, semaphores, serial and concurrent queues, apply, data.

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#import <dispatch/dispatch.h>
#ifdef __APPLE__  // of macOS's Foundation, but not of its kin's
#include <mach/mach.h>
#endif
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "check.h"

TEST(once_runs_once) {
  static dispatch_once_t once;
  static std::atomic<int> runs{0};
  static std::atomic<int> saw_it_done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] {
      dispatch_once(&once, ^{
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++runs;
      });
      if (runs == 1) ++saw_it_done;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(runs == 1);
  CHECK(saw_it_done == 8);
}

TEST(serial_queues_keep_the_order) {
  dispatch_queue_t queue = dispatch_queue_create("test", DISPATCH_QUEUE_SERIAL);
  NSMutableArray* order = [NSMutableArray array];
  for (int i = 0; i < 100; ++i) {
    dispatch_async(queue, ^{
      [order addObject:[NSNumber numberWithInt:i]];
    });
  }
  __block NSUInteger seen = 0;
  dispatch_sync(queue, ^{
    seen = [order count];
  });
  CHECK(seen == 100);
  bool sorted = true;
  for (NSUInteger i = 0; i < seen; ++i) sorted = sorted && [[order objectAtIndex:i] unsignedIntegerValue] == i;
  CHECK(sorted);
  dispatch_release(queue);
}

TEST(sync_on_an_idle_queue_stays_on_the_thread) {
  dispatch_queue_t queue = dispatch_queue_create("test", DISPATCH_QUEUE_SERIAL);
  const std::thread::id caller = std::this_thread::get_id();
  __block bool same = false;
  dispatch_sync(queue, ^{
    same = std::this_thread::get_id() == caller;
  });
  CHECK(same);
  dispatch_release(queue);
}

TEST(a_released_queue_finishes_its_work) {
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  dispatch_queue_t queue = dispatch_queue_create(nullptr, DISPATCH_QUEUE_SERIAL);
  for (int i = 0; i < 3; ++i) {
    dispatch_async(queue, ^{
      dispatch_semaphore_signal(done);
    });
  }
  dispatch_release(queue);
  for (int i = 0; i < 3; ++i) {
    CHECK(dispatch_semaphore_wait(done, dispatch_time(DISPATCH_TIME_NOW, 10 * (int64_t)NSEC_PER_SEC)) == 0);
  }
  dispatch_release(done);
}

TEST(global_queues_run_side_by_side) {
  dispatch_queue_t queue = dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0);
  dispatch_semaphore_t a = dispatch_semaphore_create(0);
  dispatch_semaphore_t b = dispatch_semaphore_create(0);
  const dispatch_time_t limit = dispatch_time(DISPATCH_TIME_NOW, 10 * (int64_t)NSEC_PER_SEC);
  __block long first = 1;
  dispatch_async(queue, ^{
    first = dispatch_semaphore_wait(a, limit);
    dispatch_semaphore_signal(b);
  });
  dispatch_async(queue, ^{
    dispatch_semaphore_signal(a);
  });
  CHECK(dispatch_semaphore_wait(b, limit) == 0);
  CHECK(first == 0);
  dispatch_release(a);
  dispatch_release(b);
}

TEST(semaphores_count_and_time_out) {
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(2);
  CHECK(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW) == 0);
  CHECK(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW) == 0);
  CHECK(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW) != 0);
  const auto start = std::chrono::steady_clock::now();
  CHECK(dispatch_semaphore_wait(semaphore, dispatch_time(DISPATCH_TIME_NOW, 30 * (int64_t)NSEC_PER_MSEC)) != 0);
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(29));
  CHECK(dispatch_semaphore_signal(semaphore) == 0);
  dispatch_semaphore_signal(semaphore);
  CHECK(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_FOREVER) == 0);
  CHECK(dispatch_semaphore_wait(semaphore, DISPATCH_TIME_FOREVER) == 0);
  dispatch_release(semaphore);
}

TEST(data_copies_or_adopts) {
  int numbers[3] = {1, 2, 3};
  dispatch_data_t copy = dispatch_data_create(numbers, sizeof numbers, nullptr, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  numbers[0] = 100;
  const void* bytes = nullptr;
  size_t size = 0;
  dispatch_data_t map = dispatch_data_create_map(copy, &bytes, &size);
  dispatch_release(copy);
  const int expected[3] = {1, 2, 3};
  CHECK(size == sizeof expected && std::memcmp(bytes, expected, size) == 0);
  CHECK(dispatch_data_get_size(map) == sizeof expected);
  dispatch_release(map);

  dispatch_queue_t queue = dispatch_queue_create("test", DISPATCH_QUEUE_SERIAL);
  dispatch_semaphore_t destroyed = dispatch_semaphore_create(0);
  dispatch_data_t adopted = dispatch_data_create(numbers, sizeof numbers, queue, ^{
    dispatch_semaphore_signal(destroyed);
  });
  CHECK(dispatch_semaphore_wait(destroyed, DISPATCH_TIME_NOW) != 0);
  dispatch_release(adopted);
  CHECK(dispatch_semaphore_wait(destroyed, dispatch_time(DISPATCH_TIME_NOW, 10 * (int64_t)NSEC_PER_SEC)) == 0);
  dispatch_release(destroyed);
  dispatch_release(queue);
}

TEST(queues_are_objects) {
  dispatch_queue_t queue = dispatch_queue_create("test", DISPATCH_QUEUE_SERIAL);
  NSArray* array = [NSArray arrayWithObject:queue];
  CHECK([array indexOfObject:queue] == 0);
  [queue retain];
  dispatch_release(queue);
  dispatch_release(queue);
}

TEST(apply_runs_every_iteration_once) {
  dispatch_queue_t concurrent = dispatch_queue_create("test", DISPATCH_QUEUE_CONCURRENT);
  std::vector<std::atomic<int>> runs(1000);
  std::atomic<int>* counts = runs.data();
  const dispatch_queue_t queues[] = {dispatch_get_global_queue(DISPATCH_QUEUE_PRIORITY_DEFAULT, 0), concurrent};
  for (dispatch_queue_t queue : queues) {
    for (auto& count : runs) count = 0;
    // An iteration may itself divide its work.
    dispatch_apply(10, queue, ^(size_t i) {
      dispatch_apply(100, queue, ^(size_t k) {
        ++counts[100 * i + k];
      });
    });
    bool once = true;
    for (auto& count : runs) once = once && count == 1;
    CHECK(once);
  }
  dispatch_apply(0, concurrent, ^(size_t) {
    CHECK(false);
  });
  dispatch_release(concurrent);

  dispatch_queue_t serial = dispatch_queue_create("test", DISPATCH_QUEUE_SERIAL);
  std::vector<size_t> order;
  dispatch_apply_f(5, serial, &order,
                   [](void* context, size_t i) { static_cast<std::vector<size_t>*>(context)->push_back(i); });
  CHECK(order == std::vector<size_t>({0, 1, 2, 3, 4}));
  dispatch_release(serial);
}

TEST(groups_wait_for_all_that_entered) {
  dispatch_group_t group = dispatch_group_create();
  CHECK(dispatch_group_wait(group, DISPATCH_TIME_NOW) == 0);
  dispatch_queue_t serial = dispatch_queue_create("serial", DISPATCH_QUEUE_SERIAL);
  __block int done = 0, notified = 0;
  dispatch_group_enter(group);
  for (int i = 0; i < 10; ++i) {
    dispatch_group_async(group, serial, ^{
      ++done;
    });
  }
  dispatch_group_notify(group, serial, ^{
    notified = done;
  });
  CHECK(dispatch_group_wait(group, dispatch_time(DISPATCH_TIME_NOW, 10 * NSEC_PER_MSEC)) != 0);
  dispatch_sync(serial, ^{
    CHECK(done == 10 && notified == 0);
  });
  dispatch_group_leave(group);
  CHECK(dispatch_group_wait(group, DISPATCH_TIME_FOREVER) == 0);
  dispatch_sync(serial, ^{
    CHECK(notified == 10);
  });
  dispatch_group_notify(group, serial, ^{
    ++notified;
  });
  dispatch_sync(serial, ^{
    CHECK(notified == 11);
  });
  bool raised = false;
  @try {
    dispatch_group_leave(group);
  } @catch (NSException* exception) {
    raised = [[exception reason] hasPrefix:@"[dispatch_group_leave]"];
  }
  CHECK(raised);

  // What was entered keeps the group.
  dispatch_semaphore_t end = dispatch_semaphore_create(0);
  dispatch_group_async(group, dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0), ^{
    dispatch_semaphore_wait(end, DISPATCH_TIME_FOREVER);
  });
  dispatch_group_notify(group, serial, ^{
    dispatch_semaphore_signal(end);
  });
  dispatch_release(group);
  dispatch_semaphore_signal(end);
  dispatch_semaphore_wait(end, DISPATCH_TIME_FOREVER);
  dispatch_release(end);
  dispatch_release(serial);
}

TEST(after_waits) {
  dispatch_semaphore_t came = dispatch_semaphore_create(0);
  const dispatch_time_t when = dispatch_time(DISPATCH_TIME_NOW, 20 * NSEC_PER_MSEC);
  dispatch_queue_t serial = dispatch_queue_create("serial", DISPATCH_QUEUE_SERIAL);
  dispatch_after(when, serial, ^{
    dispatch_semaphore_signal(came);
  });
  dispatch_release(serial);
  CHECK(dispatch_semaphore_wait(came, DISPATCH_TIME_NOW) != 0);
  CHECK(dispatch_semaphore_wait(came, DISPATCH_TIME_FOREVER) == 0);
  CHECK(dispatch_time(DISPATCH_TIME_NOW, 0) >= when);
  dispatch_after(DISPATCH_TIME_NOW, dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0), ^{
    dispatch_semaphore_signal(came);
  });
  CHECK(dispatch_semaphore_wait(came, DISPATCH_TIME_FOREVER) == 0);
  dispatch_release(came);
}

// Darwin's names, which come with Foundation.
TEST(pages) {
  const size_t page = static_cast<size_t>(getpagesize());
  CHECK(PAGE_SIZE == page && vm_page_size == page && PAGE_MASK == page - 1 && vm_page_mask == page - 1);
  CHECK(size_t{1} << PAGE_SHIFT == page && size_t{1} << vm_page_shift == page);
  CHECK(PAGE_MIN_SIZE <= PAGE_SIZE && PAGE_SIZE <= PAGE_MAX_SIZE);
  CHECK(trunc_page(page + 1) == page && round_page(page + 1) == 2 * page && round_page(page) == page);
  CHECK(mach_vm_trunc_page(page - 1) == 0 && mach_vm_round_page(page - 1) == page);
}

int main(int count, char** arguments) { return check::run(count, arguments); }
