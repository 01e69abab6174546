// Tests element types and shapes: names, and broadcasting and unification against all shapes that unknown dimensions
// may become.
#include <set>

#include "graph_builder.h"

namespace alloy::test {
namespace {

// ---- element types ----

TEST(DTypes, HaveTheWidthsOfTheirNames) {
  const std::pair<std::string, size_t> widths[] = {
      {"float32", 4}, {"float16", 2}, {"bfloat16", 2}, {"int8", 1},   {"int16", 2}, {"int32", 4},     {"int64", 8},
      {"uint8", 1},   {"uint16", 2},  {"uint32", 4},   {"uint64", 8}, {"bool", 1},  {"complex32", 4}, {"complex64", 8},
  };
  for (const auto& [text, bytes] : widths) {
    const auto dtype = dtype_named(text);
    ASSERT_TRUE(dtype) << text;
    EXPECT_EQ(name(*dtype), text);
    EXPECT_EQ(size_of(*dtype), bytes) << text;
  }
  EXPECT_FALSE(dtype_named("float64"));
  EXPECT_FALSE(dtype_named(""));
  EXPECT_FALSE(dtype_named("boolean"));
}

TEST(DTypes, NarrowOnesAreComputedInATypeThatHoldsThem) {
  const std::pair<std::string, std::string> wider[] = {
      {"float16", "float32"}, {"bfloat16", "float32"}, {"int8", "int32"},   {"int16", "int32"},
      {"uint8", "int32"},     {"uint16", "int32"},     {"uint32", "int64"},
  };
  std::set<std::string> narrow;
  for (const auto& [text, in] : wider) {
    EXPECT_EQ(computed_in(*dtype_named(text)), *dtype_named(in));
    narrow.insert(text);
  }
  for (int i = 0; i <= static_cast<int>(DType::complex64); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!narrow.contains(std::string(name(dtype)))) {
      EXPECT_EQ(computed_in(dtype), dtype);
    }
  }
}

TEST(DTypes, ClassesDecideWhatAnOpAccepts) {
  EXPECT_TRUE(accepts(TypeClass::floating, DType::bfloat16));
  EXPECT_FALSE(accepts(TypeClass::floating, DType::int32));
  EXPECT_FALSE(accepts(TypeClass::floating, DType::complex64));
  EXPECT_TRUE(accepts(TypeClass::numeric, DType::uint8));
  EXPECT_FALSE(accepts(TypeClass::numeric, DType::boolean));
  EXPECT_FALSE(accepts(TypeClass::numeric, DType::complex32));
  EXPECT_TRUE(accepts(TypeClass::integer, DType::uint8));
  EXPECT_FALSE(accepts(TypeClass::integer, DType::boolean));
  EXPECT_FALSE(accepts(TypeClass::integer, DType::float32));
  EXPECT_TRUE(accepts(TypeClass::any, DType::boolean));
}

// ---- shapes ----

TEST(Shapes, PrintAsPythonTuples) {
  EXPECT_EQ(to_string(Shape()), "()");
  EXPECT_EQ(to_string(Shape({5})), "(5,)");
  EXPECT_EQ(to_string(Shape({U})), "(?,)");
  EXPECT_EQ(to_string(Shape({64, 0, U})), "(64, 0, ?)");
  EXPECT_EQ(to_string(Shape::unranked()), "(...)");
  EXPECT_EQ(to_string(f32({64, U})), "float32(64, ?)");
  EXPECT_EQ(to_string(bools(Shape::unranked())), "bool(...)");
}

TEST(Shapes, KnowWhatTheyKnow) {
  EXPECT_TRUE(Shape().is_static());
  EXPECT_TRUE(Shape({0, 3}).is_static());
  EXPECT_FALSE(Shape({3, U}).is_static());
  EXPECT_FALSE(Shape::unranked().is_static());
  EXPECT_EQ(Shape().element_count(), 1);
  EXPECT_EQ(Shape({3, 0}).element_count(), 0);
  EXPECT_EQ((Type{DType::int64, Shape({2, 3})}.byte_count()), 48u);
  EXPECT_NE(Shape(), Shape::unranked());
  EXPECT_NE(Shape({1}), Shape());
}

TEST(Shapes, AxesCountFromBothEnds) {
  for (int64_t rank = 0; rank <= 4; ++rank) {
    for (int64_t axis = -6; axis <= 6; ++axis) {
      const auto normal = normalize_axis(axis, rank);
      if (axis >= -rank && axis < rank) {
        ASSERT_TRUE(normal);
        EXPECT_EQ(*normal, ((axis % rank) + rank) % rank);
      } else {
        EXPECT_FALSE(normal) << axis << " of " << rank;
      }
    }
  }
}

// ---- broadcast and unify, against all shapes that unknown dimensions may become ----

constexpr int64_t kExtents[] = {0, 1, 2, 3};

// Every static shape that `shape` may become, with ranks up to 2 and extents of kExtents.
std::vector<Dims> meanings(const Shape& shape) {
  std::vector<Dims> out;
  if (!shape.ranked()) {
    for (int64_t rank = 0; rank <= 2; ++rank) {
      const std::vector<Dims> some = meanings(Shape(Dims(static_cast<size_t>(rank), U)));
      out.insert(out.end(), some.begin(), some.end());
    }
    return out;
  }
  out.push_back({});
  for (int64_t d : shape.dims()) {
    std::vector<Dims> longer;
    for (const Dims& head : out) {
      for (int64_t e : kExtents) {
        if (d != U && d != e) continue;
        longer.push_back(head);
        longer.back().push_back(e);
      }
    }
    out = longer;
  }
  return out;
}

std::vector<Shape> shapes_up_to_rank_2() {
  std::vector<Shape> out{Shape::unranked(), Shape()};
  const int64_t extents[] = {0, 1, 2, 3, U};
  for (int64_t a : extents) {
    out.push_back(Shape({a}));
    for (int64_t b : extents) out.push_back(Shape({a, b}));
  }
  return out;
}

// NumPy's rule for static shapes.
std::optional<Dims> numpy_broadcast(Dims a, Dims b) {
  while (a.size() < b.size()) a.insert(a.begin(), 1);
  while (b.size() < a.size()) b.insert(b.begin(), 1);
  for (int64_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) return std::nullopt;
    a[i] = a[i] == 1 ? b[i] : a[i];
  }
  return a;
}

