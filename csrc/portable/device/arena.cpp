#include "device/arena.h"

#include <new>
#include <utility>

namespace alloy::device {

size_t Arena::most_wanted() const {
  std::lock_guard lock(mutex_);
  return wanted_.empty() ? 0 : *wanted_.rbegin();
}

void Arena::trim() {
  if (!storage_ || storage_->size() <= most_wanted()) return;
  host::wait_for(last_);  // another share's run may use it
  storage_.reset();
}

ArenaShare::ArenaShare(std::shared_ptr<Arena> arena, size_t bytes) : arena_(std::move(arena)), wanted_(bytes) {
  std::lock_guard lock(arena_->mutex_);
  arena_->wanted_.insert(wanted_);
}

ArenaShare::~ArenaShare() {
  {
    std::lock_guard lock(arena_->mutex_);
    arena_->wanted_.erase(arena_->wanted_.find(wanted_));
  }
  if (std::unique_lock lock(arena_->running_, std::try_to_lock); lock) arena_->trim();
}

ArenaShare::Use ArenaShare::use(Stream& stream) {
  std::unique_lock lock(arena_->running_);
  stream.follow(arena_->last_);
  arena_->trim();
  std::shared_ptr<Storage>& storage = arena_->storage_;
  const bool is_large_enough = storage && storage->size() >= wanted_;
  if (!is_large_enough) {
    host::wait_for(arena_->last_);
    storage.reset();  // free the old memory before allocating
    storage = arena_->device_.allocate(wanted_);
    if (!storage) throw std::bad_alloc();
  }
  const bool as_left = std::exchange(arena_->user_, this) == this && is_large_enough;
  return Use(std::move(lock), *arena_, stream, as_left);
}

}  // namespace alloy::device
