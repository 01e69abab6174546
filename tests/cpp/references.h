// Elementwise ops and reductions in double precision, and how their operands broadcast: the reference for kernels
// (cpu/) and for whole graphs (interpreter.h). An elementwise op is its row of the table (table_rows.h), whose formula
// tests/python/cases.py compares with NumPy; a reduction is written out here. No other arithmetic is shared with what
// is tested.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "indexing.h"
#include "ir/graph.h"
#include "table_rows.h"

namespace alloy::test {

using namespace ir;

// An elementwise op of the table, of up to three operands, the last of which has that type.
inline double elementwise(OpCode code, DType dtype, double a, double b, double c) {
  if (code == OpCode::select) a = a != 0;  // a predicate is of a type of its own
  const auto of = [&]<class T>(T) -> double {
    using N = Number<T>;
    return table_row<double>(code, [&](auto row) -> double {
      using Row = decltype(row);
      if constexpr (!is_of<T>(Row::kTypes)) return NAN;
      else return static_cast<double>(Row::of(N(), static_cast<N>(a), static_cast<N>(b), static_cast<N>(c)));
    });
  };
  switch (dtype) {
    case DType::float32: return of(float());
    case DType::int32: return of(int32_t());
    case DType::int64: return of(int64_t());
    default: return of(Bool());
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
    case OpCode::max_propagate_nan:
      return fold(-INFINITY, [](double a, double b) { return std::isnan(a) || b > a ? b : std::isnan(b) ? b : a; });
    case OpCode::min_propagate_nan:
      return fold(INFINITY, [](double a, double b) { return std::isnan(a) || b < a ? b : std::isnan(b) ? b : a; });
    case OpCode::all: return fold(1, [](double a, double b) { return a != 0 && b != 0 ? 1 : 0; });
    case OpCode::any: return fold(0, [](double a, double b) { return a != 0 || b != 0 ? 1 : 0; });
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
