// The words of ops.def's columns forward, init and combine, for vectors of float, double, int32, int64, uint64 and
// bytes. Included once per instruction set. d is the vector's tag; other arguments are vectors or masks. Functions of
// float are within 4 ulp of the true value.
#if defined(ALLOY_KERNELS_VOCABULARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ALLOY_KERNELS_VOCABULARY_INL_H_
#undef ALLOY_KERNELS_VOCABULARY_INL_H_
#else
#define ALLOY_KERNELS_VOCABULARY_INL_H_
#endif

#include <cmath>
#include <limits>
#include <type_traits>

#include "cpu/simd/targets.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Vec = hn::Vec<D>;
template <class D>
using Mask = decltype(hn::MaskFromVec(hn::Zero(D())));
template <class D>
inline constexpr bool kFloating = hwy::IsFloat<hn::TFromD<D>>();
template <class D>
inline constexpr bool kUnsigned = std::is_unsigned_v<hn::TFromD<D>>;

// ---- constants ----

using hn::Zero;

template <class D>
HWY_INLINE Vec<D> One(D d) {
  return hn::Set(d, hn::TFromD<D>(1));
}

// The number that every other one exceeds, and the number that exceeds every other one.
template <class T>
constexpr T LowestOf() {
  return hwy::IsFloat<T>() ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
}
template <class T>
constexpr T HighestOf() {
  return hwy::IsFloat<T>() ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
}
template <class D>
HWY_INLINE Vec<D> Lowest(D d) {
  return hn::Set(d, LowestOf<hn::TFromD<D>>());
}
template <class D>
HWY_INLINE Vec<D> Highest(D d) {
  return hn::Set(d, HighestOf<hn::TFromD<D>>());
}

// ---- comparisons and choice ----

template <class D>
HWY_INLINE Mask<D> Eq(D, Vec<D> a, Vec<D> b) {
  return hn::Eq(a, b);
}
template <class D>
HWY_INLINE Mask<D> Ne(D, Vec<D> a, Vec<D> b) {
  return hn::Not(hn::Eq(a, b));
}  // on x86, Highway's function is false for NaN
template <class D>
HWY_INLINE Mask<D> Lt(D, Vec<D> a, Vec<D> b) {
  return hn::Lt(a, b);
}
template <class D>
HWY_INLINE Mask<D> Gt(D, Vec<D> a, Vec<D> b) {
  return hn::Gt(a, b);
}
template <class D>
HWY_INLINE Mask<D> Le(D, Vec<D> a, Vec<D> b) {
  if constexpr (kFloating<D>) return hn::Le(a, b);
  else return hn::Not(hn::Gt(a, b));
}
template <class D>
HWY_INLINE Mask<D> Ge(D, Vec<D> a, Vec<D> b) {
  if constexpr (kFloating<D>) return hn::Ge(a, b);
  else return hn::Not(hn::Lt(a, b));
}

template <class D>
HWY_INLINE Mask<D> IsNaN(D, Vec<D> x) {
  return hn::IsNaN(x);
}
template <class D>
HWY_INLINE Mask<D> IsInf(D, Vec<D> x) {
  return hn::IsInf(x);
}
template <class D>
HWY_INLINE Mask<D> IsFinite(D, Vec<D> x) {
  return hn::IsFinite(x);
}

// 1 for anything but 0 (also for NaN), else 0.
template <class D>
HWY_INLINE Vec<D> Truth(D d, Vec<D> x) {
  return hn::IfThenElse(Ne(d, x, Zero(d)), One(d), Zero(d));
}
// For truth values: vectors of 0 and 1.
template <class D>
HWY_INLINE Vec<D> Not(D d, Vec<D> x) {
  return hn::Xor(x, One(d));
}
template <class D>
HWY_INLINE Vec<D> And(D, Vec<D> a, Vec<D> b) {
  return hn::And(a, b);
}
template <class D>
HWY_INLINE Vec<D> Or(D, Vec<D> a, Vec<D> b) {
  return hn::Or(a, b);
}
template <class D>
HWY_INLINE Vec<D> Xor(D, Vec<D> a, Vec<D> b) {
  return hn::Xor(a, b);
}

