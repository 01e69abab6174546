// The LSTM and its gradient.
#include "cpu/recurrent/sequence.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/recurrent/lstm.cpp"
#include "cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/recurrent/activations-inl.h"
#include "cpu/simd/lanes-inl.h"

#ifndef ALLOY_KERNELS_LSTM_ONCE_
#define ALLOY_KERNELS_LSTM_ONCE_
namespace alloy::cpu {

// The activations of the gates i, f, z and o, and of the cell.
using LstmActivations = RecurrentActivation[5];

// A row of one step, for some of the units. The gates of a unit are `units` elements apart. A pointer is null if the op
// does not have the array.
struct LstmRow {
  int64_t units;
  const float *x, *cell_before, *peephole;
  float *state, *cell, *gates;
};

// The same for the gradient. `state_gradient` and `cell_gradient` come from later steps; `cell_gradient` receives that
// of the previous cell. `incoming` gradients are the op's operands.
struct LstmGradientRow {
  int64_t units;
  const float *gates, *cell, *cell_before, *peephole, *incoming, *incoming_cell, *state_gradient;
  float *cell_gradient, *x_gradient;
};

struct LstmLoops {
  int64_t lanes;
  // For some rows. `sums` has four vectors for each row, one for each gate, for the units from `first` on.
  void (*forward)(const LstmActivations& how, LstmRow row, int64_t rows, const float* sums, int64_t first);
  void (*backward)(const LstmActivations& how, const LstmGradientRow& row, Range units);
};

}  // namespace alloy::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

HWY_INLINE void LstmForwardRow(const LstmActivations& how, const LstmRow& row, const float* sums, int64_t first,
                               size_t n) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const auto before = LoadUpTo(d, row.cell_before + first, n, hn::Zero(d));
  FloatVector gates[4];
  for (size_t g = 0; g < 4; ++g) {
    const int64_t at = static_cast<int64_t>(g) * row.units + first;
    auto sum = hn::Add(hn::LoadU(d, sums + g * lanes), LoadUpTo(d, row.x + at, n, hn::Zero(d)));
    if (row.peephole != nullptr) sum = hn::MulAdd(LoadUpTo(d, row.peephole + at, n, hn::Zero(d)), before, sum);
    gates[g] = Activated(how[g], sum);
    if (row.gates != nullptr) StoreUpTo(d, gates[g], n, row.gates + at);
  }
  const auto cell = hn::MulAdd(gates[1], before, hn::Mul(gates[0], gates[2]));
  StoreUpTo(d, cell, n, row.cell + first);
  StoreUpTo(d, hn::Mul(gates[3], Activated(how[4], cell)), n, row.state + first);
}

void LstmForward(const LstmActivations& how, LstmRow row, int64_t rows, const float* sums, int64_t first) {
  const size_t lanes = hn::Lanes(FloatTag()), n = std::min<size_t>(lanes, row.units - first);
  for (int64_t i = 0; i < rows; ++i) {
    if (n == lanes) LstmForwardRow(how, row, sums, first, lanes);
    else LstmForwardRow(how, row, sums, first, n);
    sums += 4 * lanes;
    row.x += 4 * row.units;
    row.cell_before += row.units;
    row.state += row.units;
    row.cell += row.units;
    if (row.gates != nullptr) row.gates += 4 * row.units;
  }
}

