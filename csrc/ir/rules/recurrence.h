// Recurrent ops for gradient rules and for Apple's methods. A cell is an op of one direction with named operands;
// absent operands are empty.
#pragma once

#include "ir/rules/expr.h"

namespace alloy::ir {

// An op rnn, lstm or gru with its operands.
struct Cell {
  OpCode code;
  Attributes attributes;  // the op's, but for those that tell its optional operands
  Expr x, weights, state, cell, mask, peephole, secondary_bias;

  static Cell of(Graph& graph, const Op& op);
  int64_t gates() const { return code == OpCode::rnn ? 1 : code == OpCode::lstm ? 4 : 3; }
  bool flag(Attr attr) const { return attributes.flag(attr); }
  // Adds the op and returns its results; with `training`, also the values that the gradient needs.
  std::vector<Expr> run(bool training) const;
};

// The results of a cell and the gradients of its states and cells, which may be empty.
struct CellResults {
  Expr states, cells, kept, gradient, cell_gradient;
};

// The gradients of a cell with respect to its operands. `weights` and the methods after it add the ops that compute
// them.
class CellGradients {
 public:
  CellGradients(const Cell& cell, const CellResults& results);

  Expr x, state, cell;
  Expr weights() const;
  Expr mask() const;
  Expr peephole() const;
  Expr secondary_bias() const;

 private:
  // The left operand of a product with the weights of some gates, and the product's gradient: (rows, units) and (rows,
  // gates * units).
  struct Term {
    Expr left, gradient;
    int64_t first_gate, gates;
  };
  std::vector<Term> terms(bool masked) const;
  Expr weights_of(const Term& term) const;
  Expr reset() const;  // gate of a GRU

  Cell cell_;
  CellResults results_;
};

// The operands of one of Apple's methods: the source (steps, batch, features), or the gates' sums without input
// weights, and the other operands for one or both directions.
struct Recurrence {
  Cell cell;  // the operands but x, with gates in the method's order
  Expr source, input_weights, bias;
  bool bidirectional = false;  // the directions lie side by side, in weights one behind the other; forward comes first
  int64_t swapped_gate = -1;   // this gate and the next are exchanged in all operands; -1: none

  // Returns states, the cells of an LSTM, and with training the values that the gradient needs; directions lie side by
  // side.
  std::vector<Expr> run(bool training) const;
  // Returns the gradients of source, weights, input weights, bias, peephole, state, cell, secondary bias, without those
  // of absent operands. `results.states` is needed only for a GRU. `last_state` and `last_cell` are the gradients of
  // state and cell after the last step; they may be empty.
  std::vector<Expr> gradients(const CellResults& results, Expr last_state, Expr last_cell) const;
};

}  // namespace alloy::ir
