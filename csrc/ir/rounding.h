// Counts divided and rounded up.
#pragma once

#include <type_traits>

namespace alloy::ir {

// How many portions of that size hold `count`.
template <class T>
constexpr T divide_up(T count, std::type_identity_t<T> size) {
  return (count + size - 1) / size;
}

// The smallest multiple of `size` that is not below `count`.
template <class T>
constexpr T round_up(T count, std::type_identity_t<T> size) {
  return divide_up(count, size) * size;
}

}  // namespace alloy::ir