template <class D>
HWY_INLINE Vec<D> IfThenElse(D, Mask<D> predicate, Vec<D> yes, Vec<D> no) {
  return hn::IfThenElse(predicate, yes, no);
}

// Like fmin and fmax: of a NaN and a number, the number.
template <class D>
HWY_INLINE Vec<D> Min(D, Vec<D> a, Vec<D> b) {
  if constexpr (kFloating<D>) return hn::IfThenElse(hn::IsNaN(b), a, hn::IfThenElse(hn::IsNaN(a), b, hn::Min(a, b)));
  else return hn::Min(a, b);
}
template <class D>
HWY_INLINE Vec<D> Max(D, Vec<D> a, Vec<D> b) {
  if constexpr (kFloating<D>) return hn::IfThenElse(hn::IsNaN(b), a, hn::IfThenElse(hn::IsNaN(a), b, hn::Max(a, b)));
  else return hn::Max(a, b);
}

template <class D>
HWY_INLINE Vec<D> MinOrNaN(D, Vec<D> a, Vec<D> b) {
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, hn::Min(a, b)));
}
template <class D>
HWY_INLINE Vec<D> MaxOrNaN(D, Vec<D> a, Vec<D> b) {
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, hn::Max(a, b)));
}

// ---- arithmetic; integers wrap around ----

// Applies f to each lane, for functions that the instruction sets lack.
template <class D, class F>
HWY_INLINE Vec<D> ByLane(D d, Vec<D> a, Vec<D> b, const F& f) {
  HWY_ALIGN hn::TFromD<D> x[hn::MaxLanes(d)];
  HWY_ALIGN hn::TFromD<D> y[hn::MaxLanes(d)];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  for (size_t i = 0; i < hn::Lanes(d); ++i) x[i] = f(x[i], y[i]);
  return hn::Load(d, x);
}

template <class T>
HWY_INLINE T WrappingProduct(T a, T b) {
  using U = hwy::MakeUnsigned<T>;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}

// Truncates toward zero. The machine traps at x / 0, which is 0 here, and at the least number / -1, which is the least
// number here.
template <class T>
HWY_INLINE T IntegerQuotient(T a, T b) {
  using U = hwy::MakeUnsigned<T>;
  if (b == 0) return 0;
  if constexpr (std::is_unsigned_v<T>) return a / b;
  else return b == -1 ? static_cast<T>(U{0} - static_cast<U>(a)) : static_cast<T>(a / b);
}

// Exact where the result fits. A negative exponent gives the reciprocal, truncated; it is 0 for base 0.
template <class T>
HWY_INLINE T IntegerPower(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  T power = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) power = WrappingProduct(power, base);
    base = WrappingProduct(base, base);
  }
  return power;
}

template <class D>
HWY_INLINE Vec<D> Add(D, Vec<D> a, Vec<D> b) {
  return hn::Add(a, b);
}
template <class D>
HWY_INLINE Vec<D> Sub(D, Vec<D> a, Vec<D> b) {
  return hn::Sub(a, b);
}
template <class D>
HWY_INLINE Vec<D> Mul([[maybe_unused]] D d, Vec<D> a, Vec<D> b) {
  using T = hn::TFromD<D>;
  if constexpr (!hwy::IsFloat<T>() && sizeof(T) == 8) return ByLane(d, a, b, WrappingProduct<T>);
  else return hn::Mul(a, b);
}
template <class D>
HWY_INLINE Vec<D> Div([[maybe_unused]] D d, Vec<D> a, Vec<D> b) {
  if constexpr (kFloating<D>) return hn::Div(a, b);
  else return ByLane(d, a, b, IntegerQuotient<hn::TFromD<D>>);
}
template <class D>
HWY_INLINE Vec<D> DivNoNan(D d, Vec<D> a, Vec<D> b) {
  return hn::IfThenElse(hn::Eq(b, Zero(d)), Zero(d), hn::Div(a, b));
}
template <class D>
HWY_INLINE Vec<D> Pow(D d, Vec<D> a, Vec<D> b) {
  using T = hn::TFromD<D>;
  if constexpr (kFloating<D>) return ByLane(d, a, b, [](T x, T y) HWY_ATTR { return std::pow(x, y); });
  else return ByLane(d, a, b, IntegerPower<T>);
}
template <class D>
HWY_INLINE Vec<D> Neg([[maybe_unused]] D d, Vec<D> x) {
  if constexpr (kUnsigned<D>) return hn::Sub(Zero(d), x);
  else return hn::Neg(x);
}
template <class D>
HWY_INLINE Vec<D> Abs([[maybe_unused]] D d, Vec<D> x) {
  if constexpr (kUnsigned<D>) return x;
  else if constexpr (kFloating<D>) return hn::Abs(x);
  else return hn::IfThenElse(hn::Lt(x, Zero(d)), hn::Neg(x), x);
}
template <class D>
HWY_INLINE Vec<D> Sqrt(D, Vec<D> x) {
  return hn::Sqrt(x);
}