std::optional<Dims> equal_shapes(const Dims& a, const Dims& b) { return a == b ? std::optional(a) : std::nullopt; }

// `combined` must allow exactly the combinations of the operands' static shapes: it fails if all of them fail, and a
// dimension is known exactly if all of them agree on it.
template <class Combine, class Model>
void check_against_model(Combine combine, Model model) {
  for (const Shape& a : shapes_up_to_rank_2()) {
    for (const Shape& b : shapes_up_to_rank_2()) {
      SCOPED_TRACE(to_string(a) + " with " + to_string(b));
      std::set<Dims> possible;
      for (const Dims& x : meanings(a)) {
        for (const Dims& y : meanings(b)) {
          if (const auto z = model(x, y)) possible.insert(*z);
        }
      }
      const std::optional<Shape> combined = combine(a, b);
      ASSERT_EQ(combined.has_value(), !possible.empty());
      if (!combined) continue;
      EXPECT_EQ(combined, combine(b, a)) << "the order of the operands matters";
      // No possible shape is excluded.
      for (const Dims& z : possible) EXPECT_TRUE(unify(*combined, Shape(z)) == Shape(z)) << to_string(Shape(z));
      if (!combined->ranked()) {
        EXPECT_TRUE(!a.ranked() || !b.ranked());
        continue;
      }
      // No dimension is unknown if all shapes agree on it.
      if (!a.ranked() || !b.ranked()) continue;
      for (int64_t i = 0; i < combined->rank(); ++i) {
        std::set<int64_t> extents;
        for (const Dims& z : possible) extents.insert(z[i]);
        EXPECT_EQ((*combined)[i], extents.size() == 1 ? *extents.begin() : U) << "axis " << i;
      }
    }
  }
}

TEST(Broadcast, AllowsExactlyWhatMayComeOfTheUnknown) { check_against_model(broadcast, numpy_broadcast); }

TEST(Unify, AllowsExactlyWhatMayComeOfTheUnknown) { check_against_model(unify, equal_shapes); }

TEST(Broadcast, FollowsNumPysTable) {
  EXPECT_EQ(broadcast(Shape({8, 1, 6, 1}), Shape({7, 1, 5})), Shape({8, 7, 6, 5}));
  EXPECT_EQ(broadcast(Shape({256, 256, 3}), Shape({3})), Shape({256, 256, 3}));
  EXPECT_EQ(broadcast(Shape(), Shape({2, U})), Shape({2, U}));
  EXPECT_EQ(broadcast(Shape({2, 1}), Shape({8, 4, 3})), std::nullopt);
  EXPECT_EQ(broadcast(Shape({U, 10}), Shape({64, 1})), Shape({64, 10}));
  EXPECT_EQ(broadcast(Shape({U}), Shape({1})), Shape({U}));
  EXPECT_EQ(broadcast(Shape({U}), Shape({0})), Shape({0}));
  EXPECT_EQ(broadcast(Shape::unranked(), Shape({2})), Shape::unranked());
}

}  // namespace
}  // namespace alloy::test
