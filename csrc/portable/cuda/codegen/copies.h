// Launches without an op: copies of arrays, and the end of a run.
#pragma once

#include "cuda/codegen/code.h"

namespace alloy::cuda {

inline constexpr size_t kCopiesOfLaunch = 8;

// Copies so many arrays, at most kCopiesOfLaunch, of at most so many bytes. Each block copies small feeds, so that it
// need not wait for others. For each: the addresses from which and to
// which, and the bytes as an address; of feeds also the bytes that the run before does not write, none or all.
enum class CopiesOf : uint8_t { kStep, kFeeds, kResults };
const Launch& copying(size_t count, CopiesOf what, size_t most_bytes);
// Adds 1 to a count and writes it to the host's memory, behind all that was written before. Addresses: of the count,
// and in the host's memory.
const Launch& ending();

}  // namespace alloy::cuda
