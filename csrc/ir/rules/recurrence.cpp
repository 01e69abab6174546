#include "ir/rules/recurrence.h"

#include <limits>

namespace alloy::ir {
namespace {

constexpr int64_t kToEnd = std::numeric_limits<int64_t>::max();

std::vector<Expr> add_op(OpCode code, const std::vector<Expr>& operands, Attributes attributes) {
  std::vector<Value> values;
  for (const Expr& e : operands) values.push_back(e.value());
  Graph& graph = operands.front().graph();
  Op* const op = graph.add(code, std::move(values), std::move(attributes));
  std::vector<Expr> results;
  for (uint32_t i = 0; i < op->results.size(); ++i) results.emplace_back(graph, op->result(i));
  return results;
}

Expr zeros_like(Expr like) { return broadcast_like(like.scalar(0), like); }

// Reshapes (steps, batch, n) to (steps * batch, n).
Expr rows_of(Expr x) { return reshape(x, {kUnknown, x.shape().ranked() ? x.shape()[2] : kUnknown}); }

Expr activated(Expr x, int64_t activation) {
  switch (activation) {
    case 1: return relu(x);
    case 2: return tanh(x);
    case 3: return sigmoid(x);
    case 4: return minimum(maximum(x * 0.2 + 0.5, x.scalar(0)), x.scalar(1));
    default: return x;
  }
}

int64_t units_of(Expr weights) {
  const Shape& shape = weights.shape();
  if (shape.ranked() && shape.rank() >= 2 && shape[shape.rank() - 1] != kUnknown) return shape[shape.rank() - 1];
  weights.value().op->fail("A recurrent cell of an unknown number of units is not available here, got weights " +
                           to_string(weights.value().type()));
}

// Gates [first, first + count) of a tensor whose last axis holds all gates of the units side by side.
Expr gates_of(Expr x, int64_t units, int64_t first, int64_t count) {
  return slice(x, rank_of(x) - 1, first * units, (first + count) * units);
}

// For each step, the state after the step before.
Expr before(Expr sequence, Expr first, bool reverse) {
  const Expr start = expand_dims(first, {0});
  if (sequence.shape()[0] == 1) return start;
  return reverse ? concat({slice(sequence, 0, 1, kToEnd), start}, 0) : concat({start, slice(sequence, 0, 0, -1)}, 0);
}

}  // namespace

Cell Cell::of(Graph& graph, const Op& op) {
  Cell c{op.code, op.attributes, {}, {}, {}, {}, {}, {}, {}};
  size_t next = 0;
  const auto take = [&](bool there) { return there ? Expr(graph, op.operands[next++]) : none; };
  c.x = take(true);
  c.weights = take(true);
  c.state = take(true);
  c.cell = take(op.code == OpCode::lstm);
  c.secondary_bias = take(op.attributes.flag(Attr::kResetAfter));
  c.mask = take(op.attributes.flag(Attr::kMasked));
  c.peephole = take(op.attributes.flag(Attr::kPeephole));
  return c;
}

std::vector<Expr> Cell::run(bool training) const {
  Attributes all = attributes;
  all.set(Attr::kTraining, training);
  all.set(Attr::kMasked, static_cast<bool>(mask));
  if (code == OpCode::lstm) all.set(Attr::kPeephole, static_cast<bool>(peephole));
  std::vector<Expr> operands{x, weights, state};
  for (const Expr& e : {cell, secondary_bias, mask, peephole}) {
    if (e) operands.push_back(e);
  }
  return add_op(code, operands, std::move(all));
}

CellGradients::CellGradients(const Cell& cell, const CellResults& results) : cell_(cell), results_(results) {
  Attributes attributes{{Attr::kActivations, cell.attributes.ints(Attr::kActivations)},
                        {Attr::kReverse, cell.flag(Attr::kReverse)},
                        {Attr::kMasked, static_cast<bool>(cell.mask)}};
  const Expr gradient = results.gradient ? results.gradient : zeros_like(results.states);
  std::vector<Expr> operands{gradient, results.kept};
  OpCode code = OpCode::rnn_gradient;
  if (cell.code == OpCode::rnn) {
    operands.push_back(cell.weights);
    if (cell.mask) operands.push_back(cell.mask);
  } else if (cell.code == OpCode::lstm) {
    code = OpCode::lstm_gradient;
    attributes.set(Attr::kPeephole, static_cast<bool>(cell.peephole));
    attributes.set(Attr::kCellGradient, static_cast<bool>(results.cell_gradient));
    for (const Expr& e : {results.cells, cell.weights, cell.cell, cell.mask, cell.peephole, results.cell_gradient}) {
      if (e) operands.push_back(e);
    }
  } else {
    code = OpCode::gru_gradient;
    attributes.set(Attr::kResetAfter, cell.flag(Attr::kResetAfter));
    attributes.set(Attr::kFlipZ, cell.flag(Attr::kFlipZ));
    for (const Expr& e : {results.states, cell.weights, cell.state, cell.mask}) {
      if (e) operands.push_back(e);
    }
  }
  const std::vector<Expr> made = add_op(code, operands, std::move(attributes));
  x = made[0];
  state = made[1];
  if (cell.code == OpCode::lstm) this->cell = made[2];
}

std::vector<CellGradients::Term> CellGradients::terms(bool masked) const {
  Expr left = before(results_.states, cell_.state, cell_.flag(Attr::kReverse));
  if (masked && cell_.mask) left = left * cell_.mask;
  if (cell_.code != OpCode::gru) return {{left, x, 0, cell_.gates()}};
  const int64_t units = units_of(cell_.weights);
  const Expr candidate = gates_of(x, units, 2, 1);
  const Term others{left, gates_of(x, units, 0, 2), 0, 2};
  if (cell_.flag(Attr::kResetAfter)) return {others, {left, candidate * reset(), 2, 1}};
  return {others, {left * reset(), candidate, 2, 1}};
}

Expr CellGradients::reset() const {
  return activated(gates_of(results_.kept, units_of(cell_.weights), 1, 1),
                   cell_.attributes.ints(Attr::kActivations)[1]);
}

Expr CellGradients::weights_of(const Term& term) const {
  if (term.gates == cell_.gates()) return cell_.weights;
  const int64_t units = units_of(cell_.weights);
  return slice(cell_.weights, 0, term.first_gate * units, (term.first_gate + term.gates) * units);
}

Expr CellGradients::weights() const {
  std::vector<Expr> parts;
  for (const Term& term : terms(true)) parts.push_back(matmul(rows_of(term.gradient), rows_of(term.left), true));
  return concat(parts, 0);
}

Expr CellGradients::mask() const {
  Expr total;
  for (const Term& term : terms(false)) {
    const Expr product = matmul(rows_of(term.gradient), weights_of(term));
    const Expr part = squeeze(sum(reshape_like(product, term.left) * term.left, {0}), {0});
    total = total ? total + part : part;
  }
  return total;
}

Expr CellGradients::peephole() const {
  const Expr cells = before(results_.cells, cell_.cell, cell_.flag(Attr::kReverse));
  return squeeze(sum(concat({cells, cells, cells, cells}, 2) * x, {0, 1}), {0, 1});
}

Expr CellGradients::secondary_bias() const {
  return squeeze(sum(gates_of(x, units_of(cell_.weights), 2, 1) * reset(), {0, 1}), {0, 1});
}

// ---- Apple's methods ----

namespace {

// One direction: takes its share of tensors that hold both directions.
class Direction {
 public:
  Direction(const Recurrence& r, int64_t index) : r_(r), index_(index), units_(units_of(r.cell.weights)) {}

