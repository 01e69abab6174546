// Tests chains after a sum of outer products, and chains that a flag may suppress.
#include "cpu/device.h"
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

// ---- chains that fold rows ----

Value fold(Graph& graph, OpCode code, Value x) { return graph.value(code, {x}, {{Attr::kAxes, Dims{-1}}}); }

// Shapes of one tile and of several, with short rows and with rows longer than a tile.
const Shape kShapesOfRows[] = {{32, 16}, {64, 64}, {48, 100}, {3, 16, 128}, {40, 960}, {33, 4096}, {5, 7, 4, 48}};

TEST_P(Simd, ChainsNormalizeRows) {
  for (const Shape& shape : kShapesOfRows) {
    SCOPED_TRACE(to_string(shape));
    const Shape rows = shape_of_rows(shape), row({shape[shape.rank() - 1]});
    const Fused fused({random_.tensor(shape), random_.tensor(row), random_.tensor(rows, DType::float32, 1, 2),
                       Tensor({}, {0.25}), random_.tensor(shape)},
                      [](Graph& graph, const std::vector<Value>& x) {
                        const Value mean = fold(graph, OpCode::mean, x[0]);
                        const Value variance = fold(graph, OpCode::variance, x[0]);
                        const Value wider = graph.value(OpCode::multiply, {variance, x[2]});
                        const Value root = graph.value(OpCode::sqrt, {graph.value(OpCode::add, {wider, x[3]})});
                        const Value centered = graph.value(OpCode::subtract, {x[0], mean});
                        const Value normal = graph.value(OpCode::divide, {centered, root});
                        const Value scaled = graph.value(OpCode::multiply, {normal, x[1]});
                        // What the gradient needs: sums of what the chain itself computes.
                        const Value product = graph.value(OpCode::multiply, {scaled, x[4]});
                        const Value sum = graph.value(OpCode::reduce_like, {product, root});
                        const Value moved = graph.value(OpCode::add, {product, x[2]});
                        return std::vector{scaled, root, graph.value(OpCode::subtract, {moved, sum}), sum, mean};
                      });
    fused.expect_meaning(16, 2e-4);
    const std::unique_ptr<Kernel> kernel = make_kernel(*fused.op);
    EXPECT_TRUE(kernel->in_place(4, 2)) << "read before it is written";
    EXPECT_FALSE(kernel->in_place(2, 1)) << "a value for each row";
  }
}

TEST_P(Simd, ChainsFoldRowsByEveryReduction) {
  for (const OpCode code : {OpCode::sum, OpCode::mean, OpCode::variance, OpCode::product, OpCode::max, OpCode::min}) {
    SCOPED_TRACE(info(code).name);
    for (const Shape& shape : kShapesOfRows) {
      const Fused fused({random_.tensor(shape, DType::float32, 0.99, 1.01)},
                        [&](Graph& graph, const std::vector<Value>& x) {
                          const Value once = fold(graph, code, graph.value(OpCode::negative, {x[0]}));
                          const Value moved = graph.value(OpCode::add, {x[0], once});
                          return std::vector{once, moved, fold(graph, code, x[0])};
                        });
      fused.expect_meaning(64, 1e-5);
    }
  }
}

// Conditions, integers and a mask that is no bool, for each row.
TEST_P(Simd, ChainsSelectByRows) {
  const Shape shape({96, 32}), rows({96, 1});
  const Fused fused(
      {random_.tensor(shape), random_.tensor(rows), Tensor(Type{DType::int64, rows}), random_.tensor(shape)},
      [](Graph& graph, const std::vector<Value>& x) {
        const Value greatest = fold(graph, OpCode::max, x[0]);
        const Value chosen = graph.value(OpCode::select, {x[1], greatest, x[1]});
        const Value is_greatest = graph.value(OpCode::equal, {x[0], greatest});
        const Value number = graph.value(OpCode::cast, {x[2]}, {{Attr::kDtype, DType::float32}});
        const Value sum = graph.value(OpCode::add, {graph.value(OpCode::add, {chosen, number}), x[3]});
        return std::vector{graph.value(OpCode::select, {is_greatest, sum, x[3]}), is_greatest, chosen};
      });
  fused.expect_meaning(1, 1e-6);
}

// As many values for each row as the compiler puts into one op: with an operand of its own for each op, some with a
// condition that is no bool.
TEST_P(Simd, ChainsHaveManyValuesForRows) {
  const Shape shape({64, 32}), rows({64, 1});
  std::vector<Tensor> tensors = {random_.tensor(shape)};
  const size_t most = cpu_device().fusion_policy().most_values();
  size_t tiles = 2;  // of the fold and the last op
  while (tiles + 2 <= most) {
    tensors.push_back(random_.tensor(rows));
    ++tiles;
    if (tensors.size() % 3 == 0) {
      tensors.push_back(random_.tensor(rows));
      ++tiles;
    }
  }
  const Fused fused(tensors, [&](Graph& graph, const std::vector<Value>& x) {
    Value value = fold(graph, OpCode::max, x[0]);
    for (size_t i = 1; i < x.size(); ++i) {
      if (i % 3 != 2 || i + 1 == x.size()) value = graph.value(OpCode::subtract, {x[i], value});
      else value = graph.value(OpCode::select, {value, x[i], x[++i]});
    }
    return std::vector{graph.value(OpCode::multiply, {x[0], value})};
  });
  fused.expect_meaning(4, 1e-5);
}

TEST(Fused, RowsGiveTheSameBitsForAnyNumberOfThreads) {
  Random random;
  const Fused fused({random.tensor({4096, 96})}, [](Graph& graph, const std::vector<Value>& x) {
    const Value sum = fold(graph, OpCode::sum, graph.value(OpCode::exp, {x[0]}));
    return std::vector{graph.value(OpCode::divide, {x[0], sum}), sum};
  });
  std::vector<std::vector<Tensor>> found;
  for (const int threads : {1, 3}) {
    set_kernel_threads(threads);
    found.push_back(run_all(*fused.op, fused.tensors));
  }
  set_kernel_threads(2);
  for (size_t i : {0, 1}) EXPECT_EQ(found[0][i].bytes, found[1][i].bytes);
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
