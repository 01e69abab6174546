// Launches without an op: copies of arrays, and the end of a run.
#pragma once

#include "cuda/codegen/code.h"

namespace alloy::cuda {

inline constexpr size_t kCopiesOfLaunch = 8;

// Copies up to kCopiesOfLaunch arrays. Addresses: from and to, for each; numbers: the bytes of each.
const Launch& copying();
// The same in one block, and then adds 1 to a count and writes it to the host's memory: that is where a run is over.
// Two more addresses: of the count, and in the host's memory.
const Launch& ending();
// The blocks for a copy whose largest array has this many bytes.
unsigned blocks_of_copy(size_t bytes);

}  // namespace alloy::cuda
