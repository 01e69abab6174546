// Ops that move elements.
#include "cpu/kernel_testing.h"
#include "ir/rules/windows.h"

namespace alloy::test {
namespace {

TEST(ShapeKernels, Transpose) {
  Random random;
  const std::pair<Shape, Dims> cases[] = {
      {{3, 5}, {1, 0}},
      {{70, 130}, {1, 0}},
      {{2, 3, 4, 5}, {0, 2, 3, 1}},
      {{2, 3, 4, 5}, {3, 0, 2, 1}},
      {{2, 37, 41}, {0, 2, 1}},
      {{1, 4, 1}, {2, 1, 0}},
      {{5, 0, 2}, {1, 2, 0}},
      {{2, 3, 4}, {0, 1, 2}},
      {{6, 5, 4, 3}, {2, 3, 0, 1}},
      {{}, {}},
  };
  for (DType dtype : kDtypes) {
    for (const auto& [shape, permutation] : cases) {
      expect_meaning(OpCode::transpose, {random.tensor(shape, dtype)}, {{Attr::kPermutation, permutation}});
    }
  }
}

TEST(ShapeKernels, Broadcast) {
  Random random;
  const std::pair<Shape, Shape> cases[] = {
      {{3}, {2, 3}}, {{2, 1, 3}, {2, 4, 3}}, {{}, {5, 2}}, {{7, 1}, {7, 5000}}, {{1, 6}, {0, 6}}, {{2, 3}, {2, 3}},
  };
  for (const auto& [from, to] : cases) {
    expect_meaning(OpCode::broadcast_to, {random.tensor(from, DType::int64)}, {{Attr::kShape, to}});
  }
}

TEST(ShapeKernels, SliceAndItsGradient) {
  Random random;
  const Tensor x = random.tensor({5, 6, 7});
  for (const Attributes& attributes :
       {slicing({0, 0, 0}, {5, 6, 7}, {1, 1, 1}), slicing({1, 2, 3}, {4, 5, 7}, {1, 2, 3}),
        slicing({-1, -1, -1}, {kSliceToBegin, kSliceToBegin, kSliceToBegin}, {-1, -2, -3}),
        slicing({0, 5, 2}, {kSliceToEnd, 1, 4}, {2, -2, 1}), slicing({3, 0, 0}, {3, 6, 7}, {1, 1, 1})}) {
    expect_meaning(OpCode::slice, {x}, attributes);
    expect_meaning(OpCode::slice_gradient, {run(OpCode::slice, {x}, attributes), x}, attributes, 0, 0, 1);
  }
}

TEST(ShapeKernels, Concat) {
  Random random;
  for (int64_t axis : {0, 1, 2, -1}) {
    std::vector<Tensor> parts;
    for (int64_t extent : {2, 0, 5, 1}) {
      Dims dims{3, 4, 6};
      dims[(axis + 3) % 3] = extent;
      parts.push_back(random.tensor(Shape(dims), DType::int32));
    }
    expect_meaning(OpCode::concat, parts, {{Attr::kAxis, axis}});
  }
}

TEST(ShapeKernels, Pad) {
  Random random;
  const std::pair<Shape, Dims> cases[] = {
      {{3, 4, 5}, {1, 2, 0, 3, 4, 0}}, {{3, 4}, {0, 0, 0, 0}}, {{}, {}}, {{0, 3}, {2, 1, 0, 1}}, {{5000}, {7000, 1}}};
  for (DType dtype : kDtypes) {
    for (const auto& [shape, padding] : cases) {
      expect_meaning(OpCode::pad, {random.tensor(shape, dtype), random.tensor({}, dtype)}, {{Attr::kPadding, padding}});
    }
  }
}

TEST(ShapeKernels, SameElements) {
  Random random;
  const Tensor x = random.tensor({2, 1, 6});
  EXPECT_EQ(run(OpCode::reshape, {x}, {{Attr::kShape, Shape({3, -1})}}).bytes, x.bytes);
  EXPECT_EQ(run(OpCode::squeeze, {x}, {{Attr::kAxes, Dims{1}}}).bytes, x.bytes);
  EXPECT_EQ(run(OpCode::expand_dims, {x}, {{Attr::kAxes, Dims{0}}}).bytes, x.bytes);
  EXPECT_EQ(run(OpCode::identity, {x}).bytes, x.bytes);
}

}  // namespace
}  // namespace alloy::test
