// Division of counts, rounded up.
#pragma once

#include <type_traits>

namespace alloy::ir {

// The number of portions of `size` that hold `count`.
template <class T>
constexpr T divide_up(T count, std::type_identity_t<T> size) {
  return (count + size - 1) / size;
}

// The smallest multiple of `size` that is at least `count`.
template <class T>
constexpr T round_up(T count, std::type_identity_t<T> size) {
  return divide_up(count, size) * size;
}

}  // namespace alloy::ir