// The remainder of the truncated quotient; for integers, a itself if b is 0.
template <class D>
HWY_INLINE Vec<D> Mod(D d, Vec<D> a, Vec<D> b) {
  using T = hn::TFromD<D>;
  if constexpr (kFloating<D>) return ByLane(d, a, b, [](T x, T y) HWY_ATTR { return std::fmod(x, y); });
  else return hn::Sub(a, Mul(d, Div(d, a, b), b));
}
// The remainder of the quotient that is rounded down; a zero has the sign of b. For integers, 0 if b is 0.
template <class D>
HWY_INLINE Vec<D> FloorMod(D d, Vec<D> a, Vec<D> b) {
  const auto zero = Zero(d), rest = Mod(d, a, b);
  const auto differ = hn::Xor(hn::Lt(rest, zero), hn::Lt(b, zero));
  auto turned = hn::IfThenElse(hn::And(Ne(d, rest, zero), differ), hn::Add(rest, b), rest);
  if constexpr (kFloating<D>) turned = hn::IfThenElse(hn::Eq(rest, zero), hn::CopySign(zero, b), turned);
  return hn::IfThenElse(hn::Eq(b, zero), zero, turned);
}

template <class D>
HWY_INLINE Vec<D> BitNot(D, Vec<D> x) {
  return hn::Not(x);
}
template <class D>
HWY_INLINE Vec<D> BitAnd(D, Vec<D> a, Vec<D> b) {
  return hn::And(a, b);
}
template <class D>
HWY_INLINE Vec<D> BitOr(D, Vec<D> a, Vec<D> b) {
  return hn::Or(a, b);
}
template <class D>
HWY_INLINE Vec<D> BitXor(D, Vec<D> a, Vec<D> b) {
  return hn::Xor(a, b);
}
template <class D>
HWY_INLINE Vec<D> PopulationCount(D d, Vec<D> x) {
  const hn::RebindToUnsigned<D> du;
  return hn::BitCast(d, hn::PopulationCount(hn::BitCast(du, x)));
}
// Shifts by the width or more give 0.
template <class D>
HWY_INLINE Vec<D> ShiftLeft(D d, Vec<D> a, Vec<D> b) {
  using T = hn::TFromD<D>;
  using U = hwy::MakeUnsigned<T>;
  return ByLane(d, a, b, [](T x, T y) HWY_ATTR {
    return static_cast<U>(y) < sizeof(T) * 8 ? static_cast<T>(static_cast<U>(x) << static_cast<U>(y)) : T{0};
  });
}
template <class D>
HWY_INLINE Vec<D> ShiftRight(D d, Vec<D> a, Vec<D> b) {
  using T = hn::TFromD<D>;
  using U = hwy::MakeUnsigned<T>;
  return ByLane(d, a, b, [](T x, T y) HWY_ATTR {
    return static_cast<U>(y) < sizeof(T) * 8 ? static_cast<T>(x >> y) : x < T{0} ? static_cast<T>(-1) : T{0};
  });
}

