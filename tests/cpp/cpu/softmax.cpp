// Softmax, its logarithm and its losses.
#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

TEST_P(Simd, SoftmaxFamily) {
  for (const Shape& shape : {Shape({64, 10}), Shape({3, 1, 37}), Shape({4, 5, 300}), Shape({2, 3000}), Shape({1, 1}),
                             Shape({129, 16}), Shape({70, 3}), Shape({5, 13, 17}), Shape({65, 1})}) {
    const Tensor x = random_.tensor(shape, DType::float32, -30, 30),
                 labels = random_.tensor(shape, DType::float32, 0, 1);
    for (int64_t axis = 0; axis < shape.rank(); ++axis) {
      SCOPED_TRACE("axis " + std::to_string(axis));
      expect_meaning(OpCode::softmax, {x}, {{Attr::kAxis, axis}}, 16, 1e-7);
      expect_meaning(OpCode::log_softmax, {x}, {{Attr::kAxis, axis - shape.rank()}}, 4, 4e-6);
      for (const char* reduction : {"none", "sum", "mean"}) {
        const Attributes attributes{{Attr::kAxis, axis}, {Attr::kReduction, std::string(reduction)}};
        expect_meaning(OpCode::softmax_cross_entropy, {x, labels}, attributes, 32, reduction[0] == 'n' ? 1e-5 : 0);
      }
    }
  }
}

TEST_P(Simd, SoftmaxDoesNotOverflow) {
  // Short rows one by one and many at once, and a long row.
  for (const auto& [rows, n] : {std::pair<int64_t, int64_t>{1, 4}, {40, 4}, {1, 40}}) {
    Tensor x({DType::float32, Shape({rows, n})}), labels(x.type);
    for (int64_t i = 0; i < x.size(); ++i) {
      x.set(i, i % n < 2 ? 1000 : i % 2 == 0 ? -1000 : -kInfinity);
      labels.set(i, i % n == 0);
    }
    const Tensor y = run(OpCode::softmax, {x}, {{Attr::kAxis, int64_t{1}}});
    for (int64_t i = 0; i < y.size(); ++i) ASSERT_EQ(y.at(i), i % n < 2 ? 0.5 : 0);
    expect_close(run(OpCode::softmax_cross_entropy, {x, labels},
                     {{Attr::kAxis, int64_t{1}}, {Attr::kReduction, std::string("mean")}}),
                 [](int64_t) { return std::log(2.0); });
  }
}

// The loss of a right answer is what the other classes add to the sum, even if that is very little.
TEST_P(Simd, LogSumsNearZeroAreExact) {
  for (const Shape& shape : {Shape({100, 3}), Shape({4, 16}), Shape({3, 40}), Shape({2, 3000}), Shape({60, 7, 5})}) {
    for (double margin : {0.1, 3.0, 16.0, 30.0, 80.0}) {
      SCOPED_TRACE(to_string(shape) + " margin " + std::to_string(margin));
      Tensor x = random_.tensor(shape), labels(x.type);
      const int64_t extent = shape[1], inner = shape.rank() == 3 ? shape[2] : 1;
      for (int64_t i = 0; i < x.size(); ++i) {
        const bool greatest = i / inner % extent == extent / 2;
        x.set(i, greatest ? 5 : 3 - margin + x.at(i));
        labels.set(i, greatest);
      }
      expect_meaning(OpCode::softmax_cross_entropy, {x, labels},
                     {{Attr::kAxis, int64_t{1}}, {Attr::kReduction, std::string("none")}}, 16.7);  // 2e-6
    }
  }
}

}  // namespace
}  // namespace alloy::test
