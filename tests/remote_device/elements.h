// Elements of the types that compute, as numbers: a float32 is a double meanwhile, a bool 0 or 1. Denormals count as
// zero.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "indexing.h"
#include "ir/dtype.h"
#include "ir/half.h"
#include "table_rows.h"

namespace alloy::remote {

using test::Bool;
using test::count_of;
using test::for_each_index;
using test::Number;
using test::position;

template <class T>
Number<T> load(const std::byte* array, size_t i) {
  const T element = reinterpret_cast<const T*>(array)[i];
  if constexpr (std::is_same_v<T, Bool>) return element != Bool{0};
  else if constexpr (std::is_same_v<T, float>)
    return std::fabs(element) < FLT_MIN ? std::copysign(0.0F, element) : element;
  else return element;
}

template <class T>
void store(std::byte* array, size_t i, Number<T> number) {
  T element;
  if constexpr (std::is_same_v<T, Bool>) element = Bool{static_cast<uint8_t>(number != 0)};
  else if constexpr (std::is_same_v<T, ir::Float16> || std::is_same_v<T, ir::BFloat16>)
    element = T(static_cast<float>(number));
  else element = static_cast<T>(number);
  if constexpr (std::is_same_v<T, float>) {
    if (std::fabs(element) < FLT_MIN) element = std::copysign(0.0F, element);
  }
  reinterpret_cast<T*>(array)[i] = element;
}

// All elements of a float32 array, and back.
inline std::vector<double> floats(const std::byte* array, size_t count) {
  std::vector<double> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = load<float>(array, i);
  return out;
}
inline void store_floats(std::byte* array, const std::vector<double>& values) {
  for (size_t i = 0; i < values.size(); ++i) store<float>(array, i, values[i]);
}

// Calls f with a T for the type, and returns what it does; T() of the result type for a type that is computed in
// another (ir::computed_in), or of complex numbers.
template <class Result, class F>
Result for_type(ir::DType dtype, const F& f) {
  switch (dtype) {
    case ir::DType::float32: return f(float());
    case ir::DType::int32: return f(int32_t());
    case ir::DType::int64: return f(int64_t());
    case ir::DType::uint64: return f(uint64_t());
    case ir::DType::boolean: return f(Bool());
    default: return Result();
  }
}

// The same for every type but complex ones.
template <class Result, class F>
Result for_any_type(ir::DType dtype, const F& f) {
  switch (dtype) {
    case ir::DType::float16: return f(ir::Float16());
    case ir::DType::bfloat16: return f(ir::BFloat16());
    case ir::DType::int8: return f(int8_t());
    case ir::DType::int16: return f(int16_t());
    case ir::DType::uint8: return f(uint8_t());
    case ir::DType::uint16: return f(uint16_t());
    case ir::DType::uint32: return f(uint32_t());
    default: return for_type<Result>(dtype, f);
  }
}

}  // namespace alloy::remote
