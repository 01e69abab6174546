// Blocks of memory of a GPU, and of pinned memory of the host.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

#include "cuda/driver.h"

namespace alloy::cuda {

// Memory of the GPU, or of the host if it has an address there.
struct Block {
  CUdeviceptr address = 0;
  std::byte* host = nullptr;
  size_t bytes = 0;
};

// Keeps some blocks that nobody uses for the next who wants one of their size: the driver's own functions take up to
// milliseconds, in which the whole GPU may stand still.
class Memory {
 public:
  explicit Memory(const Context& context) : context_(context) {}

  // A block of at least so many bytes; none if there is not enough memory. Throws std::runtime_error.
  std::optional<Block> take(size_t bytes, bool is_of_host);
  // No run may use the block any more. In a forked child and at the end of the process does nothing.
  void give_back(const Block& block) noexcept;

 private:
  struct Kept {
    std::deque<Block> blocks;  // the oldest first
    size_t bytes = 0;
  };

  CUresult allocate(Block& block, bool is_of_host) const;
  void drop_oldest(Kept& kept) const;

  const Context& context_;
  std::mutex mutex_;
  Kept of_device_, of_host_;
};

}  // namespace alloy::cuda
