// Memory for a feed. Plain C++.
#pragma once

#include <cstddef>
#include <memory>

namespace alloy::engine {

struct Pending;

struct FeedBytes {
  const void* data = nullptr;              // packed row-major
  std::shared_ptr<const void> owner = {};  // keeps the memory unchanged; null: valid during the call only
  const Pending* pending = nullptr;        // replaces memory: a result on the device, valid during the call
};

// True if a run reads the memory without a copy: it is page-aligned and large.
bool can_be_lent(const void* data, size_t bytes);

}  // namespace alloy::engine
