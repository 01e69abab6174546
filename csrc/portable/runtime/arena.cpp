#include "runtime/arena.h"

#include <new>
#include <utility>

namespace alloy::runtime {

size_t Arena::most_wanted() const {
  std::lock_guard lock(mutex_);
  return wanted_.empty() ? 0 : *wanted_.rbegin();
}

void Arena::trim() {
  if (storage_ && storage_->size() > most_wanted()) storage_.reset();
}

ArenaShare::ArenaShare(std::shared_ptr<Arena> arena) : arena_(std::move(arena)) {
  std::lock_guard lock(arena_->mutex_);
  arena_->wanted_.insert(wanted_);
}

ArenaShare::~ArenaShare() {
  {
    std::lock_guard lock(arena_->mutex_);
    arena_->wanted_.erase(arena_->wanted_.find(wanted_));
  }
  if (std::unique_lock lock(arena_->running, std::try_to_lock); lock) arena_->trim();
}

void ArenaShare::want(size_t bytes) {
  std::lock_guard lock(arena_->mutex_);
  arena_->wanted_.erase(arena_->wanted_.find(std::exchange(wanted_, bytes)));
  arena_->wanted_.insert(bytes);
}

ArenaShare::Use ArenaShare::use() {
  arena_->trim();
  std::shared_ptr<device::Storage>& storage = arena_->storage_;
  const bool is_large_enough = storage && storage->size() >= wanted_;
  if (!is_large_enough) {
    storage.reset();  // before there is another one
    storage = arena_->device_.allocate(wanted_);
    if (!storage) throw std::bad_alloc();
  }
  const bool as_left = std::exchange(arena_->user_, this) == this && is_large_enough;
  return {storage->host_bytes(), as_left};
}

}  // namespace alloy::runtime
