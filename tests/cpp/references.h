// What the elementwise ops and the reductions are in double precision, as the written grammar (csrc/ir/README.md)
// states it, and how their operands' elements meet: the one reference of kernels (cpu/) and of whole graphs
// (interpreter.h). Shares no arithmetic with what it is held against.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "ir/graph.h"

namespace alloy::test {

using namespace ir;

// ---- elements ----

// Calls f with every index into `dims`, in row-major order.
template <class F>
void for_each_index(const Dims& dims, F f) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return;
  Dims index(dims.size(), 0);
  while (true) {
    f(static_cast<const Dims&>(index));
    size_t axis = dims.size();
    while (axis > 0 && ++index[axis - 1] == dims[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

// The position of `index`, aligned at the trailing dimension, in an array that broadcasts to it.
inline size_t position(const Dims& dims, const Dims& index) {
  size_t at = 0;
  for (int64_t i = 0; i < dims.size(); ++i) {
    const int64_t k = dims[i] == 1 ? 0 : index[index.size() - dims.size() + i];
    at = at * static_cast<size_t>(dims[i]) + static_cast<size_t>(k);
  }
  return at;
}

// ---- ops ----

inline double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

// Of up to three operands, the last of which has that type.
inline double elementwise(OpCode code, DType dtype, double a, double b, double c) {
  const bool integer = dtype != DType::float32;
  switch (code) {
    case OpCode::identity: return a;
    case OpCode::exp: return std::exp(a);
    case OpCode::log: return std::log(a);
    case OpCode::square: return a * a;
    case OpCode::sqrt: return std::sqrt(a);
    case OpCode::rsqrt: return 1 / std::sqrt(a);
    case OpCode::reciprocal: return 1 / a;
    case OpCode::abs: return std::abs(a);
    case OpCode::negative: return -a;
    case OpCode::sign: return a > 0 ? 1 : a < 0 ? -1 : 0;
    case OpCode::tanh: return std::tanh(a);
    case OpCode::relu: return a <= 0 ? 0 : a;
    case OpCode::sigmoid: return sigmoid(a);
    case OpCode::relu_gradient: return b <= 0 ? 0 : a;
    case OpCode::sigmoid_gradient: return a * sigmoid(b) * sigmoid(-b);
    case OpCode::add: return a + b;
    case OpCode::subtract: return a - b;
    case OpCode::multiply: return a * b;
    case OpCode::divide: return integer ? (b == 0 ? 0 : std::trunc(a / b)) : a / b;
    case OpCode::divide_no_nan: return b == 0 ? 0 : a / b;
    case OpCode::power: return integer ? std::trunc(a == 0 && b < 0 ? 0 : std::pow(a, b)) : std::pow(a, b);
    case OpCode::minimum: return std::fmin(a, b);
    case OpCode::maximum: return std::fmax(a, b);
    case OpCode::equal: return a == b;
    case OpCode::not_equal: return a != b;
    case OpCode::less: return a < b;
    case OpCode::less_equal: return a <= b;
    case OpCode::greater: return a > b;
    case OpCode::greater_equal: return a >= b;
    case OpCode::is_nan: return std::isnan(a);
    case OpCode::is_infinite: return std::isinf(a);
    case OpCode::is_finite: return std::isfinite(a);
    case OpCode::logical_not: return a == 0;
    case OpCode::logical_and: return a * b;
    case OpCode::logical_or: return a + b > 0;
    case OpCode::logical_xor: return a != b;
    case OpCode::select: return a != 0 ? b : c;
    case OpCode::clamp: return std::fmin(std::fmax(a, b), c);
    default:
      ADD_FAILURE() << info(code).name << " has no reference: add a case to elementwise() of tests/cpp/references.h";
      return 0;
  }
}

// Of all elements that go into one result.
inline double reduction(OpCode code, DType dtype, const std::vector<double>& group) {
  const auto fold = [&](double initial, auto f) { return std::accumulate(group.begin(), group.end(), initial, f); };
  const auto truncated = [&](double v) { return dtype == DType::float32 ? v : std::trunc(v); };
  const double count = static_cast<double>(group.size()), sum = fold(0, std::plus<>()), mean = sum / count;
  switch (code) {
    case OpCode::sum: return sum;
    case OpCode::product: return fold(1, std::multiplies<>());
    case OpCode::max: return fold(-INFINITY, [](double a, double b) { return std::fmax(a, b); });
    case OpCode::min: return fold(INFINITY, [](double a, double b) { return std::fmin(a, b); });
    case OpCode::mean: return truncated(mean);
    case OpCode::variance:
      if (dtype != DType::float32) {  // exact: the squares are small integers
        const double squares = fold(0, [](double total, double v) { return total + v * v; });
        return std::trunc((count * squares - sum * sum) / (count * count));
      }
      return fold(0, [&](double total, double v) { return total + (v - mean) * (v - mean); }) / count;
    default:
      ADD_FAILURE() << info(code).name << " has no reference: add a case to reduction() of tests/cpp/references.h";
      return 0;
  }
}

}  // namespace alloy::test
