// Tests matrix products, computed in every way.
#include <numeric>

#include "cpu/kernel_testing.h"
#include "cpu/machine.h"

namespace alloy::test {
namespace {

TEST(MatMul, AgainstLoops) {
  Random random;
  const std::pair<Shape, Shape> cases[] = {
      {{5, 7}, {7, 3}},
      {{1, 9}, {9, 1}},
      {{64, 100}, {100, 10}},
      {{32, 64}, {64, 32}},
      {{13, 6}, {6, 33}},
      {{7, 40}, {40, 71}},
      {{100, 90}, {90, 110}},
      {{4, 5, 7}, {7, 3}},
      {{4, 5, 7}, {4, 7, 3}},
      {{1, 5, 7}, {4, 7, 3}},
      {{2, 1, 5, 7}, {3, 7, 2}},
      {{5, 7}, {2, 3, 7, 4}},
      {{2, 3, 5, 7}, {2, 3, 7, 4}},
      {{2, 3, 5, 7}, {1, 1, 7, 4}},
      {{0, 7}, {7, 3}},
      {{5, 0}, {0, 3}},
      {{0, 5, 7}, {7, 3}},
      {{5, 1}, {1, 6}},
      {{1, 1}, {1, 1}},
      {{3, 1, 2, 4}, {1, 5, 4, 2}},
  };
  for (const auto& [a_shape, b_shape] : cases) {
    for (int flags = 0; flags < 4; ++flags) {
      const bool ta = flags & 1, tb = flags & 2;
      auto swapped = [](const Shape& s, bool swap) {
        Dims dims = s.dims();
        if (swap) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
        return Shape(dims);
      };
      const Tensor a = random.tensor(swapped(a_shape, ta)), b = random.tensor(swapped(b_shape, tb));
      SCOPED_TRACE("by " + to_string(b.type));
      expect_meaning(OpCode::matmul, {a, b}, {{Attr::kTransposeA, ta}, {Attr::kTransposeB, tb}}, 8, 1e-5);
    }
  }
}

// One running sum of 2^18 tenths would have an error of 2 in a thousand.
TEST(MatMul, LongRowsAreAsExactAsShortOnes) {
  for (const int64_t columns : Dims{1, 2, 16}) {
    for (const int64_t inner : Dims{1000, 1 << 14, kMeasured.onednn_call_products / columns, 1 << 18}) {
      const Tensor a(Shape({1, inner}), std::vector<double>(static_cast<size_t>(inner), 0.1)),
          b(Shape({inner, columns}), std::vector<double>(static_cast<size_t>(inner * columns), 1));
      const double expected = static_cast<double>(0.1f) * static_cast<double>(inner);
      const Tensor y = run(OpCode::matmul, {a, b}, {{Attr::kTransposeA, false}, {Attr::kTransposeB, false}});
      expect_close(y, [&](int64_t) { return expected; }, 0, 5e-5 * expected);
    }
  }
}

struct Product {
  int64_t rows, inner, columns;
  bool a_transposed, b_transposed;

