// Philox 4x32-10, by its authors' definition (Salmon et al., 2011), block by block: the reference for random numbers.
// csrc/ir/README.md defines the state and the stream.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace alloy::reference {

using PhiloxBlock = std::array<uint32_t, 4>;

inline PhiloxBlock philox(PhiloxBlock x, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * x[0], b = uint64_t{0xCD9E8D57} * x[2];
    const auto high = [](uint64_t v) { return static_cast<uint32_t>(v >> 32); };
    x = {high(b) ^ x[1] ^ key[0], static_cast<uint32_t>(b), high(a) ^ x[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return x;
}

// The stream of a state, int32 of shape (7,).
class Stream {
 public:
  explicit Stream(const uint32_t* state) : key_{state[5], state[6]} {
    std::copy(state + 1, state + 5, counter_.begin());
  }

  // Word i of the stream.
  uint32_t word(uint64_t i) const { return philox(counter_at(i / 4), key_)[i % 4]; }

  // The uniform number in [0, 1) from a word.
  double unit(uint64_t i) const { return (word(i) & 0x7FFFFF) * 0x1p-23; }

  // The counter after `blocks` blocks.
  PhiloxBlock counter_at(uint64_t blocks) const {
    PhiloxBlock counter = counter_;
    uint64_t carry = blocks;
    for (uint32_t& part : counter) {
      const uint64_t sum = uint64_t{part} + (carry & 0xFFFFFFFF);
      part = static_cast<uint32_t>(sum);
      carry = (carry >> 32) + (sum >> 32);
    }
    return counter;
  }

 private:
  PhiloxBlock counter_{};
  std::array<uint32_t, 2> key_;
};

// The probability that a standard normal number is below x.
inline double normal_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

// The inverse of normal_below, by bisection, to double precision.
inline double normal_quantile(double p) {
  double low = -40, high = 40;
  for (int i = 0; i < 120; ++i) {
    const double middle = (low + high) / 2;
    // Uses the smaller tail, since doubles can tell its probabilities apart.
    const bool is_above = p < 0.5 ? normal_below(middle) < p : normal_below(-middle) > 1 - p;
    (is_above ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace alloy::reference
