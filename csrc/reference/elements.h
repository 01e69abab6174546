// Element types, the numbers that compute with them, and conversions between both.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ir/dtype.h"
#include "ir/half.h"

namespace alloy::reference {

// One byte for a bool.
enum class Bool : uint8_t {};

// Calls f with an element of the type; not for complex types.
template <class F>
auto with_element(ir::DType dtype, const F& f) {
  switch (dtype) {
    case ir::DType::float16: return f(ir::Float16());
    case ir::DType::bfloat16: return f(ir::BFloat16());
    case ir::DType::int8: return f(int8_t());
    case ir::DType::int16: return f(int16_t());
    case ir::DType::int32: return f(int32_t());
    case ir::DType::int64: return f(int64_t());
    case ir::DType::uint8: return f(uint8_t());
    case ir::DType::uint16: return f(uint16_t());
    case ir::DType::uint32: return f(uint32_t());
    case ir::DType::uint64: return f(uint64_t());
    case ir::DType::boolean: return f(Bool());
    default: return f(float());
  }
}

// Calls f with a number of the kind that computes with the type: double for all floats, else an integer of 32 or 64
// bits; a bool is 0 or 1.
template <class F>
auto with_number(ir::DType dtype, const F& f) {
  switch (ir::computed_in(dtype)) {
    case ir::DType::float32: return f(double());
    case ir::DType::int64: return f(int64_t());
    case ir::DType::uint64: return f(uint64_t());
    default: return f(int32_t());
  }
}

// Converts to the type: integers wrap around; floats become integers by truncation toward zero, clamped to the type's
// range, and NaN becomes 0.
template <class T, class N>
T element(N number) {
  if constexpr (std::is_same_v<T, Bool>) {
    return Bool{static_cast<uint8_t>(number != 0)};
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<N>) {
    if (std::isnan(number)) return 0;
    if (number >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::max();
    if (number < static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    return static_cast<T>(number);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(number);
  } else {
    return T(static_cast<float>(number));
  }
}

}  // namespace alloy::reference
