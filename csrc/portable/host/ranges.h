// Divides a piece of memory into ranges that come and go.
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

  // The start of the first gap of at least `bytes` bytes, at a multiple of `alignment`, which is taken from now on;
  // nothing where there is none.
  std::optional<size_t> take(size_t bytes, size_t alignment);

  // Frees the range that take() gave.
  void give_back(size_t start);

  // Bytes taken, and bytes of the largest range that could be taken.
  size_t used() const;
  size_t largest(size_t alignment) const;

 private:
  // Calls visit(start, bytes) of each gap from a multiple of `alignment` on, until it returns true.
  template <class Visit>
  void gaps(size_t alignment, const Visit& visit) const;

  const size_t size_;
  mutable std::mutex mutex_;
  std::map<size_t, size_t> taken_;  // bytes by start
};

}  // namespace alloy::host
