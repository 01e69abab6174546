#include "cpu/elementwise/steps.h"

#include <string_view>

#include "ir/graph.h"
#include "ir/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/elementwise/steps.cpp"
#include "cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/lanes-inl.h"
#include "cpu/simd/vocabulary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

using ir::DType;
using ir::OpCode;
using ir::TypeClass;

// A bool is a byte; any value but 0 is true. Steps compute with 0 and 1.
template <class D>
HWY_INLINE Vec<D> LoadElements(D d, const std::byte* p, size_t i) {
  const auto v = hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(p) + i);
  if constexpr (sizeof(hn::TFromD<D>) == 1) return hn::Min(v, One(d));
  else return v;
}

template <class D>
HWY_INLINE void StoreElements(D d, Vec<D> v, std::byte* p, size_t i) {
  hn::StoreU(v, d, reinterpret_cast<hn::TFromD<D>*>(p) + i);
}

template <class T>
constexpr bool Accepts(TypeClass types) {
  constexpr bool is_bool = sizeof(T) == 1;
  switch (types) {
    case TypeClass::floating: return hwy::IsFloat<T>();
    case TypeClass::numeric: return !is_bool;
    case TypeClass::integer: return !is_bool && !hwy::IsFloat<T>();
    case TypeClass::any: return true;
  }
  return false;
}

constexpr TypeClass LastOf(TypeClass, TypeClass, TypeClass last) { return last; }
constexpr auto floating = TypeClass::floating;
constexpr auto numeric = TypeClass::numeric;
constexpr auto integer = TypeClass::integer;
constexpr auto any = TypeClass::any;

// One struct for each row: its type class and its forward expression.
#define ALLOY_UNARY(name, stem, types, domain, forward, gradient, doc) \
  struct Row_##name {                                                  \
    static constexpr TypeClass kTypes = types;                         \
    template <class D>                                                 \
    static HWY_INLINE Vec<D> Of([[maybe_unused]] D d, Vec<D> x) {      \
      return forward;                                                  \
    }                                                                  \
  };
#define ALLOY_ACTIVATION ALLOY_UNARY
#define ALLOY_PREDICATE(name, stem, types, domain, forward, doc)   \
  struct Row_##name {                                              \
    static constexpr TypeClass kTypes = types;                     \
    template <class D>                                             \
    static HWY_INLINE Mask<D> Of([[maybe_unused]] D d, Vec<D> x) { \
      return forward;                                              \
    }                                                              \
  };
#define ALLOY_BINARY(name, stem, types, domain, forward, gradient_a, gradient_b, doc) \
  struct Row_##name {                                                                 \
    static constexpr TypeClass kTypes = types;                                        \
    template <class D>                                                                \
    static HWY_INLINE Vec<D> Of([[maybe_unused]] D d, Vec<D> a, Vec<D> b) {           \
      return forward;                                                                 \
    }                                                                                 \
  };
#define ALLOY_ACTIVATION_GRADIENT(name, stem, types, forward, gradient_g, gradient_x, doc) \
  struct Row_##name {                                                                      \
    static constexpr TypeClass kTypes = types;                                             \
    template <class D>                                                                     \
    static HWY_INLINE Vec<D> Of([[maybe_unused]] D d, Vec<D> g, Vec<D> x) {                \
      return forward;                                                                      \
    }                                                                                      \
  };
#define ALLOY_COMPARISON(name, stem, types, domain, forward, doc)            \
  struct Row_##name {                                                        \
    static constexpr TypeClass kTypes = types;                               \
    template <class D>                                                       \
    static HWY_INLINE Mask<D> Of([[maybe_unused]] D d, Vec<D> a, Vec<D> b) { \
      return forward;                                                        \
    }                                                                        \
  };
#define ALLOY_TERNARY(name, types, forward, gradient_a, gradient_b, gradient_c, doc) \
  struct Row_##name {                                                                \
    static constexpr TypeClass kTypes = LastOf types;                                \
    template <class D, class A>                                                      \
    static HWY_INLINE Vec<D> Of([[maybe_unused]] D d, A a, Vec<D> b, Vec<D> c) {     \
      return forward;                                                                \
    }                                                                                \
  };