// 1 if x is negative, also for -0.
template <class D>
HWY_INLINE Vec<D> SignBit(D d, Vec<D> x) {
  if constexpr (kUnsigned<D>) {
    return Zero(d);
  } else {
    const hn::RebindToSigned<D> di;
    const auto negative = hn::MaskFromVec(hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(di, x))));
    return hn::IfThenElse(negative, One(d), Zero(d));
  }
}

// At zero the result is x, which keeps the sign of -0.
template <class D>
HWY_INLINE Vec<D> Sign(D d, Vec<D> x) {
  const auto zero = Zero(d);
  const auto at_zero = hn::IfThenElse(hn::Eq(x, zero), x, zero);
  const auto below = hn::IfThenElse(hn::Lt(x, zero), Neg(d, One(d)), at_zero);
  return hn::IfThenElse(hn::Gt(x, zero), One(d), below);
}

// ---- functions of float ----

// Horner's rule, from the highest coefficient on.
template <class D>
HWY_INLINE Vec<D> Polynomial(D d, Vec<D>, float c) {
  return hn::Set(d, c);
}
template <class D, class... Rest>
HWY_INLINE Vec<D> PolynomialFrom(D d, Vec<D> x, Vec<D> sum, float c, Rest... rest) {
  const auto next = hn::MulAdd(sum, x, hn::Set(d, c));
  if constexpr (sizeof...(rest) == 0) return next;
  else return PolynomialFrom(d, x, next, rest...);
}
template <class D, class... Rest>
HWY_INLINE Vec<D> Polynomial(D d, Vec<D> x, float c, Rest... rest) {
  return PolynomialFrom(d, x, hn::Set(d, c), rest...);
}

// ln 2 as a sum: the first summand has so few digits that its product with an exponent is exact.
inline constexpr float kLn2High = 0.693359375f;
inline constexpr float kLn2Low = -2.12194440e-4f;

// 2^n for a normal exponent n.
template <class D, class VI>
HWY_INLINE Vec<D> PowerOfTwo(D d, VI n) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

// e^r for |r| <= ln(2) / 2, by a polynomial (Cephes).
template <class D>
HWY_INLINE Vec<D> ExpNearZero(D d, Vec<D> r) {
  const auto p = Polynomial(d, r, 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                            1.6666665459e-1f, 5.0000001201e-1f);
  return hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), One(d));
}

// e^x = 2^n e^r with |r| <= ln(2) / 2. Up to |x| = 87, 2^n is a normal number, and n is found by adding 3 * 2^22, whose
// unit in the last place is 1. For other x, also NaN, 2^n is applied as two factors, so that very small and very large
// results round correctly.
template <class D>
HWY_INLINE Vec<D> Exp(D d, Vec<D> x) {
  const hn::RebindToSigned<D> di;
  const auto per_ln2 = hn::Set(d, 1.44269504088896341f);
  const auto rest = [&](Vec<D> from, Vec<D> nf) HWY_ATTR {
    return hn::NegMulAdd(nf, hn::Set(d, kLn2Low), hn::NegMulAdd(nf, hn::Set(d, kLn2High), from));
  };
  if (HWY_LIKELY(hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, 87.0f))))) {
    const auto units = hn::Set(d, 12582912.0f);
    const auto n = hn::MulAdd(x, per_ln2, units);
    const auto bits = hn::ShiftLeft<23>(hn::Add(hn::BitCast(di, n), hn::Set(di, 127)));
    return hn::Mul(ExpNearZero(d, rest(x, hn::Sub(n, units))), hn::BitCast(d, bits));
  }
  const auto held = hn::Min(hn::Max(x, hn::Set(d, -105.0f)), hn::Set(d, 89.0f));
  const auto n = hn::NearestInt(hn::Mul(held, per_ln2));
  const auto y = ExpNearZero(d, rest(held, hn::ConvertTo(d, n)));
  const auto half = hn::ShiftRight<1>(n);
  const auto scaled = hn::Mul(hn::Mul(y, PowerOfTwo(d, half)), PowerOfTwo(d, hn::Sub(n, half)));
  return hn::IfThenElse(hn::IsNaN(x), x, scaled);
}