  int64_t units() const { return units_; }
  int64_t count() const { return r_.bidirectional ? 2 : 1; }

  // The direction's share of a state after the last step.
  Expr flat_part(Expr x) const { return part(flat(x), 1, units_); }
  // The direction's share of an axis with `count()` shares.
  Expr part(Expr x, int64_t axis, int64_t extent) const {
    return count() == 1 ? x : slice(x, axis, index_ * extent, (index_ + 1) * extent);
  }
  // Converts the order of gates from the method's to the op's, or back: one pair is exchanged.
  Expr ordered(Expr x, int64_t axis) const {
    if (r_.swapped_gate < 0) return x;
    std::vector<Expr> parts;
    for (int64_t i = 0; i < r_.cell.gates(); ++i) {
      const int64_t from = i == r_.swapped_gate ? i + 1 : i == r_.swapped_gate + 1 ? i - 1 : i;
      parts.push_back(slice(x, axis, from * units_, (from + 1) * units_));
    }
    return concat(parts, axis);
  }

  // The direction's cell, but for x. `sequence` is (steps, batch, units or more).
  Cell cell(Expr sequence) const {
    Cell c = r_.cell;
    if (r_.bidirectional) c.attributes.set(Attr::kReverse, index_ == 1);
    const int64_t wide = c.gates() * units_;
    c.weights = ordered(reshape(part(reshape(c.weights, {count(), wide, units_}), 0, 1), {wide, units_}), 0);
    c.state = state_or_zeros(c.state, sequence);
    if (c.code == OpCode::lstm) c.cell = state_or_zeros(c.cell, sequence);
    if (c.mask) c.mask = broadcast_like(halved(flat(c.mask)), c.state);
    if (c.peephole) c.peephole = ordered(row(c.peephole, wide), 0);
    if (c.flag(Attr::kResetAfter)) {
      c.secondary_bias =
          c.secondary_bias ? row(c.secondary_bias, units_) : broadcast_to(c.weights.scalar(0), Shape({units_}));
    }
    return c;
  }

 private:
  // Removes leading axes of length 1.
  static Expr flat(Expr x) {
    Dims axes;
    for (int64_t i = 0; i < rank_of(x) - 2; ++i) axes.push_back(i);
    return axes.empty() ? x : squeeze(x, axes);
  }
  // The direction's mask, or one mask for both if it does not hold two.
  Expr halved(Expr x) const {
    const int64_t last = rank_of(x) - 1;
    return last >= 0 && x.shape()[last] == 2 * units_ ? part(x, last, units_) : x;
  }
  Expr row(Expr x, int64_t extent) const { return reshape(part(reshape(x, {count(), extent}), 0, 1), {extent}); }
  Expr state_or_zeros(Expr given, Expr sequence) const {
    if (given) return flat_part(given);
    const Expr one = slice(slice(sequence, 0, 0, 1), 2, 0, units_);
    return zeros_like(squeeze(one, {0}));
  }