#include "ir/ops.def"

// ---- a loop for each kind of row ----

// A store of a vector may change any memory, so the loops keep the pointers in variables of their own.

template <class T, class Row>
struct Unary {
  static void Run(const std::byte* const* in, std::byte* const* out, size_t count) {
    const hn::ScalableTag<T> d;
    const std::byte* x = in[0];
    std::byte* y = out[0];
    for (size_t i = 0; i < count; i += hn::Lanes(d)) StoreElements(d, Row::Of(d, LoadElements(d, x, i)), y, i);
  }
};

template <class T, class Row>
struct Binary {
  static void Run(const std::byte* const* in, std::byte* const* out, size_t count) {
    const hn::ScalableTag<T> d;
    const std::byte *a = in[0], *b = in[1];
    std::byte* y = out[0];
    for (size_t i = 0; i < count; i += hn::Lanes(d)) {
      StoreElements(d, Row::Of(d, LoadElements(d, a, i), LoadElements(d, b, i)), y, i);
    }
  }
};

template <class T, class Row>
struct Ternary {
  static void Run(const std::byte* const* in, std::byte* const* out, size_t count) {
    const hn::ScalableTag<T> d;
    const std::byte *a = in[0], *b = in[1], *c = in[2];
    std::byte* y = out[0];
    for (size_t i = 0; i < count; i += hn::Lanes(d)) {
      StoreElements(d, Row::Of(d, LoadElements(d, a, i), LoadElements(d, b, i), LoadElements(d, c, i)), y, i);
    }
  }
};

// Converts lanes of T to bytes, or bytes to lanes, one quantum at a time, in loops that the compiler vectorises.
template <class T, class F>
HWY_INLINE void StoreTruth(std::byte* out, size_t count, const F& holds_at) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  HWY_ALIGN hwy::MakeUnsigned<T> wide[kStepQuantum];
  for (size_t begin = 0; begin < count; begin += kStepQuantum) {
    for (size_t i = 0; i < kStepQuantum; i += hn::Lanes(d)) {
      hn::Store(hn::BitCast(du, hn::VecFromMask(d, holds_at(d, begin + i))), du, wide + i);
    }
    auto* bytes = reinterpret_cast<uint8_t*>(out) + begin;
    for (size_t i = 0; i < kStepQuantum; ++i) bytes[i] = static_cast<uint8_t>(wide[i] & 1);
  }
}

template <class T, class Row>
struct Predicate {
  static void Run(const std::byte* const* in, std::byte* const* out, size_t count) {
    const std::byte* x = in[0];
    StoreTruth<T>(out[0], count, [x](auto d, size_t i) HWY_ATTR { return Row::Of(d, LoadElements(d, x, i)); });
  }
};

template <class T, class Row>
struct Comparison {
  static void Run(const std::byte* const* in, std::byte* const* out, size_t count) {
    const std::byte *a = in[0], *b = in[1];
    StoreTruth<T>(out[0], count, [a, b](auto d, size_t i) HWY_ATTR {
      return Row::Of(d, LoadElements(d, a, i), LoadElements(d, b, i));
    });
  }
};

template <class T, class Row>
struct Selection {
  static void Run(const std::byte* const* in, std::byte* const* out, size_t count) {
    const hn::ScalableTag<T> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    using U = hwy::MakeUnsigned<T>;
    HWY_ALIGN U wide[kStepQuantum];
    const std::byte *truth = in[0], *b = in[1], *c = in[2];
    std::byte* y = out[0];
    for (size_t begin = 0; begin < count; begin += kStepQuantum) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(truth) + begin;
      for (size_t i = 0; i < kStepQuantum; ++i) wide[i] = bytes[i] != 0 ? static_cast<U>(~U{0}) : U{0};
      for (size_t i = 0; i < kStepQuantum; i += hn::Lanes(d)) {
        const auto holds = hn::MaskFromVec(hn::BitCast(d, hn::Load(du, wide + i)));
        StoreElements(d, Row::Of(d, holds, LoadElements(d, b, begin + i), LoadElements(d, c, begin + i)), y, begin + i);
      }
    }
  }
};