void LstmBackward(const LstmActivations& how, const LstmGradientRow& row, Range units) {
  const FloatTag d;
  ForVectors(d, units.end - units.begin, [&](size_t i, size_t n) HWY_ATTR {
    const int64_t at = units.begin + static_cast<int64_t>(i);
    const auto load = [&](const float* from) HWY_ATTR { return LoadUpTo(d, from + at, n, hn::Zero(d)); };
    const auto i_gate = load(row.gates), f = load(row.gates + row.units), z = load(row.gates + 2 * row.units),
               o = load(row.gates + 3 * row.units), before = load(row.cell_before);
    const auto activated = Activated(how[4], load(row.cell));
    const auto dh = hn::Add(load(row.incoming), load(row.state_gradient));
    auto dc = hn::MulAdd(hn::Mul(dh, o), Slope(how[4], activated), load(row.cell_gradient));
    if (row.incoming_cell != nullptr) dc = hn::Add(dc, load(row.incoming_cell));
    const FloatVector gradients[4] = {
        hn::Mul(hn::Mul(dc, z), Slope(how[0], i_gate)), hn::Mul(hn::Mul(dc, before), Slope(how[1], f)),
        hn::Mul(hn::Mul(dc, i_gate), Slope(how[2], z)), hn::Mul(hn::Mul(dh, activated), Slope(how[3], o))};
    dc = hn::Mul(dc, f);
    for (int64_t g = 0; g < 4; ++g) {
      StoreUpTo(d, gradients[g], n, row.x_gradient + g * row.units + at);
      if (row.peephole != nullptr) dc = hn::MulAdd(load(row.peephole + g * row.units), gradients[g], dc);
    }
    StoreUpTo(d, dc, n, row.cell_gradient + at);
  });
}

