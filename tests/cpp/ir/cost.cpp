// Compares the cost of ops with counts by hand: the convention of cost.h, written out in numbers.
#include "ir/rules/cost.h"

#include <algorithm>
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
    counted.insert(op.code);
  }
  void expect(OpCode code, std::vector<Value> operands, Attributes attributes, uint64_t flops, uint64_t read,
              uint64_t written) {
    expect(*graph.add(code, std::move(operands), std::move(attributes)), flops, read, written);
  }

  Value feed(Shape shape) { return placeholder(graph, f32(std::move(shape))); }

  Graph graph;
  std::set<OpCode> counted;
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
      counted.insert(op.code);
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

// One structured op of each kind.
class StructuredCosts : public Costs {
 protected:
  const Value x = feed({2, 3}), row = feed({3}), one = feed({1}), v = variable(graph, f32({2, 3}));

  // Values that exist already or are only renamed.
  void of_names() {
    expect(*x.op, 0, 0, 0);
    expect(*v.op, 0, 0, 0);
    expect(*constant(graph, f32({2, 3}), 1).op, 0, 0, 0);
    expect(OpCode::empty, {}, {{Attr::kShape, Shape({2, 3})}, {Attr::kDtype, DType::float32}}, 0, 0, 0);
    expect(OpCode::shaped, {graph.value(OpCode::shape_of, {x})}, {{Attr::kDtype, DType::float32}}, 0, 0, 0);
    expect(OpCode::read_variable, {v}, {}, 0, 0, 0);
    expect(OpCode::stop_gradient, {x}, {}, 0, 0, 0);
    expect(OpCode::reshape, {x}, {{Attr::kShape, Shape({6})}}, 0, 0, 0);
    expect(OpCode::reshape_like, {x, feed({3, 2})}, {}, 0, 0, 0);
    expect(OpCode::squeeze, {feed({1, 4})}, {{Attr::kAxes, Dims{0}}}, 0, 0, 0);
    expect(OpCode::expand_dims, {x}, {{Attr::kAxes, Dims{0}}}, 0, 0, 0);
    expect(OpCode::view_as_complex, {feed({3, 2})}, {}, 0, 0, 0);
    expect(OpCode::view_as_real, {placeholder(graph, {DType::complex64, Shape({3})})}, {}, 0, 0, 0);
  }

  void of_moves() {
    const Attributes odd = slicing({0, 0}, {2, 3}, {1, 2});
    expect(OpCode::assign, {v, x}, {}, 0, 6, 6);
    expect(OpCode::transpose, {x}, {{Attr::kPermutation, Dims{1, 0}}}, 0, 6, 6);
    expect(OpCode::broadcast_to, {row}, {{Attr::kShape, Shape({5, 3})}}, 0, 3, 15);
    expect(OpCode::broadcast_like, {row, x}, {}, 0, 3, 6);
    const Value rows = placeholder(graph, i32({2, 1}));
    expect(OpCode::scatter_nd, {feed({2, 3}), rows, feed({5, 3})}, {{Attr::kBatchDims, int64_t{0}}}, 6, 6 + 2, 15);
    const Value places = placeholder(graph, i32({2}));
    const auto scattered = [](const char* mode) {
      return Attributes{{Attr::kAxis, int64_t{0}}, {Attr::kMode, std::string(mode)}};
    };
    expect(OpCode::scatter, {feed({5, 3}), x, places}, scattered("add"), 6, 15 + 6 + 2, 15);
    expect(OpCode::scatter, {feed({5, 3}), x, places}, scattered("set"), 0, 15 + 6 + 2, 15);
    expect(OpCode::gather_nd, {feed({5, 3}), rows}, {{Attr::kBatchDims, int64_t{0}}}, 0, 6 + 2, 6);
    expect(OpCode::scatter_nd_update, {feed({5, 3}), x, rows},
           {{Attr::kBatchDims, int64_t{0}}, {Attr::kMode, std::string("add")}}, 6, 15 + 6 + 2, 15);
    expect(OpCode::argsort, {x}, {{Attr::kAxis, int64_t{1}}, {Attr::kCount, int64_t{2}}}, 0, 6, 4);
    expect(OpCode::accumulate, {x}, {{Attr::kAxis, int64_t{1}}, {Attr::kOperation, std::string("sum")}}, 6, 6, 6);
    expect(OpCode::slice, {x}, odd, 0, 4, 4);
    expect(OpCode::slice_gradient, {feed({2, 2}), x}, odd, 0, 4, 6);
    expect(OpCode::concat, {x, feed({4, 3}), x}, {{Attr::kAxis, int64_t{0}}}, 0, 24, 24);
    expect(OpCode::cast, {x}, {{Attr::kDtype, DType::int32}}, 0, 6, 6);
    expect(OpCode::shape_of, {x}, {}, 0, 0, 2);
    expect(OpCode::count, {x}, {{Attr::kAxes, Dims{1}}}, 0, 0, 1);
  }

