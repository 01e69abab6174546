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

// Calls f with a T for the type, and returns what it does; T() of the result type for a type that does not compute.
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

}  // namespace alloy::remote
