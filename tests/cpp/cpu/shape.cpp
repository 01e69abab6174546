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
      const Tensor x = random.tensor(shape, dtype);
      const Tensor y = run(OpCode::transpose, {x}, {{Attr::kPermutation, permutation}});
      int64_t n = 0;
      for_each_index(y.type.shape.dims(), [&, &permutation = permutation](const Dims& index) {
        Dims source(index.size());
        for (int64_t i = 0; i < index.size(); ++i) source[permutation[i]] = index[i];
        ASSERT_EQ(y.at(n++), x.at(source)) << to_string(x.type);
      });
    }
  }
}

TEST(ShapeKernels, Broadcast) {
  Random random;
  const std::pair<Shape, Shape> cases[] = {
      {{3}, {2, 3}}, {{2, 1, 3}, {2, 4, 3}}, {{}, {5, 2}}, {{7, 1}, {7, 5000}}, {{1, 6}, {0, 6}}, {{2, 3}, {2, 3}},
  };
  for (const auto& [from, to] : cases) {
    const Tensor x = random.tensor(from, DType::int64);
    const Tensor y = run(OpCode::broadcast_to, {x}, {{Attr::kShape, to}});
    int64_t n = 0;
    for_each_index(to.dims(), [&](const Dims& index) { ASSERT_EQ(y.at(n++), x.at(index)); });
  }
}

TEST(ShapeKernels, SliceAndItsGradient) {
  Random random;
  const Shape shape({5, 6, 7});
  const struct {
    Dims starts, ends, strides;
  } cases[] = {
      {{0, 0, 0}, {5, 6, 7}, {1, 1, 1}},
      {{1, 2, 3}, {4, 5, 7}, {1, 2, 3}},
      {{-1, -1, -1}, {kSliceToBegin, kSliceToBegin, kSliceToBegin}, {-1, -2, -3}},
      {{0, 5, 2}, {kSliceToEnd, 1, 4}, {2, -2, 1}},
      {{3, 0, 0}, {3, 6, 7}, {1, 1, 1}},
  };
  for (const auto& c : cases) {
    const Attributes attributes{{Attr::kStarts, c.starts}, {Attr::kEnds, c.ends}, {Attr::kStrides, c.strides}};
    const Tensor x = random.tensor(shape);
    const Tensor y = run(OpCode::slice, {x}, attributes);
    const Tensor back = run(OpCode::slice_gradient, {y, x}, attributes, 1);
    std::vector<double> expected(x.size(), 0);
    int64_t n = 0;
    for_each_index(y.type.shape.dims(), [&](const Dims& index) {
      Dims source(3);
      for (size_t i = 0; i < 3; ++i) {
        source[i] = (c.starts[i] < 0 ? c.starts[i] + shape.dims()[i] : c.starts[i]) + index[i] * c.strides[i];
      }
      expected[position(shape.dims(), source)] = x.at(source);
      ASSERT_EQ(y.at(n++), x.at(source));
    });
    expect_equal(back, expected);
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
    const Tensor y = run(OpCode::concat, parts, {{Attr::kAxis, axis}});
    int64_t n = 0;
    for_each_index(y.type.shape.dims(), [&](Dims index) {
      int64_t& at = index[(axis + 3) % 3];
      size_t part = 0;
      while (at >= parts[part].type.shape[(axis + 3) % 3]) at -= parts[part++].type.shape[(axis + 3) % 3];
      ASSERT_EQ(y.at(n++), parts[part].at(index));
    });
  }
}

TEST(ShapeKernels, Pad) {
  Random random;
  const std::pair<Shape, Dims> cases[] = {
      {{3, 4, 5}, {1, 2, 0, 3, 4, 0}}, {{3, 4}, {0, 0, 0, 0}}, {{}, {}}, {{0, 3}, {2, 1, 0, 1}}, {{5000}, {7000, 1}}};
  for (DType dtype : kDtypes) {
    for (const auto& [shape, padding] : cases) {
      const Tensor x = random.tensor(shape, dtype), value = random.tensor({}, dtype);
      const Tensor y = run(OpCode::pad, {x, value}, {{Attr::kPadding, padding}});
      int64_t n = 0;
      for_each_index(y.type.shape.dims(), [&](Dims at) {
        bool inside = true;
        for (int64_t i = 0; i < at.size(); ++i) {
          at[i] -= padding[2 * i];
          inside = inside && at[i] >= 0 && at[i] < shape[i];
        }
        ASSERT_EQ(y.at(n++), inside ? x.at(at) : value.at(int64_t{0}));
      });
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