// ---- optimizers ----

const float* Floats(const std::byte* p) { return reinterpret_cast<const float*>(p); }
float* Floats(std::byte* p) { return reinterpret_cast<float*>(p); }

void SgdLoop(const std::byte* const* in, std::byte* const* out, size_t count) {
  const FloatTag d;
  const auto rate = hn::Set(d, *Floats(in[0]));
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    hn::StoreU(hn::NegMulAdd(rate, hn::LoadU(d, Floats(in[2]) + i), hn::LoadU(d, Floats(in[1]) + i)), d,
               Floats(out[0]) + i);
  }
}

// numerator / (sqrt(x) + epsilon) for x >= 0. A vector's division and square root take longer than reading and writing
// Adam's state. So this refines estimates of at least 12 bits twice, which is right to a few units in the last place.
// If a denominator is outside 1e-10 to 1e36, it divides and takes the root instead: for larger ones the reciprocal
// underflows, and for smaller ones the root of an x below 1e-36, which the estimate does not give, would matter.
template <class D, class V = Vec<D>>
HWY_INLINE V OverRoot(D d, V numerator, V x, V epsilon) {
  const auto half = hn::Set(d, 0.5F), three_halves = hn::Set(d, 1.5F), two = hn::Set(d, 2.0F);
  const auto positive = hn::Max(x, hn::Set(d, 1e-36F));  // x = 0 needs no exact root, only a finite one
  auto inverse_root = hn::ApproximateReciprocalSqrt(positive);
  for (int i = 0; i < 2; ++i) {
    inverse_root = hn::Mul(inverse_root,
                           hn::NegMulAdd(hn::Mul(half, positive), hn::Mul(inverse_root, inverse_root), three_halves));
  }
  const auto denominator = hn::MulAdd(x, inverse_root, epsilon);
  auto inverse = hn::ApproximateReciprocal(denominator);
  for (int i = 0; i < 2; ++i) inverse = hn::Mul(inverse, hn::NegMulAdd(denominator, inverse, two));
  const auto is_usual = hn::And(hn::Ge(denominator, hn::Set(d, 1e-10F)), hn::Le(denominator, hn::Set(d, 1e36F)));
  if (HWY_LIKELY(hn::AllTrue(d, is_usual))) return hn::Mul(numerator, inverse);
  return hn::Div(numerator, hn::Add(hn::Sqrt(x), epsilon));
}

template <bool with_greatest>
void AdamLoop(const std::byte* const* in, std::byte* const* out, size_t count) {
  const FloatTag d;
  const auto scalar = [&](size_t i) HWY_ATTR { return hn::Set(d, *Floats(in[i])); };
  const auto rate = scalar(0), beta1 = scalar(1), beta2 = scalar(2), epsilon = scalar(3);
  const auto rest1 = hn::Sub(One(d), beta1), rest2 = hn::Sub(One(d), beta2);
  constexpr size_t kGradient = with_greatest ? 8 : 7;
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto load = [&](size_t k) HWY_ATTR { return hn::LoadU(d, Floats(in[k]) + i); };
    const auto g = load(kGradient), values = load(4);
    const auto m = hn::MulAdd(beta1, load(5), hn::Mul(rest1, g));
    const auto v = hn::MulAdd(beta2, load(6), hn::Mul(rest2, hn::Mul(g, g)));
    auto largest = v;
    if constexpr (with_greatest) largest = Max(d, load(7), v);
    const auto change = OverRoot(d, hn::Mul(rate, m), largest, epsilon);
    hn::StoreU(hn::Sub(values, change), d, Floats(out[0]) + i);
    hn::StoreU(m, d, Floats(out[1]) + i);
    hn::StoreU(v, d, Floats(out[2]) + i);
    if constexpr (with_greatest) hn::StoreU(largest, d, Floats(out[3]) + i);
  }
}

