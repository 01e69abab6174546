// The elements of a tensor in memory, as kernels and programs take them.
#pragma once

#include <cstring>

#include "interpreter.h"

namespace alloy::test {

template <class F>
auto with_native(DType dtype, const F& f) {
  switch (dtype) {
    case DType::float32: return f(float{});
    case DType::int32: return f(int32_t{});
    case DType::int64: return f(int64_t{});
    default: return f(uint8_t{});
  }
}

// Row-major elements in memory of exactly their size, so that a sanitizer sees every step outside.
struct Tensor {
  Type type;
  std::vector<std::byte> bytes;

  explicit Tensor(Type t) : type(std::move(t)), bytes(type.byte_count()) {}
  Tensor(Shape shape, std::vector<double> values, DType dtype = DType::float32)
      : Tensor(Type{dtype, std::move(shape)}) {
    EXPECT_EQ(static_cast<int64_t>(values.size()), size());
    for (int64_t i = 0; i < size(); ++i) set(i, values[i]);
  }
  Tensor(const Type& t, const Array& array) : Tensor(t.shape, array.values, t.dtype) {}

  int64_t size() const { return type.shape.element_count(); }
  double at(int64_t i) const {
    return with_native(type.dtype, [&](auto v) {
      std::memcpy(&v, bytes.data() + static_cast<size_t>(i) * sizeof v, sizeof v);
      return static_cast<double>(v);
    });
  }
  Array array() const {
    Array all(type.shape.dims());
    for (int64_t i = 0; i < size(); ++i) all.values[static_cast<size_t>(i)] = at(i);
    return all;
  }
  void set(int64_t i, double value) {
    with_native(type.dtype, [&](auto v) {
      v = static_cast<decltype(v)>(value);
      std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof v, &v, sizeof v);
    });
  }
};

}  // namespace alloy::test
