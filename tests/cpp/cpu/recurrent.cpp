// Recurrent cells: their states against a plain computation, their gradients against its slope along random directions,
// and the same bits with any number of threads.
#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

struct Extents {
  int64_t steps, batch, units;
};

constexpr Extents kExtents[] = {{3, 1, 5}, {4, 7, 17}, {2, 13, 40}, {5, 2, 70}, {3, 20, 16}, {1, 3, 130}};

// The states of a cell of that many gates, from x (steps, batch, gates * units), with sigmoid gates and tanh.
std::vector<double> states_of(const Extents& e, int64_t gates, const std::vector<double>& x, const Tensor& weights,
                              bool reset_after) {
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  std::vector<double> out(static_cast<size_t>(e.steps * e.batch * e.units));
  for (int64_t n = 0; n < e.batch; ++n) {
    std::vector<double> h(static_cast<size_t>(e.units)), c(h), next(h);
    for (int64_t t = 0; t < e.steps; ++t) {
      const auto old = [&](int64_t g, int64_t u, const std::vector<double>& from) {
        double sum = 0;
        for (int64_t k = 0; k < e.units; ++k) sum += from[k] * weights.at((g * e.units + u) * e.units + k);
        return sum;
      };
      const auto in = [&](int64_t g, int64_t u) { return x[((t * e.batch + n) * gates + g) * e.units + u]; };
      const auto gate = [&](int64_t g, int64_t u) { return in(g, u) + old(g, u, h); };
      std::vector<double> reset(h);
      for (int64_t u = 0; u < e.units && gates == 3; ++u) reset[u] = sigmoid(gate(1, u)) * h[u];
      for (int64_t u = 0; u < e.units; ++u) {
        if (gates == 1) next[u] = std::tanh(gate(0, u));
        if (gates == 3) {
          const double z = sigmoid(gate(0, u)),
                       o = in(2, u) + (reset_after ? sigmoid(gate(1, u)) * old(2, u, h) : old(2, u, reset));
          next[u] = z * h[u] + (1 - z) * std::tanh(o);
        }
        if (gates == 4) {
          c[u] = sigmoid(gate(1, u)) * c[u] + sigmoid(gate(0, u)) * std::tanh(gate(2, u));
          next[u] = sigmoid(gate(3, u)) * std::tanh(c[u]);
        }
      }
      h = next;
      std::copy(h.begin(), h.end(), out.begin() + (t * e.batch + n) * e.units);
    }
  }
  return out;
}

std::vector<double> numbers(const Tensor& t) {
  std::vector<double> out;
  for (int64_t i = 0; i < t.size(); ++i) out.push_back(t.at(i));
  return out;
}

struct CellCase {
  OpCode code, gradient;
  int64_t gates;
  Attributes attributes;
};

std::vector<CellCase> cells() {
  const Attributes gru{{Attr::kActivations, Dims{3, 3, 2}}};
  return {{OpCode::rnn, OpCode::rnn_gradient, 1, {{Attr::kActivations, Dims{2}}}},
          {OpCode::lstm, OpCode::lstm_gradient, 4, {{Attr::kActivations, Dims{3, 3, 2, 3, 2}}}},
          {OpCode::gru, OpCode::gru_gradient, 3, gru},
          {OpCode::gru, OpCode::gru_gradient, 3, with(gru, Attr::kResetAfter, true)}};
}

// The results of a cell that is trained, then those of its gradient.
std::vector<Tensor> results_of(const CellCase& cell, const Tensor& x, const Tensor& weights, const Tensor& zeros,
                               const Tensor& incoming) {
  std::vector<Tensor> operands{x, weights, zeros};
  if (cell.gates == 4) operands.push_back(zeros);
  if (cell.attributes.flag(Attr::kResetAfter)) {
    operands.push_back(Tensor(f32({zeros.type.shape[1]})));
  }
  std::vector<Tensor> made = run_all(cell.code, operands, with(cell.attributes, Attr::kTraining, true));
  std::vector<Tensor> given{incoming, made.back()};
  if (cell.gates == 4) given.push_back(made[1]);
  if (cell.gates == 3) given.push_back(made[0]);
  given.push_back(weights);
  if (cell.gates > 1) given.push_back(zeros);
  for (Tensor& gradient : run_all(cell.gradient, given, cell.attributes)) made.push_back(std::move(gradient));
  return made;
}

TEST_P(Simd, RecurrentCells) {
  for (const CellCase& cell : cells()) {
    for (const Extents& e : kExtents) {
      SCOPED_TRACE(std::to_string(cell.gates) + " gates, " + std::to_string(e.units) + " units, " +
                   std::to_string(e.batch) + " rows");
      const int64_t wide = cell.gates * e.units;
      const bool after = cell.attributes.flag(Attr::kResetAfter);
      const Tensor x = random_.tensor({e.steps, e.batch, wide}), incoming = random_.tensor({e.steps, e.batch, e.units}),
                   weights = random_.tensor({wide, e.units}, DType::float32, -0.3, 0.3), zeros(f32({e.batch, e.units}));
      const std::vector<Tensor> results = results_of(cell, x, weights, zeros, incoming);
      const std::vector<double> expected = states_of(e, cell.gates, numbers(x), weights, after);
      expect_close(results[0], [&](int64_t i) { return expected[i]; }, 4, 2e-6);
      // Along a random direction, the loss rises as the gradient says.
      const Tensor direction = random_.tensor(x.type.shape);
      double rise = 0, promised = 0;
      const double step = 1e-6;
      for (const double sign : {1.0, -1.0}) {
        std::vector<double> moved = numbers(x);
        for (int64_t i = 0; i < x.size(); ++i) moved[i] += sign * step * direction.at(i);
        const std::vector<double> states = states_of(e, cell.gates, moved, weights, after);
        for (int64_t i = 0; i < incoming.size(); ++i) rise += sign * states[i] * incoming.at(i) / (2 * step);
      }
      const size_t at = cell.gates == 4 ? 3 : 2;
      double scale = 0;
      for (int64_t i = 0; i < x.size(); ++i) {
        promised += results[at].at(i) * direction.at(i);
        scale += std::abs(results[at].at(i) * direction.at(i));
      }
      EXPECT_NEAR(promised, rise, 1e-5 * scale);
    }
  }
}

TEST_P(Simd, RecurrentCellsDoNotDependOnThreads) {
  const int before = kernel_threads();
  for (const CellCase& cell : cells()) {
    for (const Extents& e : kExtents) {
      const int64_t wide = cell.gates * e.units;
      const Tensor x = random_.tensor({e.steps, e.batch, wide}), incoming = random_.tensor({e.steps, e.batch, e.units}),
                   weights = random_.tensor({wide, e.units}), zeros(f32({e.batch, e.units}));
      std::vector<Tensor> first;
      for (const int threads : {1, 2, 5}) {
        set_kernel_threads(threads);
        const std::vector<Tensor> results = results_of(cell, x, weights, zeros, incoming);
        if (first.empty()) first = results;
        for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i].bytes, first[i].bytes) << threads;
      }
    }
  }
  set_kernel_threads(before);
}

}  // namespace
}  // namespace alloy::test
