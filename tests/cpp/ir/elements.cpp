// Tests the integers that are known before a run, for every op.
#include "ir/rules/elements.h"

#include <set>

#include "interpreter.h"

namespace alloy::test {
namespace {

class KnownElements : public ::testing::Test {
 protected:
  Value numbers(const std::vector<int32_t>& elements) {
    const Type type = i32({static_cast<int64_t>(elements.size())});
    return graph.value(OpCode::constant, {},
                       {{Attr::kValue, std::make_shared<Literal>(type, std::as_bytes(std::span(elements)))}});
  }

  // Compares the known elements with the elements that a run without feeds gives.
  void expect(Value v) {
    SCOPED_TRACE(v.op->info().name);
    seen.insert(v.op->code);
    const std::vector<double> expected = Interpreter().run({}, {v}, {})[0].values;
    const std::optional<Elements> known = known_elements(v);
    ASSERT_TRUE(known.has_value());
    ASSERT_EQ(known->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_TRUE((*known)[i].has_value()) << "nothing is known of element " << i;
      EXPECT_EQ(static_cast<double>(*(*known)[i]), expected[i]);
    }
  }
  Value expect(OpCode code, std::vector<Value> operands, Attributes attributes = {}) {
    const Value v = graph.value(code, std::move(operands), std::move(attributes));
    expect(v);
    return v;
  }

  Graph graph;
  std::set<OpCode> seen;
};

TEST_F(KnownElements, OfTableOps) {
  const Value a = numbers({7, -2, 0}), b = numbers({2, 5, -3}), two = constant(graph, i32({}), 2);
  for (const OpInfo& row : op_table()) {
    if (row.types != TypeClass::numeric || row.code == OpCode::power) continue;  // powers are never known
    switch (row.family) {
      case Family::kUnary: expect(row.code, {a}); break;
      case Family::kBinary:
        expect(row.code, {a, b});
        expect(row.code, {two, b});
        break;
      case Family::kTernary: expect(row.code, {a, b, two}); break;
      case Family::kReduction: expect(row.code, {b}, {{Attr::kAxes, Dims{0}}}); break;
      default: break;  // bools, or never known
    }
  }
}

TEST_F(KnownElements, OfStructuredOps) {
  const Value v = numbers({4, 5, 6}), image = constant(graph, f32({2, 3}), 0), like = constant(graph, f32({3}), 0);
  expect(v);
  expect(OpCode::shape_of, {image});
  expect(OpCode::count, {constant(graph, i32({2, 3}), 0)}, {{Attr::kAxes, Dims{-1}}});
  expect(OpCode::cast, {v}, {{Attr::kDtype, DType::int64}});
  expect(OpCode::slice, {v}, slicing({-1}, {INT64_MIN}, {-2}));
  expect(OpCode::concat, {v, numbers({1})}, {{Attr::kAxis, int64_t{0}}});
  const Value wide = expect(OpCode::expand_dims, {constant(graph, i32({}), 8)}, {{Attr::kAxes, Dims{0}}});
  expect(OpCode::squeeze, {wide}, {{Attr::kAxes, Dims{0}}});
  expect(OpCode::reshape, {v}, {{Attr::kShape, Shape({U})}});
  expect(OpCode::reshape_like, {v, like});
  expect(OpCode::stop_gradient, {v});

  for (const OpInfo& row : op_table()) {
    EXPECT_TRUE(row.elements == nullptr || seen.contains(row.code))
        << row.name << ": its row says `elements`; add what they are to tests/cpp/ir/elements.cpp";
  }
}

TEST_F(KnownElements, AreNotThoseOfOtherElements) {
  const Value most = numbers({INT32_MAX}), x = placeholder(graph, i32({1})), both = graph.value(OpCode::add, {most, x});
  EXPECT_EQ(known_elements(both), Elements{std::nullopt});
  const Value joined = graph.value(OpCode::concat, {x, most}, {{Attr::kAxis, int64_t{0}}});
  EXPECT_EQ(known_elements(joined), (Elements{std::nullopt, INT32_MAX}));
  EXPECT_EQ(known_elements(graph.value(OpCode::max, {joined}, {{Attr::kAxes, Dims{0}}})), Elements{std::nullopt});
  const Value wide = constant(graph, {DType::int64, Shape({1})}, 0x1p61);
  EXPECT_EQ(known_elements(graph.value(OpCode::square, {wide})), Elements{std::nullopt});
  EXPECT_EQ(known_elements(placeholder(graph, i32({U}))), std::nullopt);
}

}  // namespace
}  // namespace alloy::test
