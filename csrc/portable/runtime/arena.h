// Memory for what runs compute on the way, shared by programs of which one runs at a time.
#pragma once

#include <memory>
#include <mutex>
#include <set>

#include "device/device.h"

namespace alloy::runtime {

class Arena {
 public:
  explicit Arena(device::Device& device) : device_(device) {}

  // Whoever runs holds it.
  std::mutex running;

 private:
  friend class ArenaShare;
  size_t most_wanted() const;
  void trim();

  device::Device& device_;
  mutable std::mutex mutex_;  // of wanted_
  std::multiset<size_t> wanted_;
  std::shared_ptr<device::Storage> storage_;
  const void* user_ = nullptr;  // the last share that used it
};

// A program's part in an arena. When the share that wants most ends, what the others do not want goes back to the
// device: at once, or, where a run is under way, with the next run.
class ArenaShare {
 public:
  explicit ArenaShare(std::shared_ptr<Arena> arena);
  ~ArenaShare();
  ArenaShare(const ArenaShare&) = delete;
  ArenaShare& operator=(const ArenaShare&) = delete;

  // How many bytes it wants from now on; at first none.
  void want(size_t bytes);

  // For a run: so many bytes, as this share left them where no other has used the arena since. Throws std::bad_alloc.
  struct Use {
    std::byte* bytes;
    bool as_left;
  };
  Use use();

 private:
  std::shared_ptr<Arena> arena_;
  size_t wanted_ = 0;
};

}  // namespace alloy::runtime