template <template <class, class> class Loop, class Row, class T>
StepFunction StepOf() {
  if constexpr (Accepts<T>(Row::kTypes)) return &Loop<T, Row>::Run;
  else return nullptr;
}

template <template <class, class> class Loop, class Row>
StepFunction StepFor(DType dtype) {
  switch (dtype) {
    case DType::float32: return StepOf<Loop, Row, float>();
    case DType::int32: return StepOf<Loop, Row, int32_t>();
    case DType::int64: return StepOf<Loop, Row, int64_t>();
    case DType::uint64: return StepOf<Loop, Row, uint64_t>();
    case DType::boolean: return StepOf<Loop, Row, uint8_t>();
    default: return nullptr;
  }
}

template <OpCode code, class Row>
StepFunction TernaryFor(DType dtype) {
  // Only this row's first operand is a predicate.
  if constexpr (code == OpCode::select) return StepFor<Selection, Row>(dtype);
  else return StepFor<Ternary, Row>(dtype);
}

// ---- casts ----

// A type for bool, whose bytes are compared with 0.
struct Bool {
  uint8_t byte;
};
using ir::BFloat16;
using ir::Float16;

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

template <class To, class From>
HWY_INLINE To Converted(From x) {
  if constexpr (std::is_same_v<From, Bool>) {
    return Converted<To>(static_cast<int32_t>(x.byte != 0));
  } else if constexpr (kIsHalf<From>) {
    return Converted<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<uint8_t>(x != 0)};
  } else if constexpr (kIsHalf<To>) {
    return To(static_cast<float>(x));
  } else if constexpr (hwy::IsFloat<From>() && !hwy::IsFloat<To>()) {
    // The greatest integer may not be a float; the first float above it is a power of 2.
    constexpr From least = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From above = static_cast<From>(uint64_t{1} << (std::numeric_limits<To>::digits - 1)) * 2;
    if (!(x == x)) return 0;
    if (x >= above) return std::numeric_limits<To>::max();
    return x < least ? std::numeric_limits<To>::min() : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

// One quantum at a time, so that the compiler vectorises the loop.
template <class From, class To>
void CastLoop(const std::byte* const* in, std::byte* const* out, size_t count) {
  const auto* x = reinterpret_cast<const From*>(in[0]);
  auto* y = reinterpret_cast<To*>(out[0]);
  for (size_t i = 0; i < count; i += kStepQuantum) {
    for (size_t k = i; k < i + kStepQuantum; ++k) y[k] = Converted<To>(x[k]);
  }
}

// The processor converts float16 faster than Converted.
void PromoteFloat16(const std::byte* const* in, std::byte* const* out, size_t count) {
  const FloatTag d;
  const hn::Rebind<hwy::float16_t, FloatTag> half;
  const auto* x = reinterpret_cast<const hwy::float16_t*>(in[0]);
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, x + i)), d, Floats(out[0]) + i);
  }
}
void DemoteToFloat16(const std::byte* const* in, std::byte* const* out, size_t count) {
  const FloatTag d;
  const hn::Rebind<hwy::float16_t, FloatTag> half;
  auto* y = reinterpret_cast<hwy::float16_t*>(out[0]);
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    hn::StoreU(hn::DemoteTo(half, hn::LoadU(d, Floats(in[0]) + i)), half, y + i);
  }
}

// Calls f with a zero of the element type's C++ type; null for types without arithmetic.
template <class F>
StepFunction WithElement(DType dtype, const F& f) {
  switch (dtype) {
    case DType::float32: return f(float{});
    case DType::float16: return f(Float16{});
    case DType::bfloat16: return f(BFloat16{});
    case DType::int8: return f(int8_t{});
    case DType::int16: return f(int16_t{});
    case DType::int32: return f(int32_t{});
    case DType::int64: return f(int64_t{});
    case DType::uint8: return f(uint8_t{});
    case DType::uint16: return f(uint16_t{});
    case DType::uint32: return f(uint32_t{});
    case DType::uint64: return f(uint64_t{});
    case DType::boolean: return f(Bool{});
    default: return nullptr;
  }
}