  void of_sums_and_steps() {
    expect(OpCode::reduce_like, {x, row}, {}, 6, 6, 3);
    expect(OpCode::reduce_like, {x, v}, {}, 0, 6, 6);
    expect(OpCode::softmax, {x}, {{Attr::kAxis, int64_t{1}}}, 5 * 6, 6, 6);
    expect(OpCode::log_softmax, {x}, {{Attr::kAxis, int64_t{1}}}, 5 * 6, 6, 6);
    expect(OpCode::softmax_cross_entropy, {x, v}, {{Attr::kAxis, int64_t{1}}, {Attr::kReduction, std::string("none")}},
           7 * 6, 12, 2);
    expect(OpCode::sgd, {one, v, x}, {}, 2 * 6, 13, 6);
    expect(OpCode::adam, {one, one, one, one, v, x, x, x}, {}, 12 * 6, 4 + 4 * 6, 3 * 6);
    expect(OpCode::adam, {one, one, one, one, v, x, x, x, x}, {}, 13 * 6, 4 + 5 * 6, 4 * 6);
  }

  void of_products() {
    // (2, 5, 4) by (2, 4, 7) is 2 * 5 * 7 sums of 4 products; the operands' own order is a flag.
    const Value a = feed({2, 5, 4}), b = feed({2, 4, 7});
    expect(OpCode::matmul, {a, b}, {}, 2 * (2 * 5 * 7) * 4, 40 + 56, 70);
    expect(OpCode::matmul, {b, a}, {{Attr::kTransposeA, true}, {Attr::kTransposeB, true}}, 2 * (2 * 7 * 5) * 4, 56 + 40,
           70);
    expect(OpCode::matmul, {feed({5, 4}), b}, {}, 2 * (2 * 5 * 7) * 4, 20 + 56, 70);
    expect(OpCode::inverse, {feed({2, 5, 5})}, {}, 2 * (2 * 5 * 5) * 5, 50, 50);
    // 2 * 5 * 7 scores, each a sum of 4 products and then a factor of 3 numbers.
    const Value key = feed({2, 7, 4}), value = feed({2, 7, 3});
    expect(OpCode::scaled_dot_product_attention, {a, key, value}, {{Attr::kScale, 0.5}},
           40 + (2 * 5 * 7) * (2 * 4 + 5 + 2 * 3), 40 + 56 + 42, 30);
    expect(OpCode::scaled_dot_product_attention, {a, key, value, feed({5, 7})}, {{Attr::kScale, 0.5}},
           40 + (2 * 5 * 7) * (2 * 4 + 1 + 5 + 2 * 3), 40 + 56 + 42 + 35, 30);
    // 8 * 5 complex numbers; lines of 8 and of 5 (rounded up to 8) are transformed.
    expect(OpCode::fourier_transform, {feed({8, 5, 2})},
           {{Attr::kAxes, Dims{0, 1}}, {Attr::kInverse, false}, {Attr::kScaling, std::string("none")}},
           5 * (8 * 5) * (3 + 3), 80, 80);
  }

  void of_cells() {
    // 5 steps of 2 sequences with 3 units: a product of 10 rows by all weights; a sequence has 30 elements for each
    // gate.
    const Attributes one{{Attr::kActivations, Dims{2}}}, five{{Attr::kActivations, Dims{3, 3, 2, 3, 2}}},
        three{{Attr::kActivations, Dims{3, 3, 2}}};
    const Value state = feed({2, 3}), w1 = feed({3, 3}), w3 = feed({9, 3}), w4 = feed({12, 3}), x1 = feed({5, 2, 3}),
                x3 = feed({5, 2, 9}), x4 = feed({5, 2, 12});
    const auto training = [](const Attributes& a) { return with(a, Attr::kTraining, true); };
    expect(OpCode::rnn, {x1, w1, state}, one, 2 * 10 * 9, 30 + 9 + 6, 30);
    expect(OpCode::rnn, {x1, w1, state}, training(one), 2 * 10 * 9, 30 + 9 + 6, 60);
    expect(OpCode::rnn_gradient, {x1, x1, w1}, one, 2 * 10 * 9, 60 + 9, 30 + 6);
    expect(OpCode::lstm, {x4, w4, state, state}, training(five), 2 * 10 * 36, 120 + 36 + 12, 30 + 30 + 120);
    expect(OpCode::lstm_gradient, {x1, x4, x1, w4, state}, five, 2 * 10 * 36, 30 + 120 + 30 + 36 + 6, 120 + 12);
    expect(OpCode::gru, {x3, w3, state}, training(three), 2 * 10 * 27, 90 + 27 + 6, 30 + 90);
    expect(OpCode::gru_gradient, {x1, x3, x1, w3, state}, three, 2 * 10 * 27, 30 + 90 + 30 + 27 + 6, 90 + 6);
  }

