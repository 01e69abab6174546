// Memory that a run is fed. Plain C++.
#pragma once

#include <cstddef>
#include <memory>

namespace alloy::engine {

struct Pending;

struct FeedBytes {
  const void* data = nullptr;              // packed row-major
  std::shared_ptr<const void> owner = {};  // keeps the memory as it is; null: it is there for the call only
  const Pending* pending = nullptr;        // instead of memory: a result on the device, there for the call
};

// True if the memory is lent to a run instead of copied: it is page-aligned and large.
bool can_be_lent(const void* data, size_t bytes);

}  // namespace alloy::engine