  Attributes flags() const { return {{Attr::kTransposeA, a_transposed}, {Attr::kTransposeB, b_transposed}}; }
  Tensor of(const Tensor& a, const Tensor& b) const { return run(OpCode::matmul, {a, b}, flags()); }
  Shape left() const { return a_transposed ? Shape({inner, rows}) : Shape({rows, inner}); }
  Shape right() const { return b_transposed ? Shape({columns, inner}) : Shape({inner, columns}); }
  int64_t in_left(int64_t m, int64_t k) const { return a_transposed ? k * rows + m : m * inner + k; }
  int64_t in_right(int64_t k, int64_t n) const { return b_transposed ? n * inner + k : k * columns + n; }
};

// Few rows by matrices of every layout, with ends that do not fill a vector, and with sums in several parts.
TEST_P(Simd, ThinProductsAreSumsOfProducts) {
  for (int64_t rows = 1; rows <= 9; ++rows) {
    for (const Dims& right : {Dims{784, 512}, Dims{1030, 37}, Dims{9, 5000}, Dims{1 << 15, 1}, Dims{1, 1 << 15}}) {
      for (int transposed = 0; transposed < 4; ++transposed) {
        SCOPED_TRACE(std::to_string(rows) + " rows by " + to_string(Shape(right)) + ", transposed " +
                     std::to_string(transposed));
        const Product p{rows, right[0], right[1], transposed % 2 == 1, transposed >= 2};
        const double scale = std::sqrt(static_cast<double>(p.inner));
        expect_meaning(OpCode::matmul, {random_.tensor(p.left()), random_.tensor(p.right())}, p.flags(), 4,
                       1e-6 * scale * 16);
      }
    }
  }
}

// Extents that do not fill a tile, vector or block; sums and matrices that are cut into parts; every layout.
TEST_P(Products, AreAsExactAsSumsInFloat32) {
  const Dims extents[] = {
      {65, 64, 70}, {97, 131, 203}, {300, 520, 79}, {64, 1100, 97}, {600, 70, 90}, {150, 513, 1100}, {33, 200, 1500},
  };
  for (const Dims& e : extents) {
    for (int layout = 0; layout < 4; ++layout) {
      const Product p{e[0], e[1], e[2], layout % 2 == 1, layout >= 2};
      SCOPED_TRACE(to_string(Shape(e)) + ", layout " + std::to_string(layout));
      const Tensor a = random_.tensor(p.left()), b = random_.tensor(p.right()), y = p.of(a, b);
      double squares = 0, plain_squares = 0, largest = 0;
      for (int64_t m = 0; m < p.rows; ++m) {
        for (int64_t n = m % 7; n < p.columns; n += 7) {
          double exact = 0, scale = 0;
          float plain = 0;
          for (int64_t k = 0; k < p.inner; ++k) {
            const double product = a.at(p.in_left(m, k)) * b.at(p.in_right(k, n));
            exact += product;
            scale += product * product;
            plain += static_cast<float>(product);
          }
          const double error = (y.at(m * p.columns + n) - exact) / std::sqrt(scale),
                       plain_error = (plain - exact) / std::sqrt(scale);
          squares += error * error;
          plain_squares += plain_error * plain_error;
          largest = std::max(largest, std::abs(error));
        }
      }
      EXPECT_LE(squares, plain_squares);
      EXPECT_LE(largest, 4e-6);
    }
  }
}

// However many threads divide the work.
TEST_P(Products, OfAnyNumberOfThreads) {
  const int before = kernel_threads();
  for (const int threads : {1, 3, 4, 6, 7, 16}) {
    set_kernel_threads(threads);
    for (const Dims& e : {Dims{257, 70, 300}, Dims{600, 65, 161}, Dims{144, 300, 1300}}) {
      const Product p{e[0], e[1], e[2], false, true};
      SCOPED_TRACE(to_string(Shape(e)) + " on " + std::to_string(threads));
      expect_meaning(OpCode::matmul, {random_.tensor(p.left()), random_.tensor(p.right())}, p.flags(), 0, 2e-4);
    }
  }
  set_kernel_threads(before);
}

// Rows of any magnitude, with products of normal size: errors are relative to each element.
TEST_P(Products, KeepTheRangeOfFloat32) {
  const FlushDenormals mode;  // without it, each order of weights rounds some denormals to zero
  for (int layout = 0; layout < 4; ++layout) {
    const Product p{70, 96, 80, layout % 2 == 1, layout >= 2};
    Tensor a = random_.tensor(p.left()), b = random_.tensor(p.right());
    for (int64_t k = 0; k < p.inner; ++k) {
      for (int64_t m = 0; m < p.rows; ++m) {
        a.set(p.in_left(m, k), std::ldexp(a.at(p.in_left(m, k)), static_cast<int>(m * 3) - 100));
      }
      for (int64_t n = 0; n < p.columns; ++n) {
        b.set(p.in_right(k, n), std::ldexp(b.at(p.in_right(k, n)), 10 - static_cast<int>(n)));
      }
    }
    const Tensor y = p.of(a, b);
    for (int64_t m = 0; m < p.rows; ++m) {
      for (int64_t n = 0; n < p.columns; ++n) {
        double exact = 0, scale = 0;
        for (int64_t k = 0; k < p.inner; ++k) {
          const double product = a.at(p.in_left(m, k)) * b.at(p.in_right(k, n));
          exact += product;
          scale += product * product;
        }
        const double tolerance = 2e-6 * std::sqrt(scale) + 1e-36;  // denormals may count as zero
        EXPECT_NEAR(y.at(m * p.columns + n), exact, tolerance) << m << ' ' << n;
      }
    }
  }
}

// An element that is not finite, or so large that a part of it would not be, must not change other elements.
TEST_P(Products, OfInfinitiesAndNaNs) {
  const double large = std::numeric_limits<float>::max(), values[] = {kInfinity, -kInfinity, kNaN, large, -large};
  for (int layout = 0; layout < 4; ++layout) {
    const Product p{70, 96, 80, layout % 2 == 1, layout >= 2};
    Tensor a = random_.tensor(p.left()), b = random_.tensor(p.right(), DType::float32, -0.01, 0.01);
    for (int64_t i = 0; i < 5; ++i) a.set(p.in_left(13 * i, 7 * i), values[i]);
    b.set(p.in_right(50, 40), kInfinity);
    expect_meaning(OpCode::matmul, {a, b}, p.flags(), 32, 1e-6);
  }
}

}  // namespace
}  // namespace alloy::test