// Writes a positive x as 2^e m with m in [sqrt(1/2), sqrt(2)). f = m - 1, square = f^2, and `rest` is a polynomial in f
// (Cephes) for ln m - f + f^2 / 2.
template <class D>
struct LogarithmParts {
  Vec<D> e, f, square, rest;
};
template <class D>
HWY_INLINE LogarithmParts<D> PartsOfLogarithm(D d, Vec<D> x) {
  const hn::RebindToSigned<D> di;
  const auto subnormal = hn::Lt(x, hn::Set(d, std::numeric_limits<float>::min()));
  const auto normal = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, 33554432.0f)), x);  // 2^25
  const auto bits = hn::BitCast(di, normal);
  const auto e = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));  // the bits of sqrt(1/2)
  const auto m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(e)));
  const auto ef = hn::Sub(hn::ConvertTo(d, e), hn::IfThenElseZero(subnormal, hn::Set(d, 25.0f)));
  const auto f = hn::Sub(m, One(d));
  const auto z = hn::Mul(f, f);
  const auto p = Polynomial(d, f, 7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f,
                            1.4249322787e-1f, -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f);
  return {ef, f, z, hn::Mul(hn::Mul(f, z), p)};
}

// y for positive finite x; otherwise -inf at 0, inf at inf, NaN.
template <class D>
HWY_INLINE Vec<D> LogarithmOrEdge(D d, Vec<D> x, Vec<D> y) {
  const auto infinity = Highest(d);
  const auto edge = hn::IfThenElse(
      hn::Eq(x, Zero(d)), hn::Neg(infinity),
      hn::IfThenElse(hn::Eq(x, infinity), infinity, hn::Set(d, std::numeric_limits<float>::quiet_NaN())));
  return hn::IfThenElse(hn::And(hn::Gt(x, Zero(d)), hn::Lt(x, infinity)), y, edge);
}

// e ln 2 + ln m.
template <class D>
HWY_INLINE Vec<D> Log(D d, Vec<D> x) {
  const auto parts = PartsOfLogarithm(d, x);
  auto y = hn::MulAdd(parts.e, hn::Set(d, kLn2Low), parts.rest);
  y = hn::NegMulAdd(hn::Set(d, 0.5f), parts.square, y);
  y = hn::MulAdd(parts.e, hn::Set(d, kLn2High), hn::Add(parts.f, y));
  return LogarithmOrEdge(d, x, y);
}

// e + ln m / ln 2. The factor is split into 1 and the rest, so powers of 2 are exact (Cephes).
template <class D>
HWY_INLINE Vec<D> Log2(D d, Vec<D> x) {
  const auto parts = PartsOfLogarithm(d, x);
  const auto more = hn::Set(d, 0.44269504088896340736f);
  const auto rest = hn::NegMulAdd(hn::Set(d, 0.5f), parts.square, parts.rest);
  const auto y = hn::MulAdd(parts.f, more, hn::Mul(rest, more));
  return LogarithmOrEdge(d, x, hn::Add(parts.e, hn::Add(parts.f, hn::Add(rest, y))));
}

// e^x for x <= 0 as scale * (1 + more), where scale is a power of two; 0 if the result is not a normal number.
template <class D>
struct FallingExp {
  Vec<D> scale, more;
};
template <class D>
HWY_INLINE FallingExp<D> FallingExpOf(D d, Vec<D> x) {
  const auto least = hn::Set(d, -87.33654f);
  const auto held = hn::IfThenElse(hn::Lt(x, least), least, x);  // keeps NaN
  const auto n = hn::NearestInt(hn::Mul(held, hn::Set(d, 1.44269504088896341f)));
  const auto nf = hn::ConvertTo(d, n);
  const auto r = hn::NegMulAdd(nf, hn::Set(d, kLn2Low), hn::NegMulAdd(nf, hn::Set(d, kLn2High), held));
  const auto p = Polynomial(d, r, 1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                            1.6666665459e-1f, 5.0000001201e-1f);
  const auto scale = hn::IfThenElseZero(hn::Not(hn::Lt(x, least)), PowerOfTwo(d, n));
  return {scale, hn::MulAdd(p, hn::Mul(r, r), r)};
}

