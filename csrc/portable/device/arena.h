// Memory for what runs compute on the way, shared by executors of one device of which one runs at a time.
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
  std::mutex running_;        // held by whoever runs; guards storage_ and user_
  mutable std::mutex mutex_;  // of wanted_
  std::multiset<size_t> wanted_;
  std::shared_ptr<Storage> storage_;
  const void* user_ = nullptr;  // the last share that used it
};

// An executor's part in an arena. When the share that wants most ends, what the others do not want goes back to the
// device: at once, or, where a run is under way, with the next run.
class ArenaShare {
 public:
  // Wants so many bytes.
  ArenaShare(std::shared_ptr<Arena> arena, size_t bytes);
  ~ArenaShare();
  ArenaShare(const ArenaShare&) = delete;
  ArenaShare& operator=(const ArenaShare&) = delete;

  // For a run: the bytes, as this share left them where no other has used the arena since. No other share is given the
  // arena while this lives.
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
