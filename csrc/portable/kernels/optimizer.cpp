// The optimizer steps: elementwise over values, state and gradient, with coefficients read from one-element
// tensors at each run.
#include "kernels/families.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimizer.cpp"
#include "kernels/simd.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/lanes-inl.h"
#include "kernels/vocabulary-inl.h"

#ifndef ALLOY_KERNELS_OPTIMIZER_ONCE_
#define ALLOY_KERNELS_OPTIMIZER_ONCE_
namespace alloy::portable {

// New and old may be the same memory. `greatest` is null where Adam does without it.
struct AdamState {
  float *values, *first, *second, *greatest;
};
struct AdamInputs {
  float rate, beta1, beta2, epsilon;
  const float *values, *first, *second, *greatest, *gradient;
};
struct OptimizerLoops {
  void (*sgd)(float rate, const float* values, const float* gradient, int64_t begin, int64_t end,
              float* result);
  void (*adam)(const AdamInputs& in, int64_t begin, int64_t end, const AdamState& out);
};

}  // namespace alloy::portable
#endif

HWY_BEFORE_NAMESPACE();
namespace alloy::portable {
namespace HWY_NAMESPACE {

using Tag = hn::ScalableTag<float>;

void Sgd(float rate, const float* values, const float* gradient, int64_t begin, int64_t end, float* result) {
  const Tag d;
  const auto r = hn::Set(d, rate);
  ForVectors(d, static_cast<size_t>(end - begin), [&](size_t i, size_t n) HWY_ATTR {
    const size_t at = static_cast<size_t>(begin) + i;
    const auto g = LoadUpTo(d, gradient + at, n, Zero(d));
    StoreUpTo(d, hn::NegMulAdd(r, g, LoadUpTo(d, values + at, n, Zero(d))), n, result + at);
  });
}

void Adam(const AdamInputs& in, int64_t begin, int64_t end, const AdamState& out) {
  const Tag d;
  const auto rate = hn::Set(d, in.rate), epsilon = hn::Set(d, in.epsilon);
  const auto beta1 = hn::Set(d, in.beta1), beta2 = hn::Set(d, in.beta2);
  const auto rest1 = hn::Sub(One(d), beta1), rest2 = hn::Sub(One(d), beta2);
  ForVectors(d, static_cast<size_t>(end - begin), [&](size_t i, size_t n) HWY_ATTR {
    const size_t at = static_cast<size_t>(begin) + i;
    auto load = [&](const float* p) HWY_ATTR { return LoadUpTo(d, p + at, n, Zero(d)); };
    const auto g = load(in.gradient), values = load(in.values);
    const auto m = hn::MulAdd(beta1, load(in.first), hn::Mul(rest1, g));
    const auto v = hn::MulAdd(beta2, load(in.second), hn::Mul(rest2, hn::Mul(g, g)));
    const auto largest = in.greatest != nullptr ? Max(d, load(in.greatest), v) : v;
    const auto change = hn::Div(hn::Mul(rate, m), hn::Add(hn::Sqrt(largest), epsilon));
    StoreUpTo(d, hn::Sub(values, change), n, out.values + at);
    StoreUpTo(d, m, n, out.first + at);
    StoreUpTo(d, v, n, out.second + at);
    if (out.greatest != nullptr) StoreUpTo(d, largest, n, out.greatest + at);
  });
}

OptimizerLoops FindOptimizerLoops() { return {&Sgd, &Adam}; }

}  // namespace HWY_NAMESPACE
}  // namespace alloy::portable
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace alloy::portable {

HWY_EXPORT(FindOptimizerLoops);

namespace {

using ir::Op;

// Shares of the loop end at whole cache lines.
constexpr int64_t kBlock = 1024;

template <class Body>
void for_blocks(int64_t count, int64_t work_per_element, const Body& body) {
  parallel_for((count + kBlock - 1) / kBlock, kBlock * work_per_element,
               [&](int64_t begin, int64_t end) { body(begin * kBlock, std::min(end * kBlock, count)); });
}

const float* floats(const std::byte* p) { return reinterpret_cast<const float*>(p); }
float* floats(std::byte* p) { return reinterpret_cast<float*>(p); }

class SgdKernel final : public Kernel {
 public:
  explicit SgdKernel(int64_t count) : count_(count), loops_(HWY_DYNAMIC_DISPATCH(FindOptimizerLoops)()) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const float rate = *floats(operands[0]);
    for_blocks(count_, 2, [&](int64_t begin, int64_t end) {
      loops_.sgd(rate, floats(operands[1]), floats(operands[2]), begin, end, floats(results[0]));
    });
  }
  bool in_place(size_t operand, size_t) const override { return operand > 0; }

 private:
  int64_t count_;
  OptimizerLoops loops_;
};

class AdamKernel final : public Kernel {
 public:
  AdamKernel(int64_t count, bool with_greatest)
      : count_(count), with_greatest_(with_greatest), loops_(HWY_DYNAMIC_DISPATCH(FindOptimizerLoops)()) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    auto scalar = [&](size_t i) { return *floats(operands[i]); };
    const AdamInputs in{scalar(0),
                        scalar(1),
                        scalar(2),
                        scalar(3),
                        floats(operands[4]),
                        floats(operands[5]),
                        floats(operands[6]),
                        with_greatest_ ? floats(operands[7]) : nullptr,
                        floats(operands[with_greatest_ ? 8 : 7])};
    const AdamState out{floats(results[0]), floats(results[1]), floats(results[2]),
                        with_greatest_ ? floats(results[3]) : nullptr};
    for_blocks(count_, 8, [&](int64_t begin, int64_t end) { loops_.adam(in, begin, end, out); });
  }
  // All operands of a vector are read before any result of it is written.
  bool in_place(size_t operand, size_t) const override { return operand >= 4; }

 private:
  int64_t count_;
  bool with_greatest_;
  OptimizerLoops loops_;
};

}  // namespace

std::unique_ptr<Kernel> make_sgd(const Op& op) {
  require_float(op);
  return std::make_unique<SgdKernel>(op.results[0].shape.element_count());
}

std::unique_ptr<Kernel> make_adam(const Op& op) {
  require_float(op);
  return std::make_unique<AdamKernel>(op.results[0].shape.element_count(), op.operands.size() == 9);
}

}  // namespace alloy::portable
#endif