// (1 - e) / (1 + e) with e = e^-2|x|. Near 0, 1 - e loses no digits, because the polynomial gives e^r - 1.
template <class D>
HWY_INLINE Vec<D> Tanh(D d, Vec<D> x) {
  const auto a = hn::Abs(x);
  const auto e = FallingExpOf(d, hn::Mul(a, hn::Set(d, -2.0f)));
  const auto less = hn::NegMulAdd(e.scale, e.more, hn::Sub(One(d), e.scale));
  const auto y = hn::Div(less, hn::Sub(hn::Set(d, 2.0f), less));
  return hn::CopySign(y, x);  // also of -0
}

// Both signs use e^-|x|, which cannot overflow.
template <class D>
HWY_INLINE Vec<D> Sigmoid(D d, Vec<D> x) {
  const auto e = Exp(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, Zero(d)), e, One(d)), hn::Add(One(d), e));
}

// ---- rounding, trigonometry; rare functions are computed one lane at a time ----

// Keeps the sign of x, which some instruction sets lose for a zero.
template <class D>
HWY_INLINE Vec<D> Floor(D, Vec<D> x) {
  if constexpr (kFloating<D>) return hn::CopySign(hn::Floor(x), x);
  else return x;
}
template <class D>
HWY_INLINE Vec<D> Ceil(D, Vec<D> x) {
  if constexpr (kFloating<D>) return hn::CopySign(hn::Ceil(x), x);
  else return x;
}
template <class D>
HWY_INLINE Vec<D> Trunc(D, Vec<D> x) {
  if constexpr (kFloating<D>) return hn::Trunc(x);
  else return x;
}
template <class D>
HWY_INLINE Vec<D> Rint(D, Vec<D> x) {
  if constexpr (kFloating<D>) return hn::CopySign(hn::Round(x), x);
  else return x;
}
// Adds slightly less than 1/2, so that a number just below a half is not rounded up by the sum.
template <class D>
HWY_INLINE Vec<D> Round([[maybe_unused]] D d, Vec<D> x) {
  if constexpr (kFloating<D>) return hn::Trunc(hn::Add(x, hn::CopySign(hn::Set(d, 0.49999997F), x)));
  else return x;
}

// 2^n 2^r with |r| <= 1/2.
template <class D>
HWY_INLINE Vec<D> Exp2(D d, Vec<D> x) {
  const auto held = hn::Min(hn::Max(x, hn::Set(d, -151.0F)), hn::Set(d, 129.0F));
  const auto n = hn::NearestInt(held);
  const auto y = Exp(d, hn::Mul(hn::Sub(held, hn::ConvertTo(d, n)), hn::Set(d, 0.69314718F)));
  const auto half = hn::ShiftRight<1>(n);
  const auto scaled = hn::Mul(hn::Mul(y, PowerOfTwo(d, half)), PowerOfTwo(d, hn::Sub(n, half)));
  return hn::IfThenElse(hn::IsNaN(x), x, scaled);
}
template <class D>
HWY_INLINE Vec<D> Exp10(D d, Vec<D> x) {
  return ByLane(d, x, x, [](float v, float) HWY_ATTR { return static_cast<float>(std::pow(10.0, v)); });
}
template <class D>
HWY_INLINE Vec<D> Log10(D d, Vec<D> x) {
  return hn::Mul(Log(d, x), hn::Set(d, 0.43429448F));
}

