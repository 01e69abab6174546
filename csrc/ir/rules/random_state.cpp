#include "ir/rules/random_state.h"

#include <cstddef>

namespace alloy::ir {
namespace {

// POSIX's linear congruential generator of 48 bits; mrand48 returns its highest 32 bits.
class Rand48 {
 public:
  explicit Rand48(uint32_t seed) : state_(uint64_t{seed} << 16 | 0x330E) {}

  uint64_t next() {
    state_ = (state_ * 0x5DEECE66D + 0xB) & ((uint64_t{1} << 48) - 1);
    return state_ >> 16;
  }
  // Two draws; the first gives the highest 32 bits.
  uint64_t next_pair() {
    const uint64_t high = next();
    return high << 32 | next();
  }

 private:
  uint64_t state_;
};

}  // namespace

RandomState random_state(uint64_t seed) {
  Rand48 draws(static_cast<uint32_t>(seed));
  const uint64_t low = draws.next_pair(), high = draws.next_pair(), key = draws.next_pair();
  return random_state(low, high, key);
}

RandomState random_state(uint64_t counter_low, uint64_t counter_high, uint64_t key) {
  RandomState state = {1};
  size_t at = 1;
  for (const uint64_t number : {counter_low, counter_high, key}) {
    state[at++] = static_cast<int32_t>(static_cast<uint32_t>(number));
    state[at++] = static_cast<int32_t>(static_cast<uint32_t>(number >> 32));
  }
  return state;
}

}  // namespace alloy::ir
