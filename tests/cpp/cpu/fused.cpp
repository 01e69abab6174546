// Tests chains after a sum of outer products, and chains that a flag may suppress.
#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

const Op* fused(Graph& graph, const std::vector<Value>& operands, const std::vector<Value>& results) {
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(graph.close_region(results));
  return graph.add(OpCode::fused, operands, {}, std::move(regions));
}

// left^T right: a sum of outer products. Its element i in float64.
Value product_of_columns(Graph& graph, Value left, Value right) {
  return graph.value(OpCode::matmul, {left, right}, {{Attr::kTransposeA, true}, {Attr::kTransposeB, false}});
}
double product_of_columns(const Tensor& left, const Tensor& right, int64_t i) {
  const int64_t inner = left.type.shape[0], rows = left.type.shape[1], columns = right.type.shape[1];
  double sum = 0;
  for (int64_t k = 0; k < inner; ++k) {
    sum += left.at(k * rows + i / columns) * right.at(k * columns + i % columns);
  }
  return sum;
}

// ---- chains after a product ----

// relu(left^T right * column + row) and an SGD step by it, against sums in double.
TEST_P(Products, OfColumnsGoThroughTheirChain) {
  struct Case {
    int64_t rows, inner, columns;
  };
  for (const Case& c :
       {Case{1, 1, 1}, {14, 3, 32}, {15, 64, 33}, {47, 7, 129}, {1024, 2, 131}, {300, 33, 1030}, {70, 500, 47}}) {
    SCOPED_TRACE(std::to_string(c.rows) + " " + std::to_string(c.inner) + " " + std::to_string(c.columns));
    Graph graph;
    const Tensor left = random_.tensor({c.inner, c.rows}), right = random_.tensor({c.inner, c.columns}),
                 row = random_.tensor({c.columns}), column = random_.tensor({c.rows, 1}),
                 values = random_.tensor({1, c.rows, c.columns}), rate({1}, {0.25});
    std::vector<Value> operands;
    for (const Tensor* t : {&left, &right, &row, &column, &values, &rate})
      operands.push_back(placeholder(graph, t->type));
    graph.open_region();
    const Value product = product_of_columns(graph, operands[0], operands[1]);
    const Value shaped = graph.value(OpCode::reshape, {product}, {{Attr::kShape, values.type.shape}});
    const Value scaled = graph.value(OpCode::multiply, {shaped, operands[3]});
    const Value rectified = graph.value(OpCode::relu, {graph.value(OpCode::add, {scaled, operands[2]})});
    const Value stepped = graph.value(OpCode::sgd, {operands[5], operands[4], rectified});
    const Op* op = fused(graph, operands, {rectified, stepped});
    const std::unique_ptr<Kernel> kernel = make_kernel(*op);
    for (size_t i : {0, 1}) EXPECT_FALSE(kernel->in_place(i, 1)) << "the product is read to the end";
    ASSERT_TRUE(kernel->in_place(4, 1));

    Tensor gradient(op->results[0]), updated = values;
    std::vector<const std::byte*> from;
    for (const Tensor* t : std::vector<const Tensor*>{&left, &right, &row, &column, &updated, &rate})
      from.push_back(t->bytes.data());
    run_kernel(*kernel, from, {gradient.bytes.data(), updated.bytes.data()});
    auto expected = [&](int64_t i) {
      const double sum = product_of_columns(left, right, i);
      return std::max(sum * column.at(i / c.columns) + row.at(i % c.columns), 0.0);
    };
    expect_close(gradient, expected, 4, 1e-4);
    expect_close(updated, [&](int64_t i) { return values.at(i) - 0.25 * expected(i); }, 4, 1e-4);
  }
}

// ---- chains that a flag may suppress ----

TEST_P(Products, OfColumnsAreHeldBackByAFlag) {
  for (const bool in_place : {true, false}) {
    Graph graph;
    const int64_t rows = 47, inner = 7, columns = 129;
    Tensor left = random_.tensor({inner, rows}), values = random_.tensor({rows, columns}),
           flag({}, {1}, DType::boolean);
    const Tensor right = random_.tensor({inner, columns}), rate({1}, {0.25});
    std::vector<Value> operands;
    for (const Tensor* t : std::vector<const Tensor*>{&left, &right, &flag, &rate, &values}) {
      operands.push_back(placeholder(graph, t->type));
    }
    graph.open_region();
    const Value product = product_of_columns(graph, operands[0], operands[1]);
    const Value stepped = graph.value(OpCode::sgd, {operands[3], operands[4], product});
    const Op* op = fused(graph, operands, {graph.value(OpCode::select, {operands[2], stepped, operands[4]})});
    const std::unique_ptr<Kernel> kernel = make_kernel(*op);
    ASSERT_TRUE(kernel->in_place(4, 0));
    Tensor updated = values;
    Tensor& target = in_place ? values : updated;
    const std::vector<const std::byte*> from = {left.bytes.data(), right.bytes.data(), flag.bytes.data(),
                                                rate.bytes.data(), values.bytes.data()};
    const Tensor before = values;
    run_kernel(*kernel, from, {target.bytes.data()});
    expect_close(target, [&](int64_t i) { return before.at(i) - 0.25 * product_of_columns(left, right, i); }, 4, 1e-5);
    flag.set(0, 0);
    left.set(5, kNaN);
    target.bytes.assign(target.bytes.size(), std::byte{7});
    values = before;
    run_kernel(*kernel, from, {target.bytes.data()});
    EXPECT_EQ(target.bytes, before.bytes);
  }
}