// sin(x + quarters pi / 2). n is the nearest multiple of pi / 2; the distance from it is exact, because pi / 2 is
// subtracted in four parts, and the products of the first three are exact for n of few digits. Then a polynomial for
// sine or cosine (Cephes).
template <class D>
HWY_INLINE Vec<D> SineOf(D d, Vec<D> x, int quarters) {
  const hn::RebindToSigned<D> di;
  const auto n = hn::NearestInt(hn::Mul(x, hn::Set(d, 0.636619772F)));
  const auto nf = hn::ConvertTo(d, n);
  auto r = hn::NegMulAdd(nf, hn::Set(d, 1.5703125F), x);
  r = hn::NegMulAdd(nf, hn::Set(d, 4.837512969970703125e-4F), r);
  r = hn::NegMulAdd(nf, hn::Set(d, 7.549533620476723e-08F), r);
  r = hn::NegMulAdd(nf, hn::Set(d, 2.56334415e-12F), r);
  const auto z = hn::Mul(r, r);
  const auto sine =
      hn::MulAdd(hn::Mul(Polynomial(d, z, -1.9515295891e-4F, 8.3321608736e-3F, -1.6666654611e-1F), z), r, r);
  const auto cosine = hn::MulAdd(Polynomial(d, z, 2.443315711809948e-5F, -1.388731625493765e-3F, 4.166664568298827e-2F),
                                 hn::Mul(z, z), hn::NegMulAdd(hn::Set(d, 0.5F), z, One(d)));
  const auto quarter = hn::Add(n, hn::Set(di, quarters));
  const auto is_odd = hn::MaskFromVec(hn::BitCast(d, hn::Neg(hn::And(quarter, hn::Set(di, 1)))));
  const auto sign = hn::BitCast(d, hn::ShiftLeft<30>(hn::And(quarter, hn::Set(di, 2))));
  return hn::Xor(hn::IfThenElse(is_odd, cosine, sine), sign);
}
template <class D>
HWY_INLINE bool IsModerate(D d, Vec<D> x) {
  return hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, 8192.0F)));
}
template <class D>
HWY_INLINE Vec<D> Sin(D d, Vec<D> x) {
  // sin(-0) is -0.
  if (HWY_LIKELY(IsModerate(d, x))) return hn::IfThenElse(hn::Eq(x, Zero(d)), x, SineOf(d, x, 0));
  return ByLane(d, x, x, [](float v, float) HWY_ATTR { return std::sin(v); });
}
template <class D>
HWY_INLINE Vec<D> Cos(D d, Vec<D> x) {
  if (HWY_LIKELY(IsModerate(d, x))) return SineOf(d, x, 1);
  return ByLane(d, x, x, [](float v, float) HWY_ATTR { return std::cos(v); });
}
#define ALLOY_BY_LANE(Name, function)                                                 \
  template <class D>                                                                  \
  HWY_INLINE Vec<D> Name(D d, Vec<D> x) {                                             \
    return ByLane(d, x, x, [](float v, float) HWY_ATTR { return std::function(v); }); \
  }
ALLOY_BY_LANE(Tan, tan)
ALLOY_BY_LANE(Sinh, sinh)
ALLOY_BY_LANE(Cosh, cosh)
ALLOY_BY_LANE(Asin, asin)
ALLOY_BY_LANE(Acos, acos)
ALLOY_BY_LANE(Atan, atan)
ALLOY_BY_LANE(Asinh, asinh)
ALLOY_BY_LANE(Acosh, acosh)
ALLOY_BY_LANE(Atanh, atanh)
#undef ALLOY_BY_LANE
template <class D>
HWY_INLINE Vec<D> Atan2(D d, Vec<D> a, Vec<D> b) {
  return ByLane(d, a, b, [](float y, float x) HWY_ATTR { return std::atan2(y, x); });
}

// x times a quotient of polynomials in x^2 that was fitted for this library, up to the least float whose erf rounds
// to 1.
template <class D>
HWY_INLINE Vec<D> Erf(D d, Vec<D> x) {
  const auto a = hn::Min(hn::Abs(x), hn::Set(d, 3.9192F));
  const auto z = hn::Mul(a, a);
  const auto above = hn::Mul(
      a, Polynomial(d, z, 2.0507382e-06F, 0.00028488852F, 0.00376449176F, 0.0527453832F, 0.190376148F, 1.12837911F));
  const auto below = Polynomial(d, z, 3.80987331e-05F, 0.00116231979F, 0.014966948F, 0.114097185F, 0.502049208F, 1.0F);
  const auto y = hn::CopySign(hn::Min(hn::Div(above, below), One(d)), x);
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#endif
