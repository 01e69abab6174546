#include "cuda/memory.h"

#include <algorithm>
#include <bit>
#include <exception>

#include "host/work_queue.h"
#include "ir/rounding.h"

namespace alloy::cuda {
namespace {

constexpr size_t kMostBlocks = 256;
constexpr size_t kMostBytesOfDevice = size_t{1} << 30, kMostBytesOfHost = size_t{64} << 20;

// Sizes of which blocks are made: at least 256, and four between a power of two and the next.
size_t rounded(size_t bytes) {
  constexpr size_t kLeast = 256;
  return ir::round_up(std::max(bytes, kLeast), std::max(std::bit_floor(std::max(bytes, kLeast)) / 4, kLeast));
}

}  // namespace

std::optional<Block> Memory::take(size_t bytes, bool is_of_host) {
  const Driver& driver = context_.enter();
  Kept& kept = is_of_host ? of_host_ : of_device_;
  Block block{0, nullptr, rounded(bytes)};
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(kept.blocks.rbegin(), kept.blocks.rend(),
                                  [&](const Block& one) { return one.bytes == block.bytes; });
  if (found != kept.blocks.rend()) {
    block = *found;
    kept.blocks.erase(std::next(found).base());
    kept.bytes -= block.bytes;
    return block;
  }
  CUresult result = allocate(block, is_of_host);
  if (result == kOutOfMemory && !kept.blocks.empty()) {
    while (!kept.blocks.empty()) drop_oldest(kept);
    result = allocate(block, is_of_host);
  }
  if (result == kOutOfMemory) return std::nullopt;
  driver.check(result, is_of_host ? "cuMemHostAlloc" : "cuMemAlloc");
  return block;
}

void Memory::give_back(const Block& block) noexcept {
  if (!host::process_status().ok()) return;
  try {
    const std::lock_guard lock(mutex_);
    Kept& kept = block.host != nullptr ? of_host_ : of_device_;
    kept.blocks.push_back(block);
    kept.bytes += block.bytes;
    const size_t most = block.host != nullptr ? kMostBytesOfHost : kMostBytesOfDevice;
    while (kept.bytes > most || kept.blocks.size() > kMostBlocks) drop_oldest(kept);
  } catch (const std::exception&) {
    // Nobody can be told; the driver frees all memory at the end of the process.
  }
}

CUresult Memory::allocate(Block& block, bool is_of_host) const {
  const Driver& driver = context_.enter();
  if (!is_of_host) return driver.allocate(&block.address, block.bytes);
  void* host = nullptr;
  if (const CUresult result = driver.host_allocate(&host, block.bytes, kPortable | kMapped); result != 0) return result;
  block.host = static_cast<std::byte*>(host);
  const CUresult result = driver.host_address(&block.address, host, 0);
  if (result != 0) static_cast<void>(driver.host_free(host));
  return result;
}

void Memory::drop_oldest(Kept& kept) const {
  const Driver& driver = context_.enter();
  const Block block = kept.blocks.front();
  kept.blocks.pop_front();
  kept.bytes -= block.bytes;
  static_cast<void>(block.host != nullptr ? driver.host_free(block.host) : driver.free(block.address));
}

}  // namespace alloy::cuda
