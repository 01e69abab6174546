// The GRU and its gradient. The reset gate is applied before the product of the states with the candidate's weights, or
// after it (`reset_after`).
#include "cpu/recurrent/sequence.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/recurrent/gru.cpp"
#include "cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/recurrent/activations-inl.h"
#include "cpu/simd/lanes-inl.h"

#ifndef ALLOY_KERNELS_GRU_ONCE_
#define ALLOY_KERNELS_GRU_ONCE_
namespace alloy::cpu {

// The activations of the gates z, r and o. `flip_z`: z is the weight of the new state, not of the old one.
struct GruHow {
  RecurrentActivation activations[3];
  bool flip_z;
};

// A row of one step, for some of the units. The gates of a unit are `units` elements apart; `gates` holds their sums. A
// pointer is null if the op does not have the array.
struct GruRow {
  int64_t units;
  const float *x, *state_before, *mask, *secondary_bias;
  float *state, *gates;
  float *update, *reset_state;  // without reset_after, for the next phase: z, and r times the masked state
};

// The same for the gradient. `carried` holds the gradient of the state from later steps, and receives the gradient of
// the previous state.
struct GruGradientRow {
  int64_t units;
  const float *gates, *state_before, *mask, *incoming;
  float *carried, *x_gradient;
  float* sum_gradient;  // with reset_after: of the products of the state, for this step
};

struct GruLoops {
  int64_t lanes;
  // `sums` has a vector for each gate of the product, for the units from `first` on.
  void (*forward_after)(const GruHow& how, const GruRow& row, const float* sums, int64_t first);
  void (*forward_gates)(const GruHow& how, const GruRow& row, const float* sums, int64_t first);
  void (*forward_candidate)(const GruHow& how, const GruRow& row, const float* sums, int64_t first);
  void (*backward)(const GruHow& how, const GruGradientRow& row, Range units);
  // `sums` is the gradient of the reset state, for the units from units.begin on.
  void (*backward_reset)(const GruHow& how, const GruGradientRow& row, const float* sums, Range units);
};

}  // namespace alloy::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

HWY_INLINE FloatVector LoadUnits(const float* from, size_t n) {
  const FloatTag d;
  return LoadUpTo(d, from, n, hn::Zero(d));
}

HWY_INLINE void StoreUnits(FloatVector v, float* to, size_t n) { StoreUpTo(FloatTag(), v, n, to); }

// The new state: the weighted mean of the old state and the candidate.
HWY_INLINE FloatVector Blend(const GruHow& how, FloatVector z, FloatVector before, FloatVector candidate) {
  return how.flip_z ? hn::MulAdd(z, hn::Sub(candidate, before), before)
                    : hn::MulAdd(z, hn::Sub(before, candidate), candidate);
}

void GruForwardAfter(const GruHow& how, const GruRow& row, const float* sums, int64_t first) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d), n = std::min<size_t>(lanes, row.units - first);
  const int64_t units = row.units;
  const auto z_sum = hn::Add(hn::LoadU(d, sums), LoadUnits(row.x + first, n));
  const auto r_sum = hn::Add(hn::LoadU(d, sums + lanes), LoadUnits(row.x + units + first, n));
  const auto from_states = hn::Add(hn::LoadU(d, sums + 2 * lanes), LoadUnits(row.secondary_bias + first, n));
  const auto r = Activated(how.activations[1], r_sum);
  const auto o_sum = hn::MulAdd(r, from_states, LoadUnits(row.x + 2 * units + first, n));
  const auto z = Activated(how.activations[0], z_sum), o = Activated(how.activations[2], o_sum);
  StoreUnits(Blend(how, z, LoadUnits(row.state_before + first, n), o), row.state + first, n);
  if (row.gates == nullptr) return;
  StoreUnits(z_sum, row.gates + first, n);
  StoreUnits(r_sum, row.gates + units + first, n);
  StoreUnits(o_sum, row.gates + 2 * units + first, n);
  StoreUnits(from_states, row.gates + 3 * units + first, n);
}

