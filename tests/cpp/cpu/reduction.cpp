// Reductions over sets of axes, and the greatest and least.
#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

void expect_reduction(OpCode code, const Tensor& x, const Dims& axes) {
  SCOPED_TRACE("over " + to_string(Shape(axes)));
  // Sums cancel; their error is measured by the sum of magnitudes, at most 2 for an element.
  double count = 1;
  for (int64_t axis : axes) count *= static_cast<double>(x.type.shape[*normalize_axis(axis, x.type.shape.rank())]);
  const double absolute = code == OpCode::sum ? 1e-7 * count : code == OpCode::mean ? 1e-7 : 0;
  expect_meaning(code, {x}, {{Attr::kAxes, axes}}, code == OpCode::product ? 64 : 8, absolute);
}

TEST_P(Simd, ReductionsOverAllSetsOfAxes) {
  for (const OpInfo& row : op_table()) {
    if (row.family != Family::kReduction && row.family != Family::kMoment) continue;
    for (DType dtype : {DType::float32, DType::int32, DType::int64}) {
      if (!accepts(row.types, dtype)) continue;
      for (const Shape& shape :
           {Shape({3, 4, 5, 7}), Shape({2, 1, 37, 3}), Shape({1, 1, 1, 1}), Shape({2, 17, 1, 70})}) {
        // Products of few or small factors, so integers do not overflow.
        const Tensor x = row.code == OpCode::product
                             ? random_.tensor(shape, dtype, dtype == DType::float32 ? 0.9 : -0.2,
                                              dtype == DType::float32 ? 1.1 : 0.4)
                             : random_.tensor(shape, dtype);
        for (int set = 0; set < 16; ++set) {
          Dims axes;
          for (int axis = 0; axis < 4; ++axis) {
            if (set >> axis & 1) axes.push_back(axis % 2 ? axis - 4 : axis);
          }
          expect_reduction(row.code, x, axes);
        }
      }
    }
  }
}

TEST_P(Simd, LargeReductionsTakePartsAndBlocks) {
  for (const Shape& shape : {Shape({300, 1000}), Shape({1000, 600}), Shape({9, 70, 11, 20})}) {
    const Tensor x = random_.tensor(shape);
    for (const Dims& axes : {Dims{0}, Dims{1}, Dims{0, 1}}) {
      expect_reduction(OpCode::sum, x, axes);
      expect_reduction(OpCode::max, x, axes);
      expect_reduction(OpCode::variance, x, axes);
    }
  }
}

TEST(Reductions, FloatSumsStayAccurate) {
  Tensor x(Type{DType::float32, Shape({1 << 21})});
  double truth = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    x.set(i, 0.1 + 1e-3 * static_cast<double>(i % 7));
    truth += x.at(i);
  }
  EXPECT_NEAR(run(OpCode::sum, {x}, {{Attr::kAxes, Dims{0}}}).at(0) / truth, 1, 2e-7);
  x.type.shape = Shape({1 << 20, 2});
  const Tensor columns = run(OpCode::sum, {x}, {{Attr::kAxes, Dims{0}}});
  EXPECT_NEAR((columns.at(0) + columns.at(1)) / truth, 1, 2e-7);
  // The variance is exact although the mean is far from 0.
  Tensor far(Type{DType::float32, Shape({4096})});
  for (int64_t i = 0; i < far.size(); ++i) far.set(i, 10000 + static_cast<double>(i % 2));
  EXPECT_NEAR(run(OpCode::variance, {far}, {{Attr::kAxes, Dims{0}}}).at(0), 0.25, 1e-6);
}

TEST_P(Simd, VarianceOfLargeMeans) {
  for (const Shape& shape : {Shape({1000, 3}), Shape({257, 40}), Shape({40, 2048}), Shape({5, 5000}),
                             Shape({64, 9, 33}), Shape({40000, 2})}) {
    for (double mean : {0.0, 1.0, -3e3, 1e6}) {
      const Tensor x = random_.tensor(shape, DType::float32, mean - 2, mean + 2);
      for (const Dims& axes : {Dims{0}, Dims{1}, Dims{0, 1}}) {
        SCOPED_TRACE("over " + to_string(Shape(axes)) + " around " + std::to_string(mean));
        expect_meaning(OpCode::variance, {x}, {{Attr::kAxes, axes}}, 2.5);
      }
    }
  }
}

TEST_P(Simd, VarianceOfEqualNumbersIsZero) {
  for (double number : {16777.216, 0.1, -1e6 / 3, 3e15, 1e-15}) {
    for (const Shape& shape :
         {Shape({1000, 3}), Shape({3, 1000}), Shape({70003, 2}), Shape({2, 70003}), Shape({300, 600})}) {
      const Tensor x(shape, std::vector<double>(static_cast<size_t>(shape.element_count()), number));
      for (const Dims& axes : {Dims{0}, Dims{1}, Dims{0, 1}}) {
        const Tensor y = run(OpCode::variance, {x}, {{Attr::kAxes, axes}});
        for (int64_t i = 0; i < y.size(); ++i) {
          ASSERT_EQ(y.at(i), 0) << number << " in " << to_string(shape) << " over " << to_string(Shape(axes));
        }
      }
    }
  }
}

