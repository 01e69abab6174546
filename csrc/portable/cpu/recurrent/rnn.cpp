// The recurrent cell of a single gate, and its gradient.
#include "cpu/recurrent/sequence.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/recurrent/rnn.cpp"
#include "cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/recurrent/activations-inl.h"
#include "cpu/simd/lanes-inl.h"

#ifndef ALLOY_KERNELS_RNN_ONCE_
#define ALLOY_KERNELS_RNN_ONCE_
namespace alloy::cpu {

struct RnnLoops {
  // Adds x to the sums, copies them to `kept` unless it is null, and writes their activation to `state`.
  void (*forward)(RecurrentActivation how, const float* x, const float* sums, int64_t units, float* kept, float* state);
  // Computes the gradient of the sums from the gradient of the state, which is the sum of `incoming` and `carried`.
  void (*backward)(RecurrentActivation how, const float* sums, const float* incoming, const float* carried,
                   int64_t units, float* gradient);
};

}  // namespace alloy::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

void RnnForward(RecurrentActivation how, const float* x, const float* sums, int64_t units, float* kept, float* state) {
  const FloatTag d;
  ForVectors(d, units, [&](size_t i, size_t n) HWY_ATTR {
    const auto sum = hn::Add(hn::LoadU(d, sums + i), LoadUpTo(d, x + i, n, hn::Zero(d)));
    if (kept != nullptr) StoreUpTo(d, sum, n, kept + i);
    StoreUpTo(d, Activated(how, sum), n, state + i);
  });
}

void RnnBackward(RecurrentActivation how, const float* sums, const float* incoming, const float* carried, int64_t units,
                 float* gradient) {
  const FloatTag d;
  ForVectors(d, units, [&](size_t i, size_t n) HWY_ATTR {
    const auto load = [&](const float* from) HWY_ATTR { return LoadUpTo(d, from + i, n, hn::Zero(d)); };
    const auto slope = Slope(how, Activated(how, load(sums)));
    StoreUpTo(d, hn::Mul(hn::Add(load(incoming), load(carried)), slope), n, gradient + i);
  });
}

RnnLoops FindRnnLoops() { return {&RnnForward, &RnnBackward}; }

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace alloy::cpu {

HWY_EXPORT(FindRnnLoops);

namespace {

using ir::Attr;
using ir::Op;

// Operands: x, weights, first state[, mask].
class Rnn final : public RecurrentKernel {
 public:
  explicit Rnn(const Op& op) : Rnn(op, Sequence(op, op.operands[0].shape(), op.operands[1].shape()[1])) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const Sequence& s = sequence_;
    const Room room = make_room(operands, scratch);
    const auto in = [&](size_t i) { return reinterpret_cast<const float*>(operands[i]); };
    float* const states = reinterpret_cast<float*>(results[0]);
    float* const kept = is_training_ ? reinterpret_cast<float*>(results[1]) : nullptr;
    const RowProduct& product = products_[0];
    for_each_step(s, phases_, work(), [&](int64_t i, size_t phase, const Share& share) {
      const int64_t now = s.time(i) * s.batch;
      const float* before = i == 0 ? in(2) : states + s.time(i - 1) * s.batch * s.units;
      if (is_masked_ && phase == 0) return multiply_rows(s, share.rows, before, in(3), room.own);
      if (is_masked_) before = room.own;
      float* const tile = room.tiles + share.thread * products_.tile_floats();
      for (int64_t stripe = share.stripes.begin; stripe < share.stripes.end; ++stripe) {
        product.multiply(before + share.rows.begin * s.units, s.units, share.rows.end - share.rows.begin, room.packed,
                         stripe, tile);
        const Range units = units_of(product, {stripe, stripe + 1});
        for (int64_t row = share.rows.begin; row < share.rows.end; ++row) {
          const int64_t at = (now + row) * s.units + units.begin;
          loops_.forward(how_, in(0) + at, tile + (row - share.rows.begin) * product.stripe_floats(),
                         units.end - units.begin, kept == nullptr ? nullptr : kept + at, states + at);
        }
      }
    });
  }

 private:
  Rnn(const Op& op, const Sequence& s)
      : RecurrentKernel(s, {{state_weights(s.units, 1), 0}}, 1, s.state_floats()),
        loops_(HWY_DYNAMIC_DISPATCH(FindRnnLoops)()),
        how_(activations_of(op)[0]),
        is_masked_(op.attributes.flag(Attr::kMasked)),
        is_training_(op.attributes.flag(Attr::kTraining)) {
    if (is_masked_) phases_.push_back(1);  // multiplies the states by the mask
    phases_.push_back(products_[0].stripes());
  }

  RnnLoops loops_;
  RecurrentActivation how_;
  bool is_masked_, is_training_;
  std::vector<int64_t> phases_;
};

// Operands: gradient of the states, sums, weights[, mask]. Results: the gradient of x, and the gradient of the first
// state, whose memory holds the gradient carried from step to step.
class RnnGradient final : public RecurrentKernel {
 public:
  explicit RnnGradient(const Op& op)
      : RnnGradient(op, Sequence(op, op.operands[1].shape(), op.operands[2].shape()[1])) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const Sequence& s = sequence_;
    const Room room = make_room(operands, scratch);
    const auto in = [&](size_t i) { return reinterpret_cast<const float*>(operands[i]); };
    float *const x_gradient = reinterpret_cast<float*>(results[0]), *const carried =
                                                                        reinterpret_cast<float*>(results[1]);
    std::fill_n(carried, s.state_floats(), 0.0F);
    for_each_step(s, phases_, work(), [&](int64_t i, size_t phase, const Share& share) {
      const int64_t now = s.time(s.steps - 1 - i) * s.batch;
      if (phase == 1) {
        multiply_into(products_[0], room.packed, x_gradient + now * s.units, s.units, share,
                      room.tiles + share.thread * products_.tile_floats(), is_masked_ ? in(3) : nullptr, carried,
                      false);
        return;
      }
      const Range units = units_of(products_[0], share.stripes);
      for (int64_t row = share.rows.begin; row < share.rows.end; ++row) {
        const int64_t own = row * s.units + units.begin, at = now * s.units + own;
        loops_.backward(how_, in(1) + at, in(0) + at, carried + own, units.end - units.begin, x_gradient + at);
      }
    });
  }

 private:
  RnnGradient(const Op& op, const Sequence& s)
      : RecurrentKernel(s, {{gradient_weights(s.units, 1), 0}}, 2, 0),
        loops_(HWY_DYNAMIC_DISPATCH(FindRnnLoops)()),
        how_(activations_of(op)[0]),
        is_masked_(op.attributes.flag(Attr::kMasked)),
        phases_{products_[0].stripes(), products_[0].stripes()} {}

  RnnLoops loops_;
  RecurrentActivation how_;
  bool is_masked_;
  std::vector<int64_t> phases_;
};

}  // namespace

std::unique_ptr<Kernel> make_rnn(const Op& op) {
  require_float(op);
  return std::make_unique<Rnn>(op);
}
std::unique_ptr<Kernel> make_rnn_gradient(const Op& op) {
  require_float(op);
  return std::make_unique<RnnGradient>(op);
}

}  // namespace alloy::cpu
#endif
