// Recurrent ops. The gradient to the weights is one product over all steps.
#include <algorithm>

#include "ir/rules/recurrence.h"
#include "ir/rules/rules.h"

namespace alloy::ir {
namespace {

// The sizes of an op's sequence; unknown ones are kUnknown.
struct Sizes {
  int64_t steps = kUnknown, batch = kUnknown, units = kUnknown;

  int64_t of_gates(int64_t gates) const { return units == kUnknown ? kUnknown : gates * units; }
};

// Takes units from the recurrent weights, steps and batch from a sequence.
Sizes sizes_of(const Op& op, size_t sequence, size_t weights) {
  const Shape &x = operand(op, sequence).shape, &w = operand(op, weights).shape;
  if (x.ranked() && x.rank() != 3) op.fail("Expected (steps, batch, gates * units), got " + text(x));
  if (w.ranked() && w.rank() != 2) op.fail("Expected recurrent weights (gates * units, units), got " + text(w));
  Sizes e;
  if (x.ranked()) {
    e.steps = x[0];
    e.batch = x[1];
  }
  if (w.ranked()) e.units = w[1];
  return e;
}

void require_shape(const Op& op, size_t i, const Shape& expected, const char* what) {
  if (unify(operand(op, i).shape, expected)) return;
  op.fail("Expected " + std::string(what) + " of " + text(expected) + ", got " + text(operand(op, i).shape));
}

void require_activations(const Op& op, int64_t count) {
  const Dims& list = op.attributes.ints(Attr::kActivations);
  if (list.size() == count && std::ranges::all_of(list, [](int64_t a) { return a >= 0 && a <= 4; })) return;
  op.fail("Expected " + std::to_string(count) + " activations, numbers from 0 to 4, got " + text(list));
}

void require_operands(const Op& op, size_t count) {
  if (op.operands.size() == count) return;
  op.fail("Expected " + std::to_string(count) + " operands with these flags, got " +
          std::to_string(op.operands.size()));
}

DType floating_dtype(const Op& op) {
  const DType dtype = same_dtype(op);
  if (accepts(TypeClass::floating, dtype)) return dtype;
  op.fail("Expected operands of a floating type, got " + text(operand(op, 0)), Error::Kind::kType);
}

bool flag(const Op& op, Attr attr) { return op.attributes.flag(attr); }

// The number of sums that a GRU keeps for its gradient, in units.
int64_t kept_gates(const Op& op) { return flag(op, Attr::kResetAfter) ? 4 : 3; }

// Checks x, the weights and the initial state, which every recurrent op has.
Sizes require_cell(const Op& op, int64_t gates, int64_t activations) {
  require_activations(op, activations);
  const Sizes e = sizes_of(op, 0, 1);
  require_shape(op, 1, {e.of_gates(gates), e.units}, "recurrent weights");
  require_shape(op, 0, {e.steps, e.batch, e.of_gates(gates)}, "x");
  require_shape(op, 2, {e.batch, e.units}, "a first state");
  return e;
}

Types cell_types(const Op& op, const Sizes& e, int64_t sequences, int64_t kept) {
  const DType dtype = floating_dtype(op);
  Types types(sequences, Type{dtype, Shape({e.steps, e.batch, e.units})});
  if (flag(op, Attr::kTraining)) types.push_back({dtype, Shape({e.steps, e.batch, e.of_gates(kept)})});
  return types;
}

}  // namespace

Types infer_rnn(const Op& op) {
  require_operands(op, flag(op, Attr::kMasked) ? 4 : 3);
  const Sizes e = require_cell(op, 1, 1);
  if (flag(op, Attr::kMasked)) require_shape(op, 3, {e.batch, e.units}, "a mask");
  return cell_types(op, e, 1, 1);
}

Types infer_lstm(const Op& op) {
  const size_t masks = flag(op, Attr::kMasked), peepholes = flag(op, Attr::kPeephole);
  require_operands(op, 4 + masks + peepholes);
  const Sizes e = require_cell(op, 4, 5);
  require_shape(op, 3, {e.batch, e.units}, "a first cell");
  if (masks > 0) require_shape(op, 4, {e.batch, e.units}, "a mask");
  if (peepholes > 0) require_shape(op, 4 + masks, Shape({e.of_gates(4)}), "a peephole");
  return cell_types(op, e, 2, 4);
}

Types infer_gru(const Op& op) {
  const size_t biases = flag(op, Attr::kResetAfter), masks = flag(op, Attr::kMasked);
  require_operands(op, 3 + biases + masks);
  const Sizes e = require_cell(op, 3, 3);
  if (biases > 0) require_shape(op, 3, Shape({e.units}), "a secondary bias");
  if (masks > 0) require_shape(op, 3 + biases, {e.batch, e.units}, "a mask");
  return cell_types(op, e, 1, kept_gates(op));
}

Types infer_rnn_gradient(const Op& op) {
  require_operands(op, flag(op, Attr::kMasked) ? 4 : 3);
  require_activations(op, 1);
  const Sizes e = sizes_of(op, 1, 2);
  require_shape(op, 2, {e.units, e.units}, "recurrent weights");
  const Shape sequence({e.steps, e.batch, e.units}), state({e.batch, e.units});
  require_shape(op, 0, sequence, "an incoming gradient");
  require_shape(op, 1, sequence, "sums");
  if (flag(op, Attr::kMasked)) require_shape(op, 3, state, "a mask");
  const DType dtype = floating_dtype(op);
  return {{dtype, sequence}, {dtype, state}};
}

Types infer_lstm_gradient(const Op& op) {
  size_t next = 5;
  const size_t count = next + flag(op, Attr::kMasked) + flag(op, Attr::kPeephole) + flag(op, Attr::kCellGradient);
  require_operands(op, count);
  require_activations(op, 5);
  const Sizes e = sizes_of(op, 1, 3);
  const Shape sequence({e.steps, e.batch, e.units}), state({e.batch, e.units}),
      gates({e.steps, e.batch, e.of_gates(4)});
  require_shape(op, 3, {e.of_gates(4), e.units}, "recurrent weights");
  require_shape(op, 0, sequence, "an incoming gradient");
  require_shape(op, 1, gates, "gates");
  require_shape(op, 2, sequence, "cells");
  require_shape(op, 4, state, "a first cell");
  if (flag(op, Attr::kMasked)) require_shape(op, next++, state, "a mask");
  if (flag(op, Attr::kPeephole)) require_shape(op, next++, Shape({e.of_gates(4)}), "a peephole");
  if (flag(op, Attr::kCellGradient)) require_shape(op, next, sequence, "an incoming gradient of the cells");
  const DType dtype = floating_dtype(op);
  return {{dtype, gates}, {dtype, state}, {dtype, state}};
}

Types infer_gru_gradient(const Op& op) {
  require_operands(op, flag(op, Attr::kMasked) ? 6 : 5);
  require_activations(op, 3);
  const Sizes e = sizes_of(op, 1, 3);
  const Shape sequence({e.steps, e.batch, e.units}), state({e.batch, e.units}), sums({e.steps, e.batch, e.of_gates(3)});
  require_shape(op, 3, {e.of_gates(3), e.units}, "recurrent weights");
  require_shape(op, 0, sequence, "an incoming gradient");
  require_shape(op, 1, {e.steps, e.batch, e.of_gates(kept_gates(op))}, "sums");
  require_shape(op, 2, sequence, "states");
  require_shape(op, 4, state, "a first state");
  if (flag(op, Attr::kMasked)) require_shape(op, 5, state, "a mask");
  const DType dtype = floating_dtype(op);
  return {{dtype, sums}, {dtype, state}};
}

// ---- gradients ----

namespace {

// The gradients that the rule needs. The first `sequences` results of the op are states and cells.
CellGradients cell_gradients(GradientRule& r, const Cell& cell, size_t sequences) {
  for (size_t i = sequences; i < r.op().results.size(); ++i) {
    if (r.g(i)) r.op().fail("What a cell keeps for its gradient has no gradient itself");
  }
  CellResults results{r.y(0), sequences > 1 ? r.y(1) : none, none, r.g(0), sequences > 1 ? r.g(1) : none};
  // An op that was not made for training is computed once more.
  results.kept = cell.flag(Attr::kTraining) ? r.y(sequences) : cell.run(true).back();
  return CellGradients(cell, results);
}

void give_cell_gradients(GradientRule& r, size_t sequences) {
  const Op& op = r.op();
  const Cell cell = Cell::of(r.x().graph(), op);
  const CellGradients gradients = cell_gradients(r, cell, sequences);
  const auto give = [&](size_t i, const auto& gradient) {
    if (r.wants(i)) r.give(i, gradient());
  };
  give(0, [&] { return gradients.x; });
  give(1, [&] { return gradients.weights(); });
  give(2, [&] { return gradients.state; });
  size_t next = 3;
  if (cell.cell) give(next++, [&] { return gradients.cell; });
  if (cell.secondary_bias) give(next++, [&] { return gradients.secondary_bias(); });
  if (cell.mask) give(next++, [&] { return gradients.mask(); });
  if (cell.peephole) give(next, [&] { return gradients.peephole(); });
}

}  // namespace

void gradient_rnn(GradientRule& r) { give_cell_gradients(r, 1); }
void gradient_lstm(GradientRule& r) { give_cell_gradients(r, 2); }
void gradient_gru(GradientRule& r) { give_cell_gradients(r, 1); }

void gradient_rnn_gradient(GradientRule& r) { r.op().fail("The op has no gradient"); }
void gradient_lstm_gradient(GradientRule& r) { gradient_rnn_gradient(r); }
void gradient_gru_gradient(GradientRule& r) { gradient_rnn_gradient(r); }

// ---- costs of the matrix products; the rest is small beside them ----

namespace {

Cost product_cost(const Op& op, const Value& sequence, const Value& weights) {
  const Shape& x = sequence.shape();
  return cost_of(op, 2 * static_cast<uint64_t>(x[0] * x[1]) * element_count(weights));
}

}  // namespace

Cost cost_rnn(const Op& op) { return product_cost(op, op.operands[0], op.operands[1]); }
Cost cost_lstm(const Op& op) { return cost_rnn(op); }
Cost cost_gru(const Op& op) { return cost_rnn(op); }
Cost cost_rnn_gradient(const Op& op) { return product_cost(op, op.operands[1], op.operands[2]); }
Cost cost_lstm_gradient(const Op& op) { return product_cost(op, op.operands[1], op.operands[3]); }
Cost cost_gru_gradient(const Op& op) { return cost_lstm_gradient(op); }

}  // namespace alloy::ir
