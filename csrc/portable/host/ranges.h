// Allocates ranges of a block of memory.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

namespace alloy::host {

// Every member may be called from every thread.
class Ranges {
 public:
  explicit Ranges(size_t size) : size_(size) {}

  // Takes the first gap of at least `bytes` bytes, at a multiple of `alignment`, and returns its start; nothing if
  // there is none.
  std::optional<size_t> take(size_t bytes, size_t alignment);

  // Frees the range that take() returned.
  void give_back(size_t start);

  // Bytes taken, and bytes of the largest range that take() could return.
  size_t used() const;
  size_t largest(size_t alignment) const;

 private:
  // Calls visit(start, bytes) for each gap, counted from a multiple of `alignment`, until it returns true.
  template <class Visit>
  void gaps(size_t alignment, const Visit& visit) const;

  const size_t size_;
  mutable std::mutex mutex_;
  std::map<size_t, size_t> taken_;  // bytes by start
};

}  // namespace alloy::host
