// The state of the random generator, as the op `random` takes it (csrc/ir/README.md).
#pragma once

#include <array>
#include <cstdint>

namespace alloy::ir {

// 1, then the counter, 128 bits, and the key, 64 bits, each from its lowest 32 bits to its highest.
using RandomState = std::array<int32_t, 7>;

// The state that a seed stands for: six draws of POSIX's mrand48 after srand48, of the seed's lowest 32 bits.
RandomState random_state(uint64_t seed);
RandomState random_state(uint64_t counter_low, uint64_t counter_high, uint64_t key);

}  // namespace alloy::ir
