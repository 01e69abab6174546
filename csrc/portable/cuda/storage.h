// Arrays' memory on a GPU, and in memory of the host that the GPU addresses.
#pragma once

#include <memory>

#include "cuda/copy_stream.h"
#include "cuda/memory.h"
#include "device/device.h"

namespace alloy::cuda {

// A multiple of all offsets in storages.
inline constexpr size_t kAlignment = 256;
// Arrays that the host copies have at most so many bytes in its memory: a run copies these in the time of one access.
inline constexpr size_t kFewBytes = 256 << 10;

// Null if there is not enough memory. A private storage is memory of the GPU; a shared one is pinned memory of the
// host. Throws std::runtime_error.
std::shared_ptr<device::Storage> allocate(device::Counters& counters, Memory& memory, CopyStream& copies, size_t bytes,
                                          device::StorageMode mode);

}  // namespace alloy::cuda