StepFunction FindCast(DType from, DType to) {
#if HWY_TARGET <= HWY_AVX2 || HWY_ARCH_ARM
  if (from == DType::float16 && to == DType::float32) return &PromoteFloat16;
  if (from == DType::float32 && to == DType::float16) return &DemoteToFloat16;
#endif
  return WithElement(from, [to](auto x) {
    return WithElement(to, [](auto y) -> StepFunction { return &CastLoop<decltype(x), decltype(y)>; });
  });
}

// ---- values for each row ----

template <class T>
void SpreadRows(const std::byte* from, size_t rows, size_t count, std::byte* to) {
  const hn::ScalableTag<T> d;
  const T* x = reinterpret_cast<const T*>(from);
  T* y = reinterpret_cast<T*>(to);
  for (size_t r = 0; r < rows; ++r, y += count) {
    const auto value = hn::Set(d, x[r]);
    for (size_t i = 0; i < count; i += hn::Lanes(d)) hn::StoreU(value, d, y + i);
  }
}

void Spread(size_t width, const std::byte* from, size_t rows, size_t count, std::byte* to) {
  if (width == 4) SpreadRows<uint32_t>(from, rows, count, to);
  else if (width == 8) SpreadRows<uint64_t>(from, rows, count, to);
  else if (width == 2) SpreadRows<uint16_t>(from, rows, count, to);
  else SpreadRows<uint8_t>(from, rows, count, to);
}

// ---- by code: Step_NAME for a structured op whose kernel is elementwise ----

#define ALLOY_OP(name, ...) StepFunction Step_##name(const ir::Op& op);
#include "ir/ops.def"

DType LastType(const ir::Op& op) { return op.operands.back().dtype(); }

StepFunction Step_cast(const ir::Op& op) { return FindCast(LastType(op), op.results[0].dtype); }

StepFunction Step_sgd(const ir::Op& op) { return LastType(op) == DType::float32 ? &SgdLoop : nullptr; }

StepFunction Step_adam(const ir::Op& op) {
  if (LastType(op) != DType::float32) return nullptr;
  return op.results.size() == 4 ? &AdamLoop<true> : &AdamLoop<false>;
}

StepFunction FindStep(const ir::Op& op) {
  switch (op.code) {
#define ALLOY_UNARY(name, ...) \
  case OpCode::name: return StepFor<Unary, Row_##name>(LastType(op));
#define ALLOY_ACTIVATION ALLOY_UNARY
#define ALLOY_BINARY(name, ...) \
  case OpCode::name: return StepFor<Binary, Row_##name>(LastType(op));
#define ALLOY_ACTIVATION_GRADIENT ALLOY_BINARY
#define ALLOY_PREDICATE(name, ...) \
  case OpCode::name: return StepFor<Predicate, Row_##name>(LastType(op));
#define ALLOY_COMPARISON(name, ...) \
  case OpCode::name: return StepFor<Comparison, Row_##name>(LastType(op));
#define ALLOY_TERNARY(name, ...) \
  case OpCode::name: return TernaryFor<OpCode::name, Row_##name>(LastType(op));
#define ALLOY_OP(name, fewest, most, results, attributes, facts, kernel, doc)         \
  case OpCode::name:                                                                  \
    if constexpr (std::string_view(#kernel) == "elementwise") return Step_##name(op); \
    else return nullptr;
#include "ir/ops.def"
    default: return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace alloy::cpu {

HWY_EXPORT(FindStep);
HWY_EXPORT(FindCast);
HWY_EXPORT(Spread);

StepFunction find_step(const ir::Op& op) { return HWY_DYNAMIC_DISPATCH(FindStep)(op); }
StepFunction find_cast(ir::DType from, ir::DType to) { return HWY_DYNAMIC_DISPATCH(FindCast)(from, to); }
void spread(size_t width, const std::byte* from, size_t rows, size_t count, std::byte* to) {
  HWY_DYNAMIC_DISPATCH(Spread)(width, from, rows, count, to);
}

}  // namespace alloy::cpu
#endif