  void of_convolutions() {
    const Value image = feed({2, 5, 5, 4}), weights = feed({3, 3, 2, 6}), result = feed({2, 5, 5, 6});
    // An element of the result is a sum over 3x3 pixels of 2 of the 4 channels. Each gradient needs as many products.
    const uint64_t same = 2 * (2 * 5 * 5 * 6) * (3 * 3 * 2);
    expect(OpCode::conv2d, {image, weights}, convolution("same", 2), same, 200 + 108, 300);
    expect(OpCode::conv2d_data_gradient, {result, weights, image}, convolution("same", 2), same, 300 + 108, 200);
    expect(OpCode::conv2d_weights_gradient, {result, image, weights}, convolution("same", 2), same, 300 + 200, 108);
    const Attributes apart = with(convolution("valid", 2), Attr::kStrides, Dims{2, 2});
    expect(OpCode::conv2d, {image, weights}, apart, 2 * (2 * 2 * 2 * 6) * (3 * 3 * 2), 308, 48);
    const Attributes turned = with(with(convolution("valid"), Attr::kDataLayout, std::string("NCHW")),
                                   Attr::kWeightsLayout, std::string("OIHW"));
    expect(OpCode::conv2d, {feed({1, 2, 5, 4}), feed({7, 2, 3, 1})}, turned, 2 * (7 * 3 * 4) * (2 * 3 * 1), 40 + 42,
           84);
    // An element is a sum over 2x3x1 positions of 1 of the 2 channels.
    const Value volume = feed({1, 3, 4, 5, 2}), filters = feed({2, 3, 1, 1, 4}), convolved = feed({1, 3, 4, 5, 4});
    const uint64_t three = 2 * (3 * 4 * 5 * 4) * (2 * 3 * 1);
    expect(OpCode::conv3d, {volume, filters}, convolution_3d("same", 2), three, 120 + 24, 240);
    expect(OpCode::conv3d_data_gradient, {convolved, filters, volume}, convolution_3d("same", 2), three, 240 + 24, 120);
    expect(OpCode::conv3d_weights_gradient, {convolved, volume, filters}, convolution_3d("same", 2), three, 240 + 120,
           24);
  }

  void of_pooling() {
    const Value image = feed({2, 5, 5, 4});
    // 2x2 windows with a stride of 2: 2 * 2 * 2 * 4 of them.
    const Value windows = feed({2, 2, 2, 4});
    expect(OpCode::max_pool2d, {image}, pooling(), 32 * 4, 200, 32);
    expect(OpCode::avg_pool2d, {image}, pooling(), 32 * 4, 200, 32);
    expect(OpCode::max_pool2d_gradient, {windows, image}, pooling(), 32 * 4, 32 + 200, 200);
    expect(OpCode::avg_pool2d_gradient, {windows, image}, pooling(), 32 * 4, 32, 200);
    // (2, 2, 1, 3) windows with a stride of 2 along the second axis: 1 * 2 * 5 * 2 of 12 elements.
    const Value by_four = feed({1, 2, 5, 2});
    const Attributes indexed = with(pooling_4d(), Attr::kIndicesMode, std::string("local_2d"));
    expect(OpCode::max_pool4d, {image}, pooling_4d(), 20 * 12, 200, 20);
    expect(OpCode::max_pool4d_with_indices, {image}, indexed, 20 * 12, 200, 40);
    expect(OpCode::avg_pool4d, {image}, pooling_4d(), 20 * 12, 200, 20);
    expect(OpCode::max_pool4d_gradient, {by_four, image}, pooling_4d(), 20 * 12, 20 + 200, 200);
    expect(OpCode::avg_pool4d_gradient, {by_four, image}, pooling_4d(), 20 * 12, 20, 200);
  }

  void of_regions() {
    // exp(x + row) as one op; and a branch of two additions, which moves more, beside a softmax, which computes more.
    std::vector<std::unique_ptr<Block>> chain;
    graph.open_region();
    const Value sum = graph.value(OpCode::add, {x, row});
    chain.push_back(graph.close_region({graph.value(OpCode::exp, {sum})}));
    expect(*graph.add(OpCode::fused, {x, row}, {}, std::move(chain)), 6 + 6, 6 + 3, 6);
    const Op* branches = if_else(
        graph, one, [&] { return std::vector{graph.value(OpCode::add, {graph.value(OpCode::add, {x, x}), x})}; },
        [&] { return std::vector{graph.value(OpCode::softmax, {x}, {{Attr::kAxis, int64_t{1}}})}; });
    expect(*branches, 5 * 6, 1 + 24, 12);
  }

  void of_loops() {
    // Four sums of x; and one pass through both regions of a loop with an unknown number of iterations.
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
};

TEST_F(StructuredCosts, ByHand) {
  of_names();
  of_moves();
  of_sums_and_steps();
  of_products();
  of_cells();
  of_convolutions();
  of_pooling();
  of_regions();
  of_loops();
  Graph every;
  add_every_op(every);
  for (const auto& op : every.body().ops) {
    const bool is_static =
        std::all_of(op->results.begin(), op->results.end(), [](const Type& t) { return t.is_static(); });
    if (op->info().family != Family::kStructured || !is_static || cost(*op).flops == 0) continue;
    EXPECT_TRUE(counted.contains(op->code))
        << op->info().name << ": count by hand what it costs, and add an expect() to tests/cpp/ir/cost.cpp";
  }
}

}  // namespace
}  // namespace alloy::test
