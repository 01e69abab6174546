// First-fit allocation.

#include "host/ranges.h"

#include <algorithm>

namespace alloy::host {

template <class Visit>
void Ranges::gaps(size_t alignment, const Visit& visit) const {
  size_t start = 0;
  const auto gap = [&](size_t end) {
    const size_t aligned = (start + alignment - 1) / alignment * alignment;
    return aligned < end && visit(aligned, end - aligned);
  };
  for (const auto& [taken, bytes] : taken_) {
    if (gap(taken)) return;
    start = taken + bytes;
  }
  gap(size_);
}

std::optional<size_t> Ranges::take(size_t bytes, size_t alignment) {
  std::lock_guard lock(mutex_);
  std::optional<size_t> found;
  gaps(alignment, [&](size_t start, size_t room) {
    if (room < bytes) return false;
    found = start;
    return true;
  });
  if (found) taken_.emplace(*found, bytes);
  return found;
}

void Ranges::give_back(size_t start) {
  std::lock_guard lock(mutex_);
  taken_.erase(start);
}

size_t Ranges::used() const {
  std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const auto& [start, taken] : taken_) bytes += taken;
  return bytes;
}

size_t Ranges::largest(size_t alignment) const {
  std::lock_guard lock(mutex_);
  size_t most = 0;
  gaps(alignment, [&](size_t, size_t room) {
    most = std::max(most, room);
    return false;
  });
  return most;
}

}  // namespace alloy::host
