// Memory for intermediate values, shared by executors of one device. One executor uses it at a time.
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
  // True if no share wants all of the storage.
  bool is_too_large() const;
  void trim();

  Device& device_;
  std::mutex running_;        // held while a run begins; guards storage_, user_ and last_
  host::FenceRef last_;       // the end of the last run
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

  // The arena while a run begins. The bytes are as this share left them if no other share has used the arena since.
  // While a Use exists, no other share can use the arena; afterwards its runs come behind this one.
  class Use {
   public:
    Use(std::unique_lock<std::mutex> lock, Arena& arena, Stream& stream, bool as_left)
        : lock_(std::move(lock)), arena_(arena), stream_(stream), as_left_(as_left) {}
    ~Use() { arena_.last_ = stream_.fence(); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    // A run that is in flight must keep it.
    const std::shared_ptr<Storage>& storage() const { return arena_.storage_; }
    bool as_left() const { return as_left_; }

   private:
    const std::unique_lock<std::mutex> lock_;
    Arena& arena_;
    Stream& stream_;
    const bool as_left_;
  };
  // Lets the stream follow the runs of other shares. Throws std::bad_alloc.
  Use use(Stream& stream);

 private:
  std::shared_ptr<Arena> arena_;
  size_t wanted_;
};

}  // namespace alloy::device
