// The threads behind concurrent dispatch queues.

#include "host/thread_pool.h"

#include <system_error>
#include <thread>
#include <utility>

namespace alloy::host {

namespace {

// Enough for items that wait for each other, few enough for a small machine.
constexpr size_t kMostThreads = 64;

}  // namespace

ThreadPool& ThreadPool::shared() {
  // Never destroyed: its threads live as long as the process.
  static ThreadPool& pool = *new ThreadPool;
  return pool;
}

Status ThreadPool::submit(std::function<void()> work) {
  if (Status status = begin_use(); !status.ok()) return status;
  std::lock_guard lock(mutex_);
  items_.push_back(std::move(work));
  if (items_.size() <= idle_) {
    work_added_.notify_one();
  } else if (threads_ < kMostThreads) {
    try {
      std::thread([this] { serve(); }).detach();
      ++threads_;
    } catch (const std::system_error&) {
      if (threads_ == 0) {
        items_.pop_back();
        return {"The device could not start a thread."};
      }
    }
  }
  return {};
}

void ThreadPool::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    work_added_.wait(lock, [&] { return !items_.empty(); });
    --idle_;
    std::function<void()> item = std::move(items_.front());
    items_.pop_front();
    lock.unlock();
    item();
    item = nullptr;
    lock.lock();
  }
}

}  // namespace alloy::host
