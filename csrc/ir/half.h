// The two-byte floats as C++ types. They only hold numbers: arithmetic is done in float.
#pragma once

#include <bit>
#include <cstdint>

namespace alloy::ir {

// IEEE 754 binary16: 5 bits of exponent, 10 of fraction. Conversion from float rounds to nearest, ties to even; 65520
// and more become infinity.
struct Float16 {
  uint16_t bits = 0;

  Float16() = default;
  explicit Float16(float number) {
    const auto all = std::bit_cast<uint32_t>(number), sign = all >> 16 & 0x8000, x = all & 0x7fffffff;
    uint32_t y = 0x7c00;
    if (x > 0x7f800000) {
      y = 0x7e00;  // NaN
    } else if (x < 0x38800000) {
      // A subnormal: adding 1/2 rounds and moves its digits to the end.
      y = std::bit_cast<uint32_t>(std::bit_cast<float>(x) + 0.5F) - 0x3f000000;
    } else if (x < 0x477ff000) {
      y = (x - 0x38000000 + 0xfff + (x >> 13 & 1)) >> 13;
    }
    bits = static_cast<uint16_t>(sign | y);
  }
  operator float() const {
    const uint32_t sign = uint32_t{bits} << 16 & 0x80000000, x = bits & 0x7fff;
    if (x < 0x400) return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(x) * 0x1p-24F));
    return std::bit_cast<float>(sign | ((x << 13) + (x < 0x7c00 ? 0x38000000 : 0x70000000)));
  }
};

// The upper half of a float: 8 bits of exponent, 7 of fraction. Conversion rounds to nearest, ties to even.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float number) {
    const auto x = std::bit_cast<uint32_t>(number);
    const uint32_t rounded = (x + 0x7fff + (x >> 16 & 1)) >> 16, quiet = x >> 16 | 0x40;
    bits = static_cast<uint16_t>((x & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
  }
  operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

}  // namespace alloy::ir
