#include "device/arena.h"

#include <new>
#include <utility>

namespace alloy::device {

bool Arena::is_too_large() const {
  std::lock_guard lock(mutex_);
  return storage_ && (wanted_.empty() || storage_->size() > *wanted_.rbegin());
}

void Arena::trim() {
  if (!is_too_large()) return;
  if (last_ && last_->is_over()) last_.reset();
  host::after(last_, [kept = std::exchange(storage_, nullptr)] {});  // another share's run may use it
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
  std::shared_ptr<Storage>& storage = arena_->storage_;
  const bool fits = storage && storage->size() >= wanted_ && !arena_->is_too_large();
  if (!fits) {
    host::wait_for(arena_->last_);
    storage.reset();  // free the old memory before allocating
    storage = arena_->device_.allocate(wanted_);
    if (!storage) throw std::bad_alloc();
  }
  const bool as_left = std::exchange(arena_->user_, this) == this && fits;
  return Use(std::move(lock), *arena_, stream, as_left);
}

}  // namespace alloy::device
