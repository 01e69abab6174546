// The threads of concurrent dispatch queues. Work items must not throw.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

#include "host/work_queue.h"

namespace alloy::host {

// Runs items side by side. An item that blocks does not delay the others, up to a limit of threads.
class ThreadPool {
 public:
  // The pool of the process.
  static ThreadPool& shared();

  // Runs `work` soon and returns at once; fails as WorkQueue::submit does.
  Status submit(std::function<void()> work);

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable work_added_;
  std::deque<std::function<void()>> items_;
  size_t threads_ = 0;
  size_t idle_ = 0;
};

}  // namespace alloy::host
