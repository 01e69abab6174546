// The activations of recurrent cells and their derivatives, for vectors of float. Included once per instruction set.
#if defined(ALLOY_KERNELS_ACTIVATIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ALLOY_KERNELS_ACTIVATIONS_INL_H_
#undef ALLOY_KERNELS_ACTIVATIONS_INL_H_
#else
#define ALLOY_KERNELS_ACTIVATIONS_INL_H_
#endif

#include "cpu/simd/vocabulary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

using FloatVector = hn::Vec<hn::ScalableTag<float>>;

// Like Sigmoid, but 0 where the result is denormal (kernels flush those); it takes two thirds of the work.
HWY_INLINE FloatVector GateSigmoid(FloatVector x) {
  const hn::ScalableTag<float> d;
  const auto parts = FallingExpOf(d, hn::Neg(hn::Abs(x)));
  const auto e = hn::MulAdd(parts.scale, parts.more, parts.scale);
  return hn::Div(hn::IfThenElse(hn::Lt(x, Zero(d)), e, One(d)), hn::Add(One(d), e));
}

HWY_INLINE FloatVector Activated(RecurrentActivation how, FloatVector x) {
  const hn::ScalableTag<float> d;
  switch (how) {
    case RecurrentActivation::kNone: return x;
    case RecurrentActivation::kRelu: return hn::IfThenElse(hn::Le(x, Zero(d)), Zero(d), x);  // keeps NaN
    case RecurrentActivation::kTanh: return Tanh(d, x);
    case RecurrentActivation::kSigmoid: return GateSigmoid(x);
    case RecurrentActivation::kHardSigmoid: {
      const auto line = hn::MulAdd(x, hn::Set(d, 0.2f), hn::Set(d, 0.5f));  // keeps NaN
      return hn::IfThenElse(hn::Lt(line, Zero(d)), Zero(d), hn::IfThenElse(hn::Gt(line, One(d)), One(d), line));
    }
  }
  return x;
}

// The derivative of the activation where its value is y.
HWY_INLINE FloatVector Slope(RecurrentActivation how, FloatVector y) {
  const hn::ScalableTag<float> d;
  switch (how) {
    case RecurrentActivation::kNone: return One(d);
    case RecurrentActivation::kRelu: return hn::IfThenElseZero(hn::Gt(y, Zero(d)), One(d));
    case RecurrentActivation::kTanh: return hn::NegMulAdd(y, y, One(d));
    case RecurrentActivation::kSigmoid: return hn::NegMulAdd(y, y, y);
    case RecurrentActivation::kHardSigmoid:
      return hn::IfThenElseZero(hn::And(hn::Gt(y, Zero(d)), hn::Lt(y, One(d))), hn::Set(d, 0.2f));
  }
  return y;
}

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#endif
