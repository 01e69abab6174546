// Compares the cost of ops with counts by hand: the convention of cost.h, written out in numbers.
#include "ir/rules/cost.h"

#include <set>

#include "graph_builder.h"

namespace alloy::test {
namespace {

class Costs : public ::testing::Test {
 protected:
  // Reads and writes in elements of 4 bytes.
  void expect(const Op& op, uint64_t flops, uint64_t read, uint64_t written) {
    SCOPED_TRACE(op.info().name);
    const Cost found = cost(op);
    EXPECT_EQ(found.flops, flops);
    EXPECT_EQ(found.bytes_read, 4 * read);
    EXPECT_EQ(found.bytes_written, 4 * written);
  }
  void expect(OpCode code, std::vector<Value> operands, Attributes attributes, uint64_t flops, uint64_t read,
              uint64_t written) {
    expect(*graph.add(code, std::move(operands), std::move(attributes)), flops, read, written);
  }

  Value feed(Shape shape) { return placeholder(graph, f32(std::move(shape))); }

  Graph graph;
};

TEST_F(Costs, OfTableOps) {
  const Value x = feed({2, 3}), row = feed({3}), column = feed({2, 1});
  const Value words = placeholder(graph, {DType::int16, Shape({3})}),
              more = placeholder(graph, {DType::int16, Shape({2, 1})});
  for (const OpInfo& op : op_table()) {
    if (op.types == TypeClass::integer) {  // of two bytes
      const bool unary = op.most_operands == 1;
      const Op& made = *graph.add(op.code, unary ? std::vector{words} : std::vector{words, more});
      EXPECT_EQ(cost(made), unary ? (Cost{3, 6, 6}) : (Cost{6, 10, 12})) << op.name;
      continue;
    }
    switch (op.family) {
      case Family::kUnary:
      case Family::kActivation:
        op.code == OpCode::identity ? expect(op.code, {x}, {}, 0, 0, 0) : expect(op.code, {x}, {}, 6, 6, 6);
        break;
      case Family::kBinary:
      case Family::kActivationGradient: expect(op.code, {row, column}, {}, 6, 5, 6); break;
      case Family::kPredicate: EXPECT_EQ(cost(*graph.add(op.code, {x})), (Cost{6, 24, 6})) << op.name; break;
      case Family::kComparison:  // its result has one byte for each element
        EXPECT_EQ(cost(*graph.add(op.code, {row, column})), (Cost{6, 20, 6})) << op.name;
        break;
      case Family::kTernary: expect(op.code, {x, row, column}, {}, 6, 11, 6); break;
      case Family::kReduction:
      case Family::kMoment:
        expect(op.code, {x}, {{Attr::kAxes, Dims{0}}}, op.code == OpCode::variance ? 24 : 6, 6, 3);
        break;
      case Family::kArgReduction: expect(op.code, {x}, {{Attr::kAxis, int64_t{1}}}, 6, 6, 2); break;
      case Family::kStructured: break;
    }
  }
}

// ---- structured ops ----

// What an op moves: of every operand whose elements count, and of every result, all elements. A slice reads what it
// takes; nothing moves where memory gets another name, or was there before the run.
Cost moved(const Op& op) {
  static const std::set<OpCode> none = {OpCode::placeholder, OpCode::constant, OpCode::variable,
                                        OpCode::empty,       OpCode::shaped,   OpCode::read_variable};
  if (op.info().facts.renames || none.contains(op.code)) return {};
  Cost cost;
  for (const Type& type : op.results) cost.bytes_written += type.byte_count();
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const bool takes =
        i == 0 && (op.code == OpCode::slice || op.code == OpCode::gather || op.code == OpCode::gather_nd);
    if (takes) cost.bytes_read += cost.bytes_written;
    else if (op.info().reads(i)) cost.bytes_read += op.operands[i].type().byte_count();
  }
  return cost;
}

TEST(StructuredCosts, AreWhatIsCountedByHandWhereEveryOpIsAdded) {
  Graph graph;
  std::map<const Op*, uint64_t> flops = add_every_op(graph);
  for (const auto& op : graph.body().ops) {
    if (op->info().family != Family::kStructured || !op->regions.empty() || op->code == OpCode::assign) continue;
    Cost expected = moved(*op);
    expected.flops = flops[op.get()];
    EXPECT_EQ(cost(*op), expected) << op->info().name << ": does add_every_op of tests/cpp/graph_builder.h count its "
                                   << cost(*op).flops << " operations?";
  }
}

TEST_F(Costs, OfOtherOperands) {
  const Value x = feed({2, 3}), v = variable(graph, f32({2, 3})), places = placeholder(graph, i32({2}));
  expect(OpCode::assign, {v, x}, {}, 0, 6, 6);
  expect(OpCode::reduce_like, {x, v}, {}, 0, 6, 6);
  expect(OpCode::scatter, {feed({5, 3}), x, places}, {{Attr::kAxis, int64_t{0}}, {Attr::kMode, std::string("set")}}, 0,
         15 + 6 + 2, 15);
  // (2, 5, 4) by (2, 4, 7) is 2 * 5 * 7 sums of 4 products; the operands' own order is a flag.
  const Value a = feed({2, 5, 4}), b = feed({2, 4, 7});
  expect(OpCode::matmul, {a, b}, {}, 2 * (2 * 5 * 7) * 4, 40 + 56, 70);
  expect(OpCode::matmul, {b, a}, {{Attr::kTransposeA, true}, {Attr::kTransposeB, true}}, 2 * (2 * 7 * 5) * 4, 56 + 40,
         70);
  expect(OpCode::matmul, {feed({5, 4}), b}, {}, 2 * (2 * 5 * 7) * 4, 20 + 56, 70);
  // 2 * 5 * 7 scores of 4 products, each the weight of 3 numbers.
  expect(OpCode::scaled_dot_product_attention, {a, feed({2, 7, 4}), feed({2, 7, 3})}, {{Attr::kScale, 0.5}},
         40 + (2 * 5 * 7) * (2 * 4 + 5 + 2 * 3), 40 + 56 + 42, 30);
  // 2x2 positions with a stride of 2; and in another layout, of 7 sums over 2x3x1 numbers for each of 3x4 positions.
  const Attributes apart = with(convolution("valid", 2), Attr::kStrides, Dims{2, 2});
  expect(OpCode::conv2d, {feed({2, 5, 5, 4}), feed({3, 3, 2, 6})}, apart, 2 * (2 * 2 * 2 * 6) * (3 * 3 * 2), 308, 48);
  const Attributes turned = with(with(convolution("valid"), Attr::kDataLayout, std::string("NCHW")),
                                 Attr::kWeightsLayout, std::string("OIHW"));
  expect(OpCode::conv2d, {feed({1, 2, 5, 4}), feed({7, 2, 3, 1})}, turned, 2 * (7 * 3 * 4) * (2 * 3 * 1), 40 + 42, 84);
}

TEST_F(Costs, OfRegions) {
  const Value x = feed({2, 3}), row = feed({3}), one = feed({1});
  // exp(x + row) in one go; and a branch of two additions, which moves more, against a softmax, which computes more.
  std::vector<std::unique_ptr<Block>> chain;
  graph.open_region();
  const Value sum = graph.value(OpCode::add, {x, row});
  chain.push_back(graph.close_region({graph.value(OpCode::exp, {sum})}));
  expect(*graph.add(OpCode::fused, {x, row}, {}, std::move(chain)), 6 + 6, 6 + 3, 6);
  const Op* branches = if_else(
      graph, one, [&] { return std::vector{graph.value(OpCode::add, {graph.value(OpCode::add, {x, x}), x})}; },
      [&] { return std::vector{graph.value(OpCode::softmax, {x}, {{Attr::kAxis, int64_t{1}}})}; });
  expect(*branches, 5 * 6, 1 + 24, 12);
  // Four sums of x; and one pass through both regions of a loop of which nobody knows how often it runs.
  const auto number = [&](double value) { return constant(graph, i32({}), value); };
  const Op* sums = for_loop(graph, {number(0), number(8), number(2)}, {x}, [&](const std::vector<Value>& a) {
    expect(*a[1].op, 0, 0, 0);
    return std::vector{graph.value(OpCode::add, {a[1], x})};
  });
  expect(*sums, 4 * 6, 4 * 12, 4 * 6);
  const Op* repeated = while_loop(
      graph, {x}, [&](const std::vector<Value>& a) { return std::vector{one, graph.value(OpCode::exp, {a[0]})}; },
      [&](const std::vector<Value>& a) { return std::vector{graph.value(OpCode::add, {a[0], row})}; });
  expect(*repeated, 6 + 6, 6 + 9, 6 + 6);
}

}  // namespace
}  // namespace alloy::test
