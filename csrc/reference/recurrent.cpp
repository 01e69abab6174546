// Recurrent ops and their gradients, unit by unit, sequence by sequence.
#include <algorithm>
#include <cmath>

#include "reference/reference.h"

namespace alloy::reference {
namespace {

using Row = std::vector<double>;

double activated(int64_t how, double x) {
  switch (how) {
    case 1: return std::max(x, 0.0);
    case 2: return std::tanh(x);
    case 3: return 1 / (1 + std::exp(-x));
    case 4: return std::clamp(0.2 * x + 0.5, 0.0, 1.0);
    default: return x;
  }
}

// The derivative of an activation, from the activation's value.
double slope(int64_t how, double y) {
  switch (how) {
    case 1: return y > 0 ? 1 : 0;
    case 2: return 1 - y * y;
    case 3: return y * (1 - y);
    case 4: return y > 0 && y < 1 ? 0.2 : 0;
    default: return 1;
  }
}

// An op's operands and results as numbers, its flags, and the positions of its elements.
struct Cells {
  int64_t steps, batch, units;
  Dims how;
  bool reverse, after, flips, masked, peephole, of_cells;
  std::vector<Row> in, out;
  Row weights, mask;

  // `sequence` and `w` are the indices of the operands that hold the sequence and the weights.
  Cells(const Op& op, const Arrays<double>& operands, size_t sequence, size_t w)
      : steps(operands[sequence].dims[0]),
        batch(operands[sequence].dims[1]),
        units(operands[w].dims[1]),
        how(op.attributes.ints(Attr::kActivations)),
        reverse(op.attributes.flag(Attr::kReverse)),
        after(op.attributes.flag(Attr::kResetAfter)),
        flips(op.attributes.flag(Attr::kFlipZ)),
        masked(op.attributes.flag(Attr::kMasked)),
        peephole(op.attributes.flag(Attr::kPeephole)),
        of_cells(op.attributes.flag(Attr::kCellGradient)),
        weights(operands[w].values),
        mask(batch * units, 1) {
    for (const Array& x : operands) in.push_back(x.values);
    for (const Type& type : op.results) out.emplace_back(count_of(type.shape.dims()));
  }

