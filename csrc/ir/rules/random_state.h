// The state of the random generator, for the op `random` (csrc/ir/README.md).
#pragma once

#include <array>
#include <cstdint>

namespace alloy::ir {

// 1, then the counter of 128 bits and the key of 64 bits, each in pieces of 32 bits, lowest first.
using RandomState = std::array<int32_t, 7>;

// The state of a seed: six draws of POSIX's mrand48 after srand48 with the seed's lowest 32 bits.
RandomState random_state(uint64_t seed);
RandomState random_state(uint64_t counter_low, uint64_t counter_high, uint64_t key);

}  // namespace alloy::ir