  const Recurrence& r_;
  int64_t index_, units_;
};

// The gradient of a tensor from the directions' gradients, joined along the axis of the directions.
Expr joined(const std::vector<Expr>& parts, int64_t axis, Expr like) { return reshape_like(concat(parts, axis), like); }

// Adds the gradient of the last step to the gradient of a sequence.
Expr with_last(Expr gradient, Expr last, bool reverse, Expr sequence) {
  if (!last) return gradient;
  const Attributes place{{Attr::kStarts, Dims{reverse ? 0 : -1, 0, 0}},
                         {Attr::kEnds, Dims{reverse ? 1 : kToEnd, kToEnd, kToEnd}},
                         {Attr::kStrides, Dims{1, 1, 1}}};
  const Expr placed = apply(OpCode::slice_gradient, {expand_dims(last, {0}), sequence}, place);
  return gradient ? gradient + placed : placed;
}

}  // namespace

std::vector<Expr> Recurrence::run(bool training) const {
  Expr sums = source;
  if (input_weights) {
    const Expr product = matmul(rows_of(source), input_weights, false, true);
    // The second product only gives the shape.
    sums = reshape_like(product, matmul(source, input_weights, false, true));
  }
  if (bias) sums = sums + (rank_of(bias) == 1 ? bias : reshape(bias, {kUnknown}));
  std::vector<std::vector<Expr>> parts;  // by result, then by direction
  for (int64_t i = 0; i < (bidirectional ? 2 : 1); ++i) {
    const Direction direction(*this, i);
    Cell one = direction.cell(sums);
    one.x = direction.ordered(direction.part(sums, 2, one.gates() * direction.units()), 2);
    const std::vector<Expr> results = one.run(training);
    parts.resize(results.size());
    for (size_t k = 0; k < results.size(); ++k) parts[k].push_back(results[k]);
  }
  std::vector<Expr> results;
  for (const std::vector<Expr>& part : parts) results.push_back(concat(part, 2));
  return results;
}

std::vector<Expr> Recurrence::gradients(const CellResults& results, Expr last_state, Expr last_cell) const {
  std::vector<Expr> of_sums, of_weights, of_peephole, of_state, of_cell, of_secondary_bias;
  for (int64_t i = 0; i < (bidirectional ? 2 : 1); ++i) {
    const Direction direction(*this, i);
    const int64_t units = direction.units();
    const Cell one = direction.cell(results.gradient);
    const bool reverse = one.flag(Attr::kReverse);
    const auto sequence = [&](Expr x) { return x ? direction.part(x, 2, units) : none; };
    const auto last = [&](Expr x) { return x ? direction.flat_part(x) : none; };
    CellResults own{sequence(results.states), sequence(results.cells), none, sequence(results.gradient), none};
    const int64_t kept = one.gates() + (one.flag(Attr::kResetAfter) ? 1 : 0);
    own.kept = direction.part(results.kept, 2, kept * units);
    const Dims& activations = one.attributes.ints(Attr::kActivations);
    if (one.code == OpCode::rnn) own.states = activated(own.kept, activations[0]);
    if (one.code == OpCode::lstm) {
      own.states = gates_of(own.kept, units, 3, 1) * activated(own.cells, activations[4]);
      own.cell_gradient = with_last(none, last(last_cell), reverse, own.cells);
    }
    own.gradient = with_last(own.gradient, last(last_state), reverse, own.gradient);
    const CellGradients gradients(one, own);
    of_sums.push_back(direction.ordered(gradients.x, 2));
    of_weights.push_back(direction.ordered(gradients.weights(), 0));
    of_state.push_back(gradients.state);
    if (one.cell) of_cell.push_back(gradients.cell);
    if (one.peephole) of_peephole.push_back(direction.ordered(gradients.peephole(), 0));
    if (one.secondary_bias) of_secondary_bias.push_back(gradients.secondary_bias());
  }
  const Expr sums = concat(of_sums, 2);
  std::vector<Expr> all;
  if (input_weights) all.push_back(reshape_like(matmul(rows_of(sums), input_weights), source));
  else all.push_back(sums);
  all.push_back(joined(of_weights, 0, cell.weights));
  if (input_weights) all.push_back(matmul(rows_of(sums), rows_of(source), true));
  if (bias) all.push_back(reshape_like(sum(sums, {0, 1}), bias));
  if (cell.peephole) all.push_back(joined(of_peephole, 0, cell.peephole));
  if (cell.state) all.push_back(joined(of_state, 1, cell.state));
  if (cell.cell) all.push_back(joined(of_cell, 1, cell.cell));
  if (cell.secondary_bias) all.push_back(joined(of_secondary_bias, 0, cell.secondary_bias));
  return all;
}

}  // namespace alloy::ir