TEST_P(Simd, StepsAreHeldBackByAFlagAllOrNone) {
  Graph graph;
  const Shape shape({13, 37});
  Tensor flag({}, {1}, DType::boolean), gradient = random_.tensor(shape);
  const Tensor rate({1}, {0.5}), beta1({1}, {0.75}), beta2({1}, {0.5}), epsilon({1}, {0.25});
  std::vector<Tensor> old = {random_.tensor(shape), random_.tensor(shape), random_.tensor(shape, DType::float32, 0, 2)};
  std::vector<Value> operands;
  std::vector<const std::byte*> from;
  for (const Tensor* t :
       std::vector<const Tensor*>{&rate, &beta1, &beta2, &epsilon, &old[0], &old[1], &old[2], &gradient, &flag}) {
    operands.push_back(placeholder(graph, t->type));
    from.push_back(t->bytes.data());
  }
  graph.open_region();
  const Op* adam = graph.add(OpCode::adam, {operands.begin(), operands.begin() + 8}, {});
  std::vector<Value> kept;
  for (uint32_t r = 0; r < 3; ++r) {
    kept.push_back(graph.value(OpCode::select, {operands[8], adam->result(r), operands[4 + r]}));
  }
  const std::unique_ptr<Kernel> kernel = make_kernel(*fused(graph, operands, kept));
  for (size_t operand = 4; operand < 7; ++operand) {
    for (size_t result = 0; result < 3; ++result) EXPECT_EQ(kernel->in_place(operand, result), operand - 4 == result);
  }
  std::vector<Tensor> made(3, Tensor(old[0].type));
  auto run = [&] { run_kernel(*kernel, from, {made[0].bytes.data(), made[1].bytes.data(), made[2].bytes.data()}); };
  run();
  auto first = [&](int64_t i) { return 0.75 * old[1].at(i) + 0.25 * gradient.at(i); };
  auto second = [&](int64_t i) { return 0.5 * old[2].at(i) + 0.5 * gradient.at(i) * gradient.at(i); };
  expect_close(
      made[0], [&](int64_t i) { return old[0].at(i) - 0.5 * first(i) / (std::sqrt(second(i)) + 0.25); }, 4, 1e-6);
  expect_close(made[1], first, 4, 1e-6);
  expect_close(made[2], second, 4, 1e-6);
  flag.set(0, 0);
  gradient.set(3, kNaN);
  run();
  for (size_t r = 0; r < 3; ++r) EXPECT_EQ(made[r].bytes, old[r].bytes);
}

// If others need the result or each element has a flag, the chain selects element by element.
TEST_P(Simd, SelectsThatAreNoGuardStaySelects) {
  for (const bool one_flag : {true, false}) {
    Graph graph;
    const Shape shape({9, 21});
    const Tensor flag = one_flag ? Tensor({}, {0}, DType::boolean) : random_.tensor(shape, DType::boolean),
                 a = random_.tensor(shape), b = random_.tensor(shape);
    const std::vector<Value> operands = {placeholder(graph, flag.type), placeholder(graph, a.type),
                                         placeholder(graph, b.type)};
    graph.open_region();
    const Value sum = graph.value(OpCode::add, {operands[1], operands[2]});
    const Value chosen = graph.value(OpCode::select, {operands[0], sum, operands[2]});
    const Op* op = fused(graph, operands, {chosen, graph.value(OpCode::negative, {chosen})});
    Tensor y(op->results[0]), z(op->results[1]);
    run_kernel(*make_kernel(*op), {flag.bytes.data(), a.bytes.data(), b.bytes.data()},
               {y.bytes.data(), z.bytes.data()});
    auto expected = [&](int64_t i) { return flag.at(one_flag ? 0 : i) != 0 ? a.at(i) + b.at(i) : b.at(i); };
    expect_close(y, expected, 1, 1e-7);
    expect_close(z, [&](int64_t i) { return -expected(i); }, 1, 1e-7);
  }
}

TEST_P(Products, OfColumnsWithoutNumbersStopNobodyElse) {
  Graph graph;
  const int64_t rows = 70, inner = 64, columns = 50;
  Tensor left = random_.tensor({inner, rows}), right = random_.tensor({inner, columns});
  left.set(3 * rows + 40, kNaN);
  right.set(5 * columns + 7, kInfinity);
  const std::vector<Value> operands = {placeholder(graph, left.type), placeholder(graph, right.type)};
  graph.open_region();
  const Value product = product_of_columns(graph, operands[0], operands[1]);
  const Op* op = fused(graph, operands, {graph.value(OpCode::negative, {product})});
  Tensor y(op->results[0]);
  run_kernel(*make_kernel(*op), {left.bytes.data(), right.bytes.data()}, {y.bytes.data()});
  expect_close(y, [&](int64_t i) { return -product_of_columns(left, right, i); }, 4, 2e-5);
}

}  // namespace
}  // namespace alloy::test