void GruForwardGates(const GruHow& how, const GruRow& row, const float* sums, int64_t first) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d), n = std::min<size_t>(lanes, row.units - first);
  const auto z_sum = hn::Add(hn::LoadU(d, sums), LoadUnits(row.x + first, n));
  const auto r_sum = hn::Add(hn::LoadU(d, sums + lanes), LoadUnits(row.x + row.units + first, n));
  auto state = LoadUnits(row.state_before + first, n);
  if (row.mask != nullptr) state = hn::Mul(state, LoadUnits(row.mask + first, n));
  StoreUnits(Activated(how.activations[0], z_sum), row.update + first, n);
  StoreUnits(hn::Mul(Activated(how.activations[1], r_sum), state), row.reset_state + first, n);
  if (row.gates == nullptr) return;
  StoreUnits(z_sum, row.gates + first, n);
  StoreUnits(r_sum, row.gates + row.units + first, n);
}

void GruForwardCandidate(const GruHow& how, const GruRow& row, const float* sums, int64_t first) {
  const FloatTag d;
  const size_t n = std::min<size_t>(hn::Lanes(d), row.units - first);
  const auto o_sum = hn::Add(hn::LoadU(d, sums), LoadUnits(row.x + 2 * row.units + first, n));
  const auto o = Activated(how.activations[2], o_sum);
  StoreUnits(Blend(how, LoadUnits(row.update + first, n), LoadUnits(row.state_before + first, n), o), row.state + first,
             n);
  if (row.gates != nullptr) StoreUnits(o_sum, row.gates + 2 * row.units + first, n);
}

void GruBackward(const GruHow& how, const GruGradientRow& row, Range units) {
  const FloatTag d;
  ForVectors(d, units.end - units.begin, [&](size_t i, size_t n) HWY_ATTR {
    const int64_t at = units.begin + static_cast<int64_t>(i);
    const auto gate = [&](int64_t g) HWY_ATTR { return LoadUnits(row.gates + g * row.units + at, n); };
    const auto z = Activated(how.activations[0], gate(0)), o = Activated(how.activations[2], gate(2));
    const auto before = LoadUnits(row.state_before + at, n);
    const auto dh = hn::Add(LoadUnits(row.incoming + at, n), LoadUnits(row.carried + at, n));
    const auto rest = hn::Sub(One(d), z);
    const auto old_share = how.flip_z ? rest : z, new_share = how.flip_z ? z : rest;
    const auto difference = how.flip_z ? hn::Sub(o, before) : hn::Sub(before, o);
    const auto dz = hn::Mul(hn::Mul(dh, difference), Slope(how.activations[0], z));
    const auto d_o = hn::Mul(hn::Mul(dh, new_share), Slope(how.activations[2], o));
    StoreUnits(hn::Mul(dh, old_share), row.carried + at, n);
    StoreUnits(dz, row.x_gradient + at, n);
    StoreUnits(d_o, row.x_gradient + 2 * row.units + at, n);
    if (row.sum_gradient == nullptr) return;
    const auto r = Activated(how.activations[1], gate(1));
    const auto dr = hn::Mul(hn::Mul(d_o, gate(3)), Slope(how.activations[1], r));
    StoreUnits(dr, row.x_gradient + row.units + at, n);
    StoreUnits(dz, row.sum_gradient + at, n);
    StoreUnits(dr, row.sum_gradient + row.units + at, n);
    StoreUnits(hn::Mul(d_o, r), row.sum_gradient + 2 * row.units + at, n);
  });
}

void GruBackwardReset(const GruHow& how, const GruGradientRow& row, const float* sums, Range units) {
  const FloatTag d;
  ForVectors(d, units.end - units.begin, [&](size_t i, size_t n) HWY_ATTR {
    const int64_t at = units.begin + static_cast<int64_t>(i);
    const auto r = Activated(how.activations[1], LoadUnits(row.gates + row.units + at, n));
    auto gradient = hn::LoadU(d, sums + i);
    if (row.mask != nullptr) gradient = hn::Mul(gradient, LoadUnits(row.mask + at, n));
    const auto dr = hn::Mul(hn::Mul(gradient, LoadUnits(row.state_before + at, n)), Slope(how.activations[1], r));
    StoreUnits(dr, row.x_gradient + row.units + at, n);
    StoreUnits(hn::MulAdd(gradient, r, LoadUnits(row.carried + at, n)), row.carried + at, n);
  });
}

