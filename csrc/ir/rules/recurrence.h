// Recurrent cells as gradient rules and Apple's selectors make them: a cell is the op of one direction with its
// operands by name. What it does not have is an empty Expr.
#pragma once

#include "ir/rules/expr.h"

namespace alloy::ir {

// One op rnn, lstm or gru.
struct Cell {
  OpCode code;
  Attributes attributes;  // of the op, but for those that say which operands there are
  Expr x, weights, state, cell, mask, peephole, secondary_bias;

  static Cell of(Graph& graph, const Op& op);
  int64_t gates() const { return code == OpCode::rnn ? 1 : code == OpCode::lstm ? 4 : 3; }
  bool flag(Attr attr) const { return attributes.flag(attr); }
  // Adds the op and returns its results; with `training`, also what the gradient needs.
  std::vector<Expr> run(bool training) const;
};

// What a cell has computed, and the gradients that flow into its states and cells; the latter may be empty.
struct CellResults {
  Expr states, cells, kept, gradient, cell_gradient;
};

// The gradients of a cell to its operands. `weights` and those behind it add what they are made of.
class CellGradients {
 public:
  CellGradients(const Cell& cell, const CellResults& results);

  Expr x, state, cell;
  Expr weights() const;
  Expr mask() const;
  Expr peephole() const;
  Expr secondary_bias() const;

 private:
  // What the weights of some gates are multiplied with, and the gradient of the product: (rows, units) and (rows, gates
  // * units).
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

// What one of Apple's selectors is given: source (steps, batch, features), or the gates' sums if there are no input
// weights, and everything else of both directions.
struct Recurrence {
  Cell cell;  // its operands but x, and their gates in the selector's order
  Expr source, input_weights, bias;
  bool bidirectional = false;  // forward, then backward, side by side; weights one behind the other
  int64_t swapped_gate = -1;   // that gate and the next stand the other way round in all operands

  // States, cells of an LSTM, and with training what the gradient needs, of both directions side by side.
  std::vector<Expr> run(bool training) const;
  // The gradients to source, weights, input weights, bias, peephole, state, cell, secondary bias, but for what is
  // empty. `states` may be empty but for a GRU. The last two: of the state and the cell after the last step, may be
  // empty.
  std::vector<Expr> gradients(const CellResults& results, Expr last_state, Expr last_cell) const;
};

}  // namespace alloy::ir
