// Softmax, its logarithm and its losses.
#include <numeric>

#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

struct SoftmaxReference {
  std::vector<double> softmax, log_softmax, losses;

  SoftmaxReference(const Tensor& x, const Tensor& labels, int64_t axis) {
    const Shape& s = x.type.shape;
    const int64_t extent = s[axis];
    int64_t inner = 1;
    for (int64_t i = axis + 1; i < s.rank(); ++i) inner *= s[i];
    softmax.resize(static_cast<size_t>(x.size()));
    log_softmax = softmax;
    for (int64_t i = 0; i < x.size() / extent; ++i) {
      const int64_t start = i / inner * extent * inner + i % inner;
      double greatest = -kInfinity, sum = 0, loss = 0;
      for (int64_t k = 0; k < extent; ++k) greatest = std::max(greatest, x.at(start + k * inner));
      for (int64_t k = 0; k < extent; ++k) sum += std::exp(x.at(start + k * inner) - greatest);
      for (int64_t k = 0; k < extent; ++k) {
        const int64_t at = start + k * inner;
        log_softmax[at] = x.at(at) - greatest - std::log(sum);
        softmax[at] = std::exp(log_softmax[at]);
        loss -= labels.at(at) * log_softmax[at];
      }
      losses.push_back(loss);
    }
  }
};

TEST_P(Simd, SoftmaxFamily) {
  for (const Shape& shape : {Shape({64, 10}), Shape({3, 1, 37}), Shape({4, 5, 300}), Shape({2, 3000}), Shape({1, 1}),
                             Shape({129, 16}), Shape({70, 3}), Shape({5, 13, 17}), Shape({65, 1})}) {
    const Tensor x = random_.tensor(shape, DType::float32, -30, 30),
                 labels = random_.tensor(shape, DType::float32, 0, 1);
    for (int64_t axis = 0; axis < shape.rank(); ++axis) {
      SCOPED_TRACE(to_string(shape) + " axis " + std::to_string(axis));
      const SoftmaxReference truth(x, labels, axis);
      expect_close(
          run(OpCode::softmax, {x}, {{Attr::kAxis, axis}}), [&](int64_t i) { return truth.softmax[i]; }, 16, 1e-7);
      expect_close(
          run(OpCode::log_softmax, {x}, {{Attr::kAxis, axis - shape.rank()}}),
          [&](int64_t i) { return truth.log_softmax[i]; }, 4, 4e-6);
      auto loss = [&](const char* reduction) {
        return run(OpCode::softmax_cross_entropy, {x, labels},
                   {{Attr::kAxis, axis}, {Attr::kReduction, std::string(reduction)}});
      };
      const double sum = std::accumulate(truth.losses.begin(), truth.losses.end(), 0.0);
      expect_close(loss("none"), [&](int64_t i) { return truth.losses[i]; }, 32, 1e-5);
      expect_close(loss("sum"), [&](int64_t) { return sum; }, 32);
      expect_close(loss("mean"), [&](int64_t) { return sum / static_cast<double>(truth.losses.size()); }, 32);
    }
  }
}

TEST_P(Simd, SoftmaxDoesNotOverflow) {
  // Short rows one by one and many at once, and a long one.
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

// The loss of a right answer is what the other classes add to the sum, however little that is.
TEST_P(Simd, LogSumsNearZeroAreExact) {
  for (const Shape& shape : {Shape({100, 3}), Shape({4, 16}), Shape({3, 40}), Shape({2, 3000}), Shape({60, 7, 5})}) {
    for (double margin : {0.1, 3.0, 16.0, 30.0, 80.0}) {
      SCOPED_TRACE(to_string(shape) + " margin " + std::to_string(margin));
      Tensor x = random_.tensor(shape), labels(x.type);
      const int64_t axis = 1, extent = shape[1], inner = shape.rank() == 3 ? shape[2] : 1;
      for (int64_t i = 0; i < x.size(); ++i) {
        const bool greatest = i / inner % extent == extent / 2;
        x.set(i, greatest ? 5 : 3 - margin + x.at(i));
        labels.set(i, greatest);
      }
      const Tensor loss = run(OpCode::softmax_cross_entropy, {x, labels},
                              {{Attr::kAxis, axis}, {Attr::kReduction, std::string("none")}});
      for (int64_t i = 0; i < loss.size(); ++i) {
        double rest = 0;
        for (int64_t k = 0; k < extent; ++k) {
          if (k != extent / 2) rest += std::exp(x.at((i / inner * extent + k) * inner + i % inner) - 5);
        }
        ASSERT_NEAR(loss.at(i), std::log1p(rest), 2e-6 * std::log1p(rest));
      }
    }
  }
}

}  // namespace
}  // namespace alloy::test