GruLoops FindGruLoops() {
  return {static_cast<int64_t>(hn::Lanes(FloatTag())),
          &GruForwardAfter,
          &GruForwardGates,
          &GruForwardCandidate,
          &GruBackward,
          &GruBackwardReset};
}

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace alloy::cpu {

HWY_EXPORT(FindGruLoops);

namespace {

using ir::Attr;
using ir::Op;

GruHow how_of(const Op& op) {
  GruHow how{{}, op.attributes.flag(Attr::kFlipZ)};
  std::ranges::copy(activations_of(op), how.activations);
  return how;
}

// Operands: x, weights, first state[, secondary bias][, mask].
class Gru final : public RecurrentKernel {
 public:
  explicit Gru(const Op& op) : Gru(op, Sequence(op, op.operands[0].shape(), op.operands[1].shape()[1])) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const Sequence& s = sequence_;
    const Room room = make_room(operands, scratch);
    const auto in = [&](size_t i) { return reinterpret_cast<const float*>(operands[i]); };
    const float* const mask = is_masked_ ? in(resets_after_ ? 4 : 3) : nullptr;
    float *const states = reinterpret_cast<float*>(results[0]), *const update = room.own,
                 *const reset_state = update + s.state_floats(), *const masked = reset_state + s.state_floats();
    float* const gates = is_training_ ? reinterpret_cast<float*>(results[1]) : nullptr;
    const int64_t stored = resets_after_ ? 4 : 3;
    for_each_step(s, phases_, work(), [&](int64_t i, size_t phase, const Share& share) {
      const int64_t now = s.time(i) * s.batch;
      const float* const before = i == 0 ? in(2) : states + s.time(i - 1) * s.batch * s.units;
      if (is_masked_ && phase == 0) return multiply_rows(s, share.rows, before, mask, masked);
      const size_t which = is_masked_ ? phase - 1 : phase;
      const auto loop = resets_after_ ? loops_.forward_after
                        : which == 0  ? loops_.forward_gates
                                      : loops_.forward_candidate;
      const RowProduct& product = products_[which];
      const float* const left = which == 1 ? reset_state : is_masked_ ? masked : before;
      float* const tile = room.tiles + share.thread * products_.tile_floats();
      for (int64_t stripe = share.stripes.begin; stripe < share.stripes.end; ++stripe) {
        product.multiply(left + share.rows.begin * s.units, s.units, share.rows.end - share.rows.begin,
                         products_.packed(which, room.packed), stripe, tile);
        for (int64_t row = share.rows.begin; row < share.rows.end; ++row) {
          const int64_t place = now + row, own = row * s.units;
          const GruRow parts{s.units,
                             in(0) + place * 3 * s.units,
                             before + own,
                             mask == nullptr ? nullptr : mask + own,
                             resets_after_ ? in(3) : nullptr,
                             states + place * s.units,
                             gates == nullptr ? nullptr : gates + place * stored * s.units,
                             update + own,
                             reset_state + own};
          const float* const sums = tile + (row - share.rows.begin) * product.stripe_floats();
          const int64_t first = stripe * product.stripe_units(),
                        end = std::min(first + product.stripe_units(), s.units);
          const int64_t block = product.stripe_floats() / (product.stripe_units() / loops_.lanes);
          for (int64_t unit = first; unit < end; unit += loops_.lanes) {
            loop(how_, parts, sums + (unit - first) / loops_.lanes * block, unit);
          }
        }
      }
    });
  }

 private:
  static std::vector<RecurrentProducts::Term> terms(const Op& op, int64_t units) {
    if (op.attributes.flag(Attr::kResetAfter)) return {{state_weights(units, 3), 0}};
    return {{state_weights(units, 2), 0}, {state_weights(units, 1), 2 * units * units}};
  }

  Gru(const Op& op, const Sequence& s)
      : RecurrentKernel(s, terms(op, s.units), 1, 3 * s.state_floats()),
        loops_(HWY_DYNAMIC_DISPATCH(FindGruLoops)()),
        how_(how_of(op)),
        is_masked_(op.attributes.flag(Attr::kMasked)),
        resets_after_(op.attributes.flag(Attr::kResetAfter)),
        is_training_(op.attributes.flag(Attr::kTraining)) {
    if (is_masked_) phases_.push_back(1);  // multiplies the states by the mask
    phases_.push_back(products_[0].stripes());
    if (!resets_after_) phases_.push_back(products_[1].stripes());
  }

  GruLoops loops_;
  GruHow how_;
  bool is_masked_, resets_after_, is_training_;
  std::vector<int64_t> phases_;
};

// Operands: gradient of the states, gates, states, weights, first state[, mask]. Results: the gradient of x, and the
// gradient of the first state, whose memory holds the gradient carried from step to step.
class GruGradient final : public RecurrentKernel {
 public:
  explicit GruGradient(const Op& op)
      : GruGradient(op, Sequence(op, op.operands[1].shape(), op.operands[3].shape()[1])) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const Sequence& s = sequence_;
    const Room room = make_room(operands, scratch);
    const auto in = [&](size_t i) { return reinterpret_cast<const float*>(operands[i]); };
    const auto out = [&](size_t i) { return reinterpret_cast<float*>(results[i]); };
    const float* const mask = is_masked_ ? in(5) : nullptr;
    float *const x_gradient = out(0), *const carried = out(1);
    std::fill_n(carried, s.state_floats(), 0.0F);
    const int64_t stored = resets_after_ ? 4 : 3;
    for_each_step(s, phases_, work(), [&](int64_t i, size_t phase, const Share& share) {
      const int64_t step = s.steps - 1 - i, now = s.time(step) * s.batch;
      const float* const before = step == 0 ? in(4) : in(2) + s.time(step - 1) * s.batch * s.units;
      float* const tile = room.tiles + share.thread * products_.tile_floats();
      const auto row_of = [&](int64_t row) {
        const int64_t place = now + row, own = row * s.units;
        return GruGradientRow{s.units,
                              in(1) + place * stored * s.units,
                              before + own,
                              mask == nullptr ? nullptr : mask + own,
                              in(0) + place * s.units,
                              carried + own,
                              x_gradient + place * 3 * s.units,
                              resets_after_ ? room.own + 3 * own : nullptr};
      };
      const float* const gradient = resets_after_ ? room.own : x_gradient + now * 3 * s.units;
      if (phase == 0) {
        const Range units = units_of(products_[0], share.stripes);
        for (int64_t row = share.rows.begin; row < share.rows.end; ++row) loops_.backward(how_, row_of(row), units);
      } else if (!resets_after_ && phase == 1) {
        backward_reset(share, gradient, room, row_of);
      } else {
        const size_t which = phase - 1;
        multiply_into(products_[which], products_.packed(which, room.packed), gradient, 3 * s.units, share, tile, mask,
                      carried, true);
      }
    });
  }

 private:
  // Without reset_after: first from the candidate's sums to the reset states, then from the gates' sums to the states.
  static std::vector<RecurrentProducts::Term> terms(const Op& op, int64_t units) {
    if (op.attributes.flag(Attr::kResetAfter)) return {{gradient_weights(units, 3), 0}};
    return {{gradient_weights(units, 1), 2 * units * units}, {gradient_weights(units, 2), 0}};
  }

  GruGradient(const Op& op, const Sequence& s)
      : RecurrentKernel(s, terms(op, s.units), 3, op.attributes.flag(Attr::kResetAfter) ? 3 * s.state_floats() : 0),
        loops_(HWY_DYNAMIC_DISPATCH(FindGruLoops)()),
        how_(how_of(op)),
        is_masked_(op.attributes.flag(Attr::kMasked)),
        resets_after_(op.attributes.flag(Attr::kResetAfter)),
        phases_(resets_after_ ? 2 : 3, products_[0].stripes()) {}

  // Without reset_after: the gradients of the reset gate and of the state, from the gradient of the candidate's sums.
  template <class RowOf>
  void backward_reset(const Share& share, const float* gradient, const Room& room, const RowOf& row_of) const {
    const Sequence& s = sequence_;
    const RowProduct& product = products_[0];
    float* const tile = room.tiles + share.thread * products_.tile_floats();
    for (int64_t stripe = share.stripes.begin; stripe < share.stripes.end; ++stripe) {
      product.multiply(gradient + 2 * s.units + share.rows.begin * 3 * s.units, 3 * s.units,
                       share.rows.end - share.rows.begin, products_.packed(0, room.packed), stripe, tile);
      for (int64_t row = share.rows.begin; row < share.rows.end; ++row) {
        loops_.backward_reset(how_, row_of(row), tile + (row - share.rows.begin) * product.stripe_floats(),
                              units_of(product, {stripe, stripe + 1}));
      }
    }
  }

  GruLoops loops_;
  GruHow how_;
  bool is_masked_, resets_after_;
  std::vector<int64_t> phases_;
};

}  // namespace

std::unique_ptr<Kernel> make_gru(const Op& op) {
  require_float(op);
  return std::make_unique<Gru>(op);
}
std::unique_ptr<Kernel> make_gru_gradient(const Op& op) {
  require_float(op);
  return std::make_unique<GruGradient>(op);
}

}  // namespace alloy::cpu
#endif
