// The functions of the columns forward, init and combine of ops.def, for single numbers: double, int32, int64 and
// uint64. Integers wrap around. d is a value of the number's type. tests/python/cases.py compares the rows with NumPy;
// tests that use these functions show that vectors, tails, threads and fused chains compute the same.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace alloy::reference {

template <class N>
using Unsigned = std::make_unsigned_t<N>;

template <class N>
N Zero(N) {
  return 0;
}
template <class N>
N One(N) {
  return 1;
}
template <class N>
N Lowest(N) {
  if constexpr (std::is_floating_point_v<N>) return -std::numeric_limits<N>::infinity();
  else return std::numeric_limits<N>::lowest();
}
template <class N>
N Highest(N) {
  if constexpr (std::is_floating_point_v<N>) return std::numeric_limits<N>::infinity();
  else return std::numeric_limits<N>::max();
}

template <class N>
bool Eq(N, N a, N b) {
  return a == b;
}
template <class N>
bool Ne(N, N a, N b) {
  return a != b;
}
template <class N>
bool Lt(N, N a, N b) {
  return a < b;
}
template <class N>
bool Gt(N, N a, N b) {
  return a > b;
}
template <class N>
bool Le(N, N a, N b) {
  return a <= b;
}
template <class N>
bool Ge(N, N a, N b) {
  return a >= b;
}
template <class N, class Predicate>
N IfThenElse(N, Predicate predicate, N yes, N no) {
  return predicate ? yes : no;
}

// Skips NaN.
template <class N>
N Min(N, N a, N b) {
  if constexpr (std::is_floating_point_v<N>) return std::fmin(a, b);
  else return a < b ? a : b;
}
template <class N>
N Max(N, N a, N b) {
  if constexpr (std::is_floating_point_v<N>) return std::fmax(a, b);
  else return a > b ? a : b;
}

template <class N>
N Add(N, N a, N b) {
  if constexpr (std::is_floating_point_v<N>) return a + b;
  else return static_cast<N>(static_cast<Unsigned<N>>(a) + static_cast<Unsigned<N>>(b));
}
template <class N>
N Sub(N, N a, N b) {
  if constexpr (std::is_floating_point_v<N>) return a - b;
  else return static_cast<N>(static_cast<Unsigned<N>>(a) - static_cast<Unsigned<N>>(b));
}
template <class N>
N Mul(N, N a, N b) {
  if constexpr (std::is_floating_point_v<N>) return a * b;
  else return static_cast<N>(static_cast<Unsigned<N>>(a) * static_cast<Unsigned<N>>(b));
}
// Truncates integers toward zero; dividing by 0 gives 0.
template <class N>
N Div([[maybe_unused]] N d, N a, N b) {
  if constexpr (std::is_floating_point_v<N>) return a / b;
  else if constexpr (std::is_unsigned_v<N>) return b == 0 ? 0 : a / b;
  else return b == 0 ? 0 : b == -1 ? Sub(d, N{0}, a) : a / b;
}
inline double DivNoNan(double, double a, double b) { return b == 0 ? 0 : a / b; }
template <class N>
N Pow(N d, N a, N b) {
  if constexpr (std::is_floating_point_v<N>) {
    return std::pow(a, b);
  } else {
    if constexpr (std::is_signed_v<N>) {
      if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    }
    N power = 1;
    for (; b > 0; b >>= 1, a = Mul(d, a, a)) {
      if (b % 2 == 1) power = Mul(d, power, a);
    }
    return power;
  }
}
template <class N>
N Neg(N d, N x) {
  if constexpr (std::is_floating_point_v<N>) return -x;
  else return Sub(d, N{0}, x);
}
template <class N>
N Abs(N d, N x) {
  if constexpr (std::is_floating_point_v<N>) return std::fabs(x);
  else return x < 0 ? Neg(d, x) : x;
}
// x itself if it is zero; 0 for NaN.
template <class N>
N Sign(N, N x) {
  return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? x : 0;
}

