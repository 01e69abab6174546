// Streams of random numbers by Philox 4x32-10, of which any part can be computed by itself.
#pragma once

#include <cstddef>
#include <cstdint>

namespace alloy::cpu {

struct Philox {
  uint64_t counter_low, counter_high, key;

  // The generator of a state, 7 int32.
  static Philox of(const std::byte* state);

  // The generator `blocks` blocks later.
  Philox behind(uint64_t blocks) const {
    const uint64_t low = counter_low + blocks;
    return {low, counter_high + (low < blocks ? 1 : 0), key};
  }
};

// The distribution of the numbers.
struct Numbers {
  enum class Kind : uint8_t { kUniform, kInteger, kNormal, kBoxMuller, kTruncated } kind;
  float low, high, below_high;  // bounds, and the greatest float below `high`
  float mean, deviation;        // of normal numbers
  float first, width;           // truncated: probability below the lower bound, and between the bounds
  bool mirrored;                // truncated: the probabilities are those of the other side, where they are small
  int32_t least;                // integers: the least
  uint32_t count;               // integers: how many there are; 0 for all
};

// From 0 to below 1.
Numbers unit_numbers();

// Writes elements [4 * first, 4 * last) of the stream to `out`, but none from `end` on.
using FillLoop = void (*)(const Philox& stream, const Numbers& numbers, int64_t first, int64_t last, int64_t end,
                          std::byte* out);
FillLoop random_fill();

}  // namespace alloy::cpu