TEST_P(Simd, VarianceOfWhatIsNoNumber) {
  for (double odd : {kNaN, kInfinity, -kInfinity}) {
    Tensor x = random_.tensor({50, 40});
    x.set(25 * 40 + 7, odd);
    const Tensor rows = run(OpCode::variance, {x}, {{Attr::kAxes, Dims{1}}}),
                 columns = run(OpCode::variance, {x}, {{Attr::kAxes, Dims{0}}});
    for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(std::isnan(rows.at(i)), i == 25) << odd;
    for (int64_t i = 0; i < 40; ++i) EXPECT_EQ(std::isnan(columns.at(i)), i == 7) << odd;
  }
}

TEST(Reductions, SameBitsForAnyNumberOfThreads) {
  Random random;
  const Tensor x = random.tensor({400, 1000});
  for (const Dims& axes : {Dims{0}, Dims{1}, Dims{0, 1}}) {
    set_kernel_threads(1);
    const Tensor one = run(OpCode::sum, {x}, {{Attr::kAxes, axes}});
    set_kernel_threads(3);
    const Tensor three = run(OpCode::sum, {x}, {{Attr::kAxes, axes}});
    set_kernel_threads(2);
    EXPECT_EQ(one.bytes, three.bytes);
  }
}

TEST(Reductions, OfNothing) {
  const Tensor x(Type{DType::float32, Shape({0, 3})});
  const Attributes axis0{{Attr::kAxes, Dims{0}}};
  expect_equal(run(OpCode::sum, {x}, axis0), {0, 0, 0});
  expect_equal(run(OpCode::product, {x}, axis0), {1, 1, 1});
  expect_equal(run(OpCode::max, {x}, axis0), {-kInfinity, -kInfinity, -kInfinity});
  expect_equal(run(OpCode::mean, {x}, axis0), {kNaN, kNaN, kNaN});
  expect_equal(run(OpCode::variance, {x}, axis0), {kNaN, kNaN, kNaN});
  EXPECT_EQ(run(OpCode::sum, {x}, {{Attr::kAxes, Dims{1}}}).size(), 0);
  expect_equal(run(OpCode::min, {Tensor(Type{DType::int32, Shape({2, 0})})}, {{Attr::kAxes, Dims{1}}}),
               {2147483647, 2147483647});
}

TEST_P(Simd, ExtremesSkipNaN) {
  Tensor x({2, 20}, std::vector<double>(40, kNaN));
  x.set(13, -5);
  x.set(17, 3);
  expect_equal(run(OpCode::max, {x}, {{Attr::kAxes, Dims{1}}}), {3, -kInfinity});
  expect_equal(run(OpCode::min, {x}, {{Attr::kAxes, Dims{1}}}), {-5, kInfinity});
  expect_equal(run(OpCode::argmax, {x}, {{Attr::kAxis, int64_t{1}}}), {17, -1});
  expect_equal(run(OpCode::argmin, {x}, {{Attr::kAxis, int64_t{-1}}}), {13, -1});
  expect_equal(run(OpCode::argmax, {Tensor({3, 2}, {kNaN, kNaN, -kInfinity, kNaN, -kInfinity, kNaN})},
                   {{Attr::kAxis, int64_t{0}}}),
               {1, -1});
  expect_equal(run(OpCode::argmax, {Tensor({3}, {kNaN, -kInfinity, -kInfinity})}, {{Attr::kAxis, int64_t{0}}}), {1});
  const Tensor sum = run(OpCode::sum, {x}, {{Attr::kAxes, Dims{1}}});
  expect_equal(sum, {kNaN, kNaN});
}

TEST_P(Simd, ArgReductionsGiveTheFirst) {
  for (DType dtype : {DType::float32, DType::int32, DType::int64}) {
    for (const Shape& shape : {Shape({5, 37, 3}), Shape({70, 3, 1}), Shape({2, 5, 600})}) {
      Tensor x = random_.tensor(shape, dtype);
      for (int64_t i = 0; i < x.size(); ++i) x.set(i, std::round(x.at(i)));
      for (int64_t axis : {0, 1, 2}) {
        for (OpCode code : {OpCode::argmax, OpCode::argmin}) expect_meaning(code, {x}, {{Attr::kAxis, axis}});
      }
    }
  }
}

TEST_P(Simd, ReduceLikeIsTheAdjointOfBroadcasting) {
  const std::pair<Shape, Shape> cases[] = {
      {{4, 5, 6}, {6}},       {{4, 5, 6}, {5, 1}}, {{4, 5, 6}, {4, 1, 6}}, {{4, 5, 6}, {}},
      {{4, 5, 6}, {4, 5, 6}}, {{0, 3}, {3}},       {{2, 3}, {1, 1}},
  };
  for (const auto& [from, to] : cases) {
    expect_meaning(OpCode::reduce_like, {random_.tensor(from), random_.tensor(to)}, {}, 4, 1e-5, 1);
  }
}

}  // namespace
}  // namespace alloy::test