// Every number but zero is true.
template <class N>
N Truth(N, N x) {
  return x != 0;
}
// For truth values, 0 or 1.
template <class N>
N Not(N, N x) {
  return x == 0;
}
template <class N>
N And(N, N a, N b) {
  return a != 0 && b != 0;
}
template <class N>
N Or(N, N a, N b) {
  return a != 0 || b != 0;
}
template <class N>
N Xor(N, N a, N b) {
  return (a != 0) != (b != 0);
}

inline bool IsNaN(double, double x) { return std::isnan(x); }
inline bool IsInf(double, double x) { return std::isinf(x); }
inline bool IsFinite(double, double x) { return std::isfinite(x); }
inline double Sqrt(double, double x) { return std::sqrt(x); }
inline double Exp(double, double x) { return std::exp(x); }
inline double Log(double, double x) { return std::log(x); }
inline double Log2(double, double x) { return std::log2(x); }
inline double Tanh(double, double x) { return std::tanh(x); }
inline double Sigmoid(double, double x) { return 1 / (1 + std::exp(-x)); }

inline double MinOrNaN(double, double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b); }
inline double MaxOrNaN(double, double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b); }
inline double Log10(double, double x) { return std::log10(x); }
inline double Exp2(double, double x) { return std::exp2(x); }
inline double Exp10(double, double x) { return std::pow(10.0, x); }
inline double Erf(double, double x) { return std::erf(x); }
inline double Sin(double, double x) { return std::sin(x); }
inline double Cos(double, double x) { return std::cos(x); }
inline double Tan(double, double x) { return std::tan(x); }
inline double Sinh(double, double x) { return std::sinh(x); }
inline double Cosh(double, double x) { return std::cosh(x); }
inline double Asin(double, double x) { return std::asin(x); }
inline double Acos(double, double x) { return std::acos(x); }
inline double Atan(double, double x) { return std::atan(x); }
inline double Asinh(double, double x) { return std::asinh(x); }
inline double Acosh(double, double x) { return std::acosh(x); }
inline double Atanh(double, double x) { return std::atanh(x); }
inline double Atan2(double, double a, double b) { return std::atan2(a, b); }

// Integers are unchanged.
#define ALLOY_ROUNDING(Name, function)                                  \
  template <class N>                                                    \
  N Name(N, N x) {                                                      \
    if constexpr (std::is_floating_point_v<N>) return std::function(x); \
    else return x;                                                      \
  }
ALLOY_ROUNDING(Floor, floor)
ALLOY_ROUNDING(Ceil, ceil)
ALLOY_ROUNDING(Round, round)
ALLOY_ROUNDING(Rint, nearbyint)
ALLOY_ROUNDING(Trunc, trunc)
#undef ALLOY_ROUNDING

template <class N>
N SignBit(N, N x) {
  if constexpr (std::is_floating_point_v<N>) return std::signbit(x);
  else return x < 0;
}
template <class N>
N Mod(N d, N a, N b) {
  if constexpr (std::is_floating_point_v<N>) return std::fmod(a, b);
  else return Sub(d, a, Mul(d, Div(d, a, b), b));
}
template <class N>
N FloorMod(N d, N a, N b) {
  if (b == 0) return 0;
  const N rest = Mod(d, a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? Add(d, rest, b) : rest;
}
template <class N>
N BitNot(N, N x) {
  return ~x;
}
template <class N>
N BitAnd(N, N a, N b) {
  return a & b;
}
template <class N>
N BitOr(N, N a, N b) {
  return a | b;
}
template <class N>
N BitXor(N, N a, N b) {
  return a ^ b;
}
template <class N>
N PopulationCount(N, N x) {
  N count = 0;
  for (Unsigned<N> bits = static_cast<Unsigned<N>>(x); bits != 0; bits &= bits - 1) ++count;
  return count;
}
template <class N>
N ShiftLeft(N, N a, N b) {
  if (b < 0 || b >= static_cast<N>(8 * sizeof(N))) return 0;
  return static_cast<N>(static_cast<Unsigned<N>>(a) << b);
}
template <class N>
N ShiftRight(N, N a, N b) {
  if (b < 0 || b >= static_cast<N>(8 * sizeof(N))) return a < 0 ? static_cast<N>(-1) : 0;
  return a >> b;
}

}  // namespace alloy::reference