LstmLoops FindLstmLoops() { return {static_cast<int64_t>(hn::Lanes(FloatTag())), &LstmForward, &LstmBackward}; }

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace alloy::cpu {

HWY_EXPORT(FindLstmLoops);

namespace {

using ir::Attr;
using ir::Op;

// Operands: x, weights, first state, first cell[, mask][, peephole].
class Lstm final : public RecurrentKernel {
 public:
  explicit Lstm(const Op& op) : Lstm(op, Sequence(op, op.operands[0].shape(), op.operands[1].shape()[1])) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const Sequence& s = sequence_;
    const Room room = make_room(operands, scratch);
    const auto in = [&](size_t i) { return reinterpret_cast<const float*>(operands[i]); };
    const auto out = [&](size_t i) { return reinterpret_cast<float*>(results[i]); };
    const float* const mask = is_masked_ ? in(4) : nullptr;
    const float* const peephole = has_peephole_ ? in(is_masked_ ? 5 : 4) : nullptr;
    float* const gates = is_training_ ? out(2) : nullptr;
    const RowProduct& product = products_[0];
    for_each_step(s, phases_, work(), [&](int64_t i, size_t phase, const Share& share) {
      const int64_t now = s.time(i) * s.batch;
      const int64_t before = i == 0 ? 0 : s.time(i - 1) * s.batch;
      const float* state = i == 0 ? in(2) : out(0) + before * s.units;
      const float* const cell = i == 0 ? in(3) : out(1) + before * s.units;
      if (is_masked_ && phase == 0) return multiply_rows(s, share.rows, state, mask, room.own);
      if (is_masked_) state = room.own;
      float* const tile = room.tiles + share.thread * products_.tile_floats();
      for (int64_t stripe = share.stripes.begin; stripe < share.stripes.end; ++stripe) {
        product.multiply(state + share.rows.begin * s.units, s.units, share.rows.end - share.rows.begin, room.packed,
                         stripe, tile);
        const int64_t place = now + share.rows.begin;
        loops_.forward(how_,
                       {s.units, in(0) + place * 4 * s.units, cell + share.rows.begin * s.units, peephole,
                        out(0) + place * s.units, out(1) + place * s.units,
                        gates == nullptr ? nullptr : gates + place * 4 * s.units},
                       share.rows.end - share.rows.begin, tile, stripe * loops_.lanes);
      }
    });
  }

 private:
  Lstm(const Op& op, const Sequence& s)
      : RecurrentKernel(s, {{state_weights(s.units, 4), 0}}, 1,
                        op.attributes.flag(Attr::kMasked) ? s.state_floats() : 0),
        loops_(HWY_DYNAMIC_DISPATCH(FindLstmLoops)()),
        is_masked_(op.attributes.flag(Attr::kMasked)),
        has_peephole_(op.attributes.flag(Attr::kPeephole)),
        is_training_(op.attributes.flag(Attr::kTraining)) {
    std::ranges::copy(activations_of(op), how_);
    phases_ = {products_[0].stripes()};
    if (is_masked_) phases_.insert(phases_.begin(), 1);  // multiplies the states by the mask
  }

  LstmLoops loops_;
  LstmActivations how_;
  bool is_masked_, has_peephole_, is_training_;
  std::vector<int64_t> phases_;
};

// Operands: gradient of the states, gates, cells, weights, first cell[, mask][, peephole][, gradient of the cells].
// Results: the gradient of x, and the gradients of the first state and the first cell, whose memory holds the gradients
// carried from step to step.
class LstmGradient final : public RecurrentKernel {
 public:
  explicit LstmGradient(const Op& op)
      : LstmGradient(op, Sequence(op, op.operands[1].shape(), op.operands[3].shape()[1])) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const Sequence& s = sequence_;
    const Room room = make_room(operands, scratch);
    const auto in = [&](size_t i) { return reinterpret_cast<const float*>(operands[i]); };
    size_t next = 5;
    const float* const mask = is_masked_ ? in(next++) : nullptr;
    const float* const peephole = has_peephole_ ? in(next++) : nullptr;
    const float* const incoming_cell = has_cell_gradient_ ? in(next) : nullptr;
    float *const x_gradient = reinterpret_cast<float*>(results[0]),
                 *const carried = reinterpret_cast<float*>(results[1]),
                 *const carried_cell = reinterpret_cast<float*>(results[2]);
    std::fill_n(carried, s.state_floats(), 0.0F);
    std::fill_n(carried_cell, s.state_floats(), 0.0F);
    const RowProduct& product = products_[0];
    for_each_step(s, phases_, work(), [&](int64_t i, size_t phase, const Share& share) {
      const int64_t step = s.steps - 1 - i, now = s.time(step) * s.batch;
      if (phase == 1) {
        multiply_into(product, room.packed, x_gradient + now * 4 * s.units, 4 * s.units, share,
                      room.tiles + share.thread * products_.tile_floats(), mask, carried, false);
        return;
      }
      const float* const cell = step == 0 ? in(4) : in(2) + s.time(step - 1) * s.batch * s.units;
      const Range units = units_of(product, share.stripes);
      for (int64_t row = share.rows.begin; row < share.rows.end; ++row) {
        const int64_t place = (now + row) * s.units, own = row * s.units;
        loops_.backward(how_,
                        {s.units, in(1) + 4 * place, in(2) + place, cell + own, peephole, in(0) + place,
                         incoming_cell == nullptr ? nullptr : incoming_cell + place, carried + own, carried_cell + own,
                         x_gradient + 4 * place},
                        units);
      }
    });
  }

 private:
  LstmGradient(const Op& op, const Sequence& s)
      : RecurrentKernel(s, {{gradient_weights(s.units, 4), 0}}, 3, 0),
        loops_(HWY_DYNAMIC_DISPATCH(FindLstmLoops)()),
        is_masked_(op.attributes.flag(Attr::kMasked)),
        has_peephole_(op.attributes.flag(Attr::kPeephole)),
        has_cell_gradient_(op.attributes.flag(Attr::kCellGradient)) {
    std::ranges::copy(activations_of(op), how_);
    phases_ = {products_[0].stripes(), products_[0].stripes()};  // the gates, then the previous states
  }

  LstmLoops loops_;
  LstmActivations how_;
  bool is_masked_, has_peephole_, has_cell_gradient_;
  std::vector<int64_t> phases_;
};

}  // namespace

std::unique_ptr<Kernel> make_lstm(const Op& op) {
  require_float(op);
  return std::make_unique<Lstm>(op);
}
std::unique_ptr<Kernel> make_lstm_gradient(const Op& op) {
  require_float(op);
  return std::make_unique<LstmGradient>(op);
}

}  // namespace alloy::cpu
#endif