  Arrays<double> results(const Op& op) const {
    Arrays<double> arrays;
    for (size_t i = 0; i < out.size(); ++i) arrays.push_back({op.results[i].shape.dims(), out[i]});
    return arrays;
  }
  int64_t time(int64_t i) const { return reverse ? steps - 1 - i : i; }
  int64_t at(int64_t t, int64_t n, int64_t u) const { return (t * batch + n) * units + u; }
  int64_t gate(int64_t t, int64_t n, int64_t g, int64_t u, int64_t count) const {
    return ((t * batch + n) * count + g) * units + u;
  }
  // The row of the sequence for the step before the i-th; `first` before the first step.
  double before(const Row& sequence, const Row& first, int64_t i, int64_t n, int64_t u) const {
    return i == 0 ? first[n * units + u] : sequence[at(time(i - 1), n, u)];
  }
  // A gate's sum of states(k) times weights over all units k.
  template <class States>
  double sum(int64_t g, int64_t u, const States& states) const {
    double total = 0;
    for (int64_t k = 0; k < units; ++k) total += states(k) * weights[(g * units + u) * units + k];
    return total;
  }
};

void rnn(Cells& c) {
  if (c.masked) c.mask = c.in[3];
  for (int64_t i = 0; i < c.steps; ++i) {
    for (int64_t n = 0; n < c.batch; ++n) {
      for (int64_t u = 0; u < c.units; ++u) {
        const auto states = [&](int64_t k) { return c.mask[n * c.units + k] * c.before(c.out[0], c.in[2], i, n, k); };
        const int64_t at = c.at(c.time(i), n, u);
        const double sum = c.in[0][at] + c.sum(0, u, states);
        c.out[0][at] = activated(c.how[0], sum);
        if (c.out.size() > 1) c.out[1][at] = sum;
      }
    }
  }
}

void lstm(Cells& c) {
  if (c.masked) c.mask = c.in[4];
  const Row zeros(4 * c.units), &peeps = c.peephole ? c.in.back() : zeros;
  for (int64_t i = 0; i < c.steps; ++i) {
    for (int64_t n = 0; n < c.batch; ++n) {
      for (int64_t u = 0; u < c.units; ++u) {
        const auto states = [&](int64_t k) { return c.mask[n * c.units + k] * c.before(c.out[0], c.in[2], i, n, k); };
        const double cell = c.before(c.out[1], c.in[3], i, n, u);
        double gates[4];
        for (int64_t g = 0; g < 4; ++g) {
          const int64_t at = c.gate(c.time(i), n, g, u, 4);
          gates[g] = activated(c.how[g], c.in[0][at] + c.sum(g, u, states) + peeps[g * c.units + u] * cell);
          if (c.out.size() > 2) c.out[2][at] = gates[g];
        }
        const int64_t at = c.at(c.time(i), n, u);
        c.out[1][at] = gates[1] * cell + gates[0] * gates[2];
        c.out[0][at] = gates[3] * activated(c.how[4], c.out[1][at]);
      }
    }
  }
}

void gru(Cells& c) {
  if (c.masked) c.mask = c.in.back();
  const Row zeros(c.units), &bias = c.after ? c.in[3] : zeros;
  const int64_t kept = c.after ? 4 : 3;
  for (int64_t i = 0; i < c.steps; ++i) {
    const int64_t t = c.time(i);
    for (int64_t n = 0; n < c.batch; ++n) {
      const auto old = [&](int64_t k) { return c.before(c.out[0], c.in[2], i, n, k); };
      const auto states = [&](int64_t k) { return c.mask[n * c.units + k] * old(k); };
      Row sums(kept * c.units);
      for (int64_t g = 0; g < 2; ++g) {
        for (int64_t u = 0; u < c.units; ++u)
          sums[g * c.units + u] = c.in[0][c.gate(t, n, g, u, 3)] + c.sum(g, u, states);
      }
      const auto reset = [&](int64_t k) { return activated(c.how[1], sums[c.units + k]); };
      for (int64_t u = 0; u < c.units; ++u) {
        const double state =
            c.after ? c.sum(2, u, states) + bias[u] : c.sum(2, u, [&](int64_t k) { return reset(k) * states(k); });
        sums[2 * c.units + u] = c.in[0][c.gate(t, n, 2, u, 3)] + (c.after ? reset(u) * state : state);
        if (c.after) sums[3 * c.units + u] = state;
        const double z = activated(c.how[0], sums[u]), o = activated(c.how[2], sums[2 * c.units + u]);
        c.out[0][c.at(t, n, u)] = c.flips ? (1 - z) * old(u) + z * o : z * old(u) + (1 - z) * o;
      }
      if (c.out.size() > 1) std::ranges::copy(sums, c.out[1].begin() + c.gate(t, n, 0, 0, kept));
    }
  }
}

// The gradient of the state before, through the sums of all gates, whose gradients are `gates`.
double carried(const Cells& c, const Row& gates, int64_t n, int64_t u) {
  double total = 0;
  for (size_t j = 0; j < gates.size(); ++j) total += gates[j] * c.weights[static_cast<int64_t>(j) * c.units + u];
  return total * c.mask[n * c.units + u];
}

// Operands: gradient, sums, weights[, mask].
void rnn_gradient(Cells& c) {
  if (c.masked) c.mask = c.in[3];
  for (int64_t n = 0; n < c.batch; ++n) {
    Row later(c.units);
    for (int64_t i = c.steps - 1; i >= 0; --i) {
      Row gates(c.units);
      for (int64_t u = 0; u < c.units; ++u) {
        const int64_t at = c.at(c.time(i), n, u);
        gates[u] = c.out[0][at] = (c.in[0][at] + later[u]) * slope(c.how[0], activated(c.how[0], c.in[1][at]));
      }
      for (int64_t u = 0; u < c.units; ++u) later[u] = carried(c, gates, n, u);
    }
    std::ranges::copy(later, c.out[1].begin() + n * c.units);
  }
}

// Operands: gradient, gates, cells, weights, initial cell[, mask][, peephole][, gradient of the cells].
void lstm_gradient(Cells& c) {
  if (c.masked) c.mask = c.in[5];
  const Row zeros(4 * c.units), &peeps = c.peephole ? c.in[c.masked ? 6 : 5] : zeros;
  for (int64_t n = 0; n < c.batch; ++n) {
    Row later(c.units), later_cell(c.units);
    for (int64_t i = c.steps - 1; i >= 0; --i) {
      const int64_t t = c.time(i);
      Row gates(4 * c.units);
      for (int64_t u = 0; u < c.units; ++u) {
        const int64_t at = c.at(t, n, u);
        double y[4];
        for (int64_t g = 0; g < 4; ++g) y[g] = c.in[1][c.gate(t, n, g, u, 4)];
        const double before = c.before(c.in[2], c.in[4], i, n, u), active = activated(c.how[4], c.in[2][at]);
        const double dh = c.in[0][at] + later[u];
        const double dc = later_cell[u] + dh * y[3] * slope(c.how[4], active) + (c.of_cells ? c.in.back()[at] : 0);
        const double flows[4] = {dc * y[2], dc * before, dc * y[0], dh * active};
        later_cell[u] = dc * y[1];
        for (int64_t g = 0; g < 4; ++g) {
          const double d = flows[g] * slope(c.how[g], y[g]);
          gates[g * c.units + u] = c.out[0][c.gate(t, n, g, u, 4)] = d;
          later_cell[u] += d * peeps[g * c.units + u];
        }
      }
      for (int64_t u = 0; u < c.units; ++u) later[u] = carried(c, gates, n, u);
    }
    std::ranges::copy(later, c.out[1].begin() + n * c.units);
    std::ranges::copy(later_cell, c.out[2].begin() + n * c.units);
  }
}

// Operands: gradient, sums, states, weights, initial state[, mask].
void gru_gradient(Cells& c) {
  if (c.masked) c.mask = c.in[5];
  const int64_t kept = c.after ? 4 : 3, units = c.units;
  for (int64_t n = 0; n < c.batch; ++n) {
    Row later(units);
    for (int64_t i = c.steps - 1; i >= 0; --i) {
      const int64_t t = c.time(i);
      Row gates(3 * units), next(units);
      const auto sum = [&](int64_t g, int64_t u) { return c.in[1][c.gate(t, n, g, u, kept)]; };
      const auto reset = [&](int64_t u) { return activated(c.how[1], sum(1, u)); };
      const auto old = [&](int64_t u) { return c.before(c.in[2], c.in[4], i, n, u); };
      for (int64_t u = 0; u < units; ++u) {
        const double z = activated(c.how[0], sum(0, u)), o = activated(c.how[2], sum(2, u)),
                     dh = c.in[0][c.at(t, n, u)] + later[u], sign = c.flips ? -1 : 1;
        next[u] = dh * (c.flips ? 1 - z : z);
        gates[u] = sign * dh * (old(u) - o) * slope(c.how[0], z);
        gates[2 * units + u] = dh * (c.flips ? z : 1 - z) * slope(c.how[2], o);
      }
      for (int64_t u = 0; u < units; ++u) {
        double flow = 0;  // gradient of the reset gate
        if (c.after) {
          flow = gates[2 * units + u] * sum(3, u);
        } else {
          double of_state = 0;
          for (int64_t k = 0; k < units; ++k) of_state += gates[2 * units + k] * c.weights[(2 * units + k) * units + u];
          of_state *= c.mask[n * units + u];
          next[u] += of_state * reset(u);
          flow = of_state * old(u);
        }
        gates[units + u] = flow * slope(c.how[1], reset(u));
      }
      std::ranges::copy(gates, c.out[0].begin() + c.gate(t, n, 0, 0, 3));
      for (int64_t u = 0; u < units; ++u) gates[2 * units + u] *= c.after ? reset(u) : 0;
      for (int64_t u = 0; u < units; ++u) later[u] = next[u] + carried(c, gates, n, u);
    }
    std::ranges::copy(later, c.out[1].begin() + n * units);
  }
}

template <void (*kCompute)(Cells&), size_t kSequence, size_t kWeights>
Arrays<double> cells(const Op& op, const Arrays<double>& in) {
  Cells c(op, in, kSequence, kWeights);
  kCompute(c);
  return c.results(op);
}

}  // namespace

Function<double> recurrent(OpCode code) {
  switch (code) {
    case OpCode::rnn: return cells<rnn, 0, 1>;
    case OpCode::lstm: return cells<lstm, 0, 1>;
    case OpCode::gru: return cells<gru, 0, 1>;
    case OpCode::rnn_gradient: return cells<rnn_gradient, 1, 2>;
    case OpCode::lstm_gradient: return cells<lstm_gradient, 1, 3>;
    case OpCode::gru_gradient: return cells<gru_gradient, 1, 3>;
    default: return nullptr;
  }
}

}  // namespace alloy::reference
