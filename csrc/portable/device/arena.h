// Memory for intermediate values, shared by executors of one device. One executor runs at a time.
#pragma once

#include <memory>
#include <mutex>
#include <set>

#include "device/device.h"

namespace alloy::device {

class Arena {
 public:
  explicit Arena(Device& device) : device_(device) {}

 private:
  friend class ArenaShare;
  size_t most_wanted() const;
  void trim();

  Device& device_;
  std::mutex running_;        // held during a run; guards storage_ and user_
  mutable std::mutex mutex_;  // guards wanted_
  std::multiset<size_t> wanted_;
  std::shared_ptr<Storage> storage_;
  const void* user_ = nullptr;  // the last share that used it
};

// An executor's share of an arena. When the largest share ends, memory that no other share needs goes back to the
// device: at once, or at the next run if one is in progress.
class ArenaShare {
 public:
  // A share of `bytes` bytes.
  ArenaShare(std::shared_ptr<Arena> arena, size_t bytes);
  ~ArenaShare();
  ArenaShare(const ArenaShare&) = delete;
  ArenaShare& operator=(const ArenaShare&) = delete;

  // The arena during a run. The bytes are as this share left them if no other share has used the arena since. While a
  // Use exists, no other share can use the arena.
  struct Use {
    std::unique_lock<std::mutex> lock;
    Storage& storage;
    bool as_left;
  };
  // Throws std::bad_alloc.
  Use use();

 private:
  std::shared_ptr<Arena> arena_;
  size_t wanted_;
};

}  // namespace alloy::device
