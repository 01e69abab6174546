// Tests recurrent ops and their gradients; results must be the same bits with any number of threads.
#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

struct Extents {
  int64_t steps, batch, units;
};

constexpr Extents kExtents[] = {{3, 1, 5}, {4, 7, 17}, {2, 13, 40}, {5, 2, 70}, {3, 20, 16}, {1, 3, 130}};

struct CellCase {
  OpCode code, gradient;
  int64_t gates;
  Attributes attributes;
};

// Each without and with all optional operands.
std::vector<CellCase> cells() {
  const Attributes rnn{{Attr::kActivations, Dims{2}}}, lstm{{Attr::kActivations, Dims{3, 3, 2, 3, 2}}},
      gru{{Attr::kActivations, Dims{3, 3, 2}}}, gru_after = with(gru, Attr::kResetAfter, true);
  const auto full = [](const Attributes& given) {
    return with(with(given, Attr::kReverse, true), Attr::kMasked, true);
  };
  return {{OpCode::rnn, OpCode::rnn_gradient, 1, rnn},
          {OpCode::rnn, OpCode::rnn_gradient, 1, full(rnn)},
          {OpCode::lstm, OpCode::lstm_gradient, 4, lstm},
          {OpCode::lstm, OpCode::lstm_gradient, 4, full(with(lstm, Attr::kPeephole, true))},
          {OpCode::gru, OpCode::gru_gradient, 3, gru},
          {OpCode::gru, OpCode::gru_gradient, 3, gru_after},
          {OpCode::gru, OpCode::gru_gradient, 3, full(with(gru_after, Attr::kFlipZ, true))}};
}

// The operands of an op and of its gradient.
struct Operands {
  std::vector<Tensor> forward, backward;

  Operands(const CellCase& cell, const Extents& e, Random& random) {
    const Shape states({e.batch, e.units});
    const int64_t wide = cell.gates * e.units;
    const Tensor x = random.tensor({e.steps, e.batch, wide}), first = random.tensor(states),
                 weights = random.tensor({wide, e.units}, DType::float32, -0.3, 0.3);
    forward = {x, weights, first};
    if (cell.gates == 4) forward.push_back(random.tensor(states));
    if (cell.attributes.flag(Attr::kResetAfter)) forward.push_back(random.tensor({e.units}));
    std::vector<Tensor> more;
    if (cell.attributes.flag(Attr::kMasked)) more.push_back(random.tensor(states));
    if (cell.attributes.flag(Attr::kPeephole)) more.push_back(random.tensor({wide}));
    forward.insert(forward.end(), more.begin(), more.end());

    const std::vector<Tensor> made = run_all(cell.code, forward, training(cell));
    backward = {random.tensor(made[0].type.shape), made.back()};
    if (cell.gates > 1) backward.push_back(made[cell.gates == 4 ? 1 : 0]);
    backward.push_back(weights);
    if (cell.gates > 1) backward.push_back(forward[cell.gates == 4 ? 3 : 2]);
    backward.insert(backward.end(), more.begin(), more.end());
  }
  static Attributes training(const CellCase& cell) { return with(cell.attributes, Attr::kTraining, true); }
};

TEST_P(Simd, RecurrentCells) {
  for (const CellCase& cell : cells()) {
    for (const Extents& e : kExtents) {
      SCOPED_TRACE(std::to_string(e.units) + " units, " + std::to_string(e.batch) + " rows");
      const Operands operands(cell, e, random_);
      const Attributes attributes = Operands::training(cell);
      expect_close(run_all(cell.code, operands.forward, attributes)[0],
                   meaning(cell.code, operands.forward, attributes)[0], 4, 2e-6);
      // The sums before the activations are not bounded by 1, as the states are.
      expect_meaning(cell.code, operands.forward, attributes, 4, 1e-5);
      expect_meaning(cell.gradient, operands.backward, cell.attributes, 4, 1e-5);
    }
  }
}

TEST_P(Simd, RecurrentCellsDoNotDependOnThreads) {
  const int before = kernel_threads();
  for (const CellCase& cell : cells()) {
    for (const Extents& e : kExtents) {
      const Operands operands(cell, e, random_);
      std::vector<Tensor> first;
      for (const int threads : {1, 2, 5}) {
        set_kernel_threads(threads);
        std::vector<Tensor> results = run_all(cell.code, operands.forward, Operands::training(cell));
        for (Tensor& t : run_all(cell.gradient, operands.backward, cell.attributes)) results.push_back(std::move(t));
        if (first.empty()) first = results;
        for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i].bytes, first[i].bytes) << threads;
      }
    }
  }
  set_kernel_threads(before);
}

}  // namespace
}  // namespace alloy::test
