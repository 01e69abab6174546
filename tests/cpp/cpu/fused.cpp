// Tests chains after a sum of outer products, and chains that a flag may suppress.
#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

// A graph of one fused op, and tensors for its operands.
struct Fused {
  using Chain = std::function<std::vector<Value>(Graph& graph, const std::vector<Value>& operands)>;

  Graph graph;
  const Op* op;
  std::vector<Tensor> tensors;

  Fused(std::vector<Tensor> given, const Chain& chain) : tensors(std::move(given)) {
    std::vector<Value> operands;
    for (const Tensor& t : tensors) operands.push_back(placeholder(graph, t.type));
    graph.open_region();
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(graph.close_region(chain(graph, operands)));
    op = graph.add(OpCode::fused, operands, {}, std::move(regions));
  }
  void expect_meaning(double ulps, double absolute) const { test::expect_meaning(*op, tensors, ulps, absolute); }
};

// left^T right: a sum of outer products.
Value product_of_columns(Graph& graph, Value left, Value right) {
  return graph.value(OpCode::matmul, {left, right}, {{Attr::kTransposeA, true}, {Attr::kTransposeB, false}});
}

// ---- chains after a product ----

// relu(left^T right * column + row), and an SGD step by it.
TEST_P(Products, OfColumnsGoThroughTheirChain) {
  struct Case {
    int64_t rows, inner, columns;
  };
  for (const Case& c :
       {Case{1, 1, 1}, {14, 3, 32}, {15, 64, 33}, {47, 7, 129}, {1024, 2, 131}, {300, 33, 1030}, {70, 500, 47}}) {
    SCOPED_TRACE(std::to_string(c.rows) + " " + std::to_string(c.inner) + " " + std::to_string(c.columns));
    const Shape shape({1, c.rows, c.columns});
    const Fused fused(
        {random_.tensor({c.inner, c.rows}), random_.tensor({c.inner, c.columns}), random_.tensor({c.columns}),
         random_.tensor({c.rows, 1}), random_.tensor(shape), Tensor({1}, {0.25})},
        [&](Graph& graph, const std::vector<Value>& x) {
          const Value product = product_of_columns(graph, x[0], x[1]);
          const Value shaped = graph.value(OpCode::reshape, {product}, {{Attr::kShape, shape}});
          const Value scaled = graph.value(OpCode::multiply, {shaped, x[3]});
          const Value rectified = graph.value(OpCode::relu, {graph.value(OpCode::add, {scaled, x[2]})});
          return std::vector{rectified, graph.value(OpCode::sgd, {x[5], x[4], rectified})};
        });
    fused.expect_meaning(4, 1e-4);
    const std::unique_ptr<Kernel> kernel = make_kernel(*fused.op);
    for (size_t i : {0, 1}) EXPECT_FALSE(kernel->in_place(i, 1)) << "the product is read to the end";
    EXPECT_TRUE(kernel->in_place(4, 1));
  }
}

TEST_P(Products, OfColumnsWithoutNumbersStopNobodyElse) {
  const int64_t rows = 70, inner = 64, columns = 50;
  Tensor left = random_.tensor({inner, rows}), right = random_.tensor({inner, columns});
  left.set(3 * rows + 40, kNaN);
  right.set(5 * columns + 7, kInfinity);
  const Fused fused({left, right}, [](Graph& graph, const std::vector<Value>& x) {
    return std::vector{graph.value(OpCode::negative, {product_of_columns(graph, x[0], x[1])})};
  });
  fused.expect_meaning(4, 2e-5);
}

// ---- chains that a flag may hold back ----

TEST_P(Products, OfColumnsAreHeldBackByAFlag) {
  Fused fused({random_.tensor({7, 47}), random_.tensor({7, 129}), Tensor({}, {1}, DType::boolean), Tensor({1}, {0.25}),
               random_.tensor({47, 129})},
              [](Graph& graph, const std::vector<Value>& x) {
                const Value stepped = graph.value(OpCode::sgd, {x[3], x[4], product_of_columns(graph, x[0], x[1])});
                return std::vector{graph.value(OpCode::select, {x[2], stepped, x[4]})};
              });
  EXPECT_TRUE(make_kernel(*fused.op)->in_place(4, 0));
  fused.expect_meaning(4, 1e-5);
  fused.tensors[2].set(0, 0);
  fused.tensors[0].set(5, kNaN);
  fused.expect_meaning(0, 0);
}

TEST_P(Simd, StepsAreHeldBackByAFlagAllOrNone) {
  const Shape shape({13, 37});
  Fused fused({Tensor({1}, {0.5}), Tensor({1}, {0.75}), Tensor({1}, {0.5}), Tensor({1}, {0.25}), random_.tensor(shape),
               random_.tensor(shape), random_.tensor(shape, DType::float32, 0, 2), random_.tensor(shape),
               Tensor({}, {1}, DType::boolean)},
              [](Graph& graph, const std::vector<Value>& x) {
                const Op* adam = graph.add(OpCode::adam, {x.begin(), x.begin() + 8});
                std::vector<Value> kept;
                for (uint32_t r = 0; r < 3; ++r) {
                  kept.push_back(graph.value(OpCode::select, {x[8], adam->result(r), x[4 + r]}));
                }
                return kept;
              });
  const std::unique_ptr<Kernel> kernel = make_kernel(*fused.op);
  for (size_t operand = 4; operand < 7; ++operand) {
    for (size_t result = 0; result < 3; ++result) EXPECT_EQ(kernel->in_place(operand, result), operand - 4 == result);
  }
  fused.expect_meaning(4, 1e-6);
  fused.tensors[8].set(0, 0);
  fused.tensors[7].set(3, kNaN);
  fused.expect_meaning(0, 0);
}

// If others need the result or each element has a flag, the chain selects element by element.
TEST_P(Simd, SelectsThatAreNoGuardStaySelects) {
  for (const bool one_flag : {true, false}) {
    const Shape shape({9, 21});
    const Fused fused({one_flag ? Tensor({}, {0}, DType::boolean) : random_.tensor(shape, DType::boolean),
                       random_.tensor(shape), random_.tensor(shape)},
                      [](Graph& graph, const std::vector<Value>& x) {
                        const Value sum = graph.value(OpCode::add, {x[1], x[2]});
                        const Value chosen = graph.value(OpCode::select, {x[0], sum, x[2]});
                        return std::vector{chosen, graph.value(OpCode::negative, {chosen})};
                      });
    fused.expect_meaning(1, 1e-7);
  }
}

}  // namespace
}  // namespace alloy::test
