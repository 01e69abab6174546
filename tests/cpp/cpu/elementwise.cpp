// Elementwise ops and chains of them.
#include "cpu/elementwise/elementwise.h"
#include "cpu/kernel_testing.h"

namespace alloy::test {
namespace {

bool is_elementwise(const OpInfo& row) {
  return row.family != Family::kReduction && row.family != Family::kMoment && row.family != Family::kArgReduction &&
         row.family != Family::kStructured;
}

Tensor sample(Random& random, const OpInfo& row, DType dtype, const Shape& shape) {
  if (row.domain == Domain::positive) return random.tensor(shape, dtype, 0.3, 2);
  if (row.domain == Domain::unit) return random.tensor(shape, dtype, -0.9, 0.9);
  if (row.domain == Domain::above_one) return random.tensor(shape, dtype, 1.1, 5);
  if (row.domain == Domain::small || dtype != DType::float32) return random.tensor(shape, dtype);
  return random.tensor(shape, dtype, -8, 8);
}

void expect_elementwise(const OpInfo& row, const std::vector<Tensor>& in) {
  // Three roundings and two functions within 4 ulp each.
  expect_meaning(row.code, in, {}, row.code == OpCode::sigmoid_gradient ? 10 : 4);
}

TEST_P(Simd, EveryElementwiseOpOnEveryType) {
  for (const OpInfo& row : op_table()) {
    if (!is_elementwise(row)) continue;
    for (DType dtype : kDtypes) {
      if (!accepts(row.types, dtype)) continue;
      for (int64_t n : {0, 1, 7, 64, 131, 5000}) {
        std::vector<Tensor> in;
        for (int k = 0; k < row.fewest_operands; ++k) in.push_back(sample(random_, row, dtype, Shape({n})));
        expect_elementwise(row, in);
      }
    }
  }
}

TEST_P(Simd, Broadcasting) {
  const std::pair<Shape, Shape> cases[] = {
      {{5, 7}, {5, 7}},
      {{5, 7}, {7}},
      {{5, 1}, {5, 7}},
      {{3, 1, 5}, {3, 4, 5}},
      {{2, 3, 1, 1}, {2, 3, 4, 5}},
      {{1}, {9}},
      {{}, {3, 3}},
      {{4, 1, 6}, {1, 5, 6}},
      {{300, 1}, {300, 10}},
      {{10}, {300, 10}},
      {{3000}, {5, 3000}},
      {{5, 1}, {5, 3000}},
      {{1, 1}, {2500}},
      {{0, 3}, {3}},
      {{1, 3}, {0, 3}},
      {{4, 0, 2}, {1, 2}},
      {{}, {}},
      {{1, 1}, {1}},
      {{2, 700, 3}, {2, 1, 3}},
      {{64, 1, 1, 8}, {8}},
  };
  for (const auto& [a, b] : cases) {
    for (OpCode code : {OpCode::subtract, OpCode::less}) {
      for (DType dtype : {DType::float32, DType::int64}) {
        const Tensor x = random_.tensor(a, dtype), y = random_.tensor(b, dtype);
        expect_elementwise(info(code), {x, y});
        expect_elementwise(info(code), {y, x});
      }
    }
  }
}

TEST_P(Simd, SelectTakesAPredicateOfAnyTypeAndBroadcastsAllThree) {
  for (DType predicate : kDtypes) {
    for (DType dtype : kDtypes) {
      Tensor p = random_.tensor(Shape({6, 1, 31}), predicate);
      for (int64_t i = 0; i < p.size(); i += 3) p.set(i, 0);
      expect_elementwise(info(OpCode::select),
                         {p, random_.tensor(Shape({5, 31}), dtype), random_.tensor(Shape({1}), dtype)});
    }
  }
  expect_equal(run(OpCode::select, {Tensor({3}, {kNaN, -0.0, 0.5}), Tensor({3}, {1, 2, 3}), Tensor({1}, {9})}),
               {1, 9, 3});
}

TEST_P(Simd, TestsOfNumbers) {
  constexpr double kMost = std::numeric_limits<float>::max(), kLeast = std::numeric_limits<float>::denorm_min();
  std::vector<double> values;
  for (int i = 0; i < 30; ++i) {
    values.insert(values.end(), {kNaN, -kNaN, kInfinity, -kInfinity, 0.0, -0.0, 1, -2, kMost, -kMost, kLeast, -kLeast});
    const Tensor x({static_cast<int64_t>(values.size())}, values);
    for (OpCode code : {OpCode::is_nan, OpCode::is_infinite, OpCode::is_finite}) {
      expect_elementwise(ir::info(code), {x});
    }
  }
}

TEST_P(Simd, AnyByteButZeroIsTrue) {
  const Tensor a({4}, {2, 0, 255, 1}, DType::boolean), b({4}, {1, 0, 3, 0}, DType::boolean);
  expect_equal(run(OpCode::equal, {a, b}), {1, 1, 1, 0});
  expect_equal(run(OpCode::select, {a, a, b}), {1, 0, 1, 1});
  expect_equal(run(OpCode::cast, {a}, {{Attr::kDtype, DType::float32}}), {1, 0, 1, 1});
  expect_equal(run(OpCode::logical_not, {a}), {0, 1, 0, 0});
  expect_equal(run(OpCode::logical_and, {a, b}), {1, 0, 1, 0});
  expect_equal(run(OpCode::logical_or, {b, a}), {1, 0, 1, 1});
  expect_equal(run(OpCode::logical_xor, {a, b}), {0, 0, 0, 1});
}

TEST_P(Simd, FloatFunctionsAreWithinAFewUlp) {
  const struct {
    OpCode code;
    double low, high;
  } cases[] = {
      {OpCode::exp, -110, 95},     {OpCode::log, 0, 4},         {OpCode::log, 0, 3e38},    {OpCode::tanh, -10, 10},
      {OpCode::tanh, -0.01, 0.01}, {OpCode::sigmoid, -110, 30}, {OpCode::sqrt, 0, 1e10},   {OpCode::log2, 0, 4},
      {OpCode::log10, 0.5, 2},     {OpCode::log10, 0, 3e38},    {OpCode::exp2, -126, 128}, {OpCode::exp10, -37, 38},
      {OpCode::erf, -4.5, 4.5},    {OpCode::erf, -0.01, 0.01},  {OpCode::sin, -10, 10},    {OpCode::sin, -9000, 9000},
      {OpCode::cos, -10, 10},      {OpCode::cos, -1e30, 1e30},  {OpCode::tan, -10, 10},    {OpCode::sinh, -90, 90},
      {OpCode::cosh, -90, 90},     {OpCode::asin, -1, 1},       {OpCode::acos, -1, 1},     {OpCode::atan, -20, 20},
      {OpCode::asinh, -20, 20},    {OpCode::acosh, 1, 20},      {OpCode::atanh, -1, 1},    {OpCode::rint, -20, 20},
      {OpCode::round, -20, 20},    {OpCode::trunc, -20, 20},
  };
  for (const auto& c : cases) {
    Tensor x(Type{DType::float32, Shape({20000})});
    for (int64_t i = 0; i < x.size(); ++i) x.set(i, c.low + (c.high - c.low) * static_cast<double>(i) / 19999.0);
    expect_meaning(c.code, {x}, {}, 4);
  }
  Tensor tiny(Type{DType::float32, Shape({40})});
  for (int64_t i = 0; i < 40; ++i) tiny.set(i, std::ldexp(1.37, -110 - static_cast<int>(i)));
  expect_meaning(OpCode::log, {tiny}, {}, 4);
}

// Near a multiple of pi / 2 the distance from it decides the result.
TEST_P(Simd, SinesNearTheirZeros) {
  Tensor x(Type{DType::float32, Shape({5200})});
  for (int64_t i = 0; i < x.size(); ++i) x.set(i, static_cast<double>(i - 2600) * 2 * 1.5707963267948966);
  for (OpCode code : {OpCode::sin, OpCode::cos}) expect_meaning(code, {x}, {}, 4);
}

// Zeros of both signs, infinities, NaN, the ends of domains, halves and the largest numbers with a fraction.
TEST_P(Simd, FunctionsOfSpecialNumbers) {
  const std::vector<double> values = {0.0,     -0.0,     1,        -1,        0.5,          -0.5,       1.5,
                                      -1.5,    2.5,      -2.5,     kInfinity, -kInfinity,   kNaN,       3,
                                      8388607, 16777216, -8388609, 4194303.5, 0.4999999702, 4194302.75, 3.3e38};
  const Tensor x({static_cast<int64_t>(values.size())}, values);
  for (OpCode code : {OpCode::floor, OpCode::ceil, OpCode::rint, OpCode::round, OpCode::trunc, OpCode::sin, OpCode::cos,
                      OpCode::tan, OpCode::asin, OpCode::acos, OpCode::atan, OpCode::asinh, OpCode::acosh,
                      OpCode::atanh, OpCode::erf, OpCode::exp2, OpCode::log10, OpCode::log2}) {
    expect_meaning(code, {x}, {}, 4);
    const Tensor y = run(code, {x});
    const Array expected = meaning(code, {x})[0];
    for (int64_t i = 0; i < x.size(); ++i) {
      const double e = expected.values[static_cast<size_t>(i)];
      EXPECT_TRUE(std::isnan(e) || std::signbit(y.at(i)) == std::signbit(e)) << info(code).name << " of " << x.at(i);
    }
  }
}

// As in Python, except division by 0; a zero has the divisor's sign.
TEST_P(Simd, RemaindersOfSpecialNumbers) {
  const std::vector<double> a = {5, -5, 5, -5, 4, -4, 0.0, 7, kInfinity, 3, kNaN, 6.5};
  const std::vector<double> b = {3, 3, -3, -3, -2, 2, -1, 0, 2, kInfinity, 2, -2};
  const Tensor x({12}, a), y({12}, b);
  const Tensor rest = run(OpCode::mod, {x, y});
  expect_equal(rest, {2, 1, -1, -2, 0, 0, 0, 0, kNaN, 3, kNaN, -1.5});
  EXPECT_TRUE(std::signbit(rest.at(4)) && !std::signbit(rest.at(5)) && std::signbit(rest.at(6)));
  expect_meaning(OpCode::fmod, {x, y});
}

TEST_P(Simd, FloatFunctionsAtTheEdges) {
  const Tensor x({7}, {-kInfinity, -100, -0.0, 0, 100, kInfinity, kNaN});
  expect_equal(run(OpCode::exp, {x}), {0, static_cast<float>(std::exp(-100.0)), 1, 1, kInfinity, kInfinity, kNaN});
  const Tensor tanh = run(OpCode::tanh, {x});
  expect_equal(tanh, {-1, -1, 0, 0, 1, 1, kNaN});
  EXPECT_TRUE(std::signbit(tanh.at(2)) && !std::signbit(tanh.at(3)));
  const Tensor relu = run(OpCode::relu, {x});
  expect_equal(relu, {0, 0, 0, 0, 100, kInfinity, kNaN});
  for (int64_t i = 0; i < 4; ++i) EXPECT_FALSE(std::signbit(relu.at(i)));
  expect_equal(run(OpCode::relu_gradient, {Tensor({7}, {1, 2, 3, 4, 5, 6, 7}), x}), {0, 0, 0, 0, 5, 6, 7});
  expect_equal(run(OpCode::sigmoid, {x}), {0, static_cast<float>(std::exp(-100.0)), 0.5, 0.5, 1, 1, kNaN});
  expect_equal(run(OpCode::log, {Tensor({5}, {-1, -kInfinity, -0.0, kInfinity, kNaN})}),
               {kNaN, kNaN, -kInfinity, kInfinity, kNaN});
  const Tensor sign = run(OpCode::sign, {x});
  expect_equal(sign, {-1, -1, 0, 0, 1, 1, 0});
  EXPECT_TRUE(std::signbit(sign.at(2)));
  expect_equal(run(OpCode::maximum, {Tensor({4}, {kNaN, 1, kNaN, -kInfinity}), Tensor({4}, {2, kNaN, kNaN, 0})}),
               {2, 1, kNaN, 0});
  expect_equal(run(OpCode::minimum, {Tensor({4}, {kNaN, 1, kNaN, -kInfinity}), Tensor({4}, {2, kNaN, kNaN, 0})}),
               {2, 1, kNaN, -kInfinity});
  expect_equal(run(OpCode::divide_no_nan, {Tensor({4}, {1, 0, kInfinity, 3}), Tensor({4}, {0, 0, -0.0, kNaN})}),
               {0, 0, 0, kNaN});
  expect_equal(run(OpCode::not_equal, {Tensor({2}, {kNaN, 1}), Tensor({2}, {kNaN, 1})}), {1, 0});
  expect_equal(run(OpCode::greater_equal, {Tensor({2}, {kNaN, 1}), Tensor({2}, {0, 1})}), {0, 1});
  expect_equal(run(OpCode::less_equal, {Tensor({2}, {kNaN, 1}), Tensor({2}, {0, 1})}), {0, 1});
}

TEST_P(Simd, IntegerArithmeticNeverTraps) {
  for (DType dtype : {DType::int32, DType::int64}) {
    const double least = dtype == DType::int32 ? -2147483648.0 : -9223372036854775808.0;
    const Tensor a({5}, {7, -7, 5, least, 0}, dtype), b({5}, {-2, 2, 0, -1, 0}, dtype);
    expect_equal(run(OpCode::divide, {a, b}), {-3, -3, 0, least, 0});
    const Tensor base({7}, {3, -2, 0, 2, -1, 1, 0}, dtype), exponent({7}, {13, 3, 0, -1, -3, -5, -1}, dtype);
    expect_equal(run(OpCode::power, {base, exponent}), {1594323, -8, 1, 0, -1, 1, 0});
  }
  const Tensor big({2}, {3037000499.0, -3037000499.0}, DType::int64);
  expect_equal(run(OpCode::square, {big}), {9223372030926249001.0, 9223372030926249001.0});
}

TEST_P(Simd, CastsTruncateAndSaturate) {
  const Tensor x({9}, {1.9, -1.9, 0, kNaN, kInfinity, -kInfinity, 3e9, -3e9, 1e19});
  auto to = [&](const Tensor& t, DType dtype) { return run(OpCode::cast, {t}, {{Attr::kDtype, dtype}}); };
  expect_equal(to(x, DType::int32), {1, -1, 0, 0, 2147483647, -2147483648.0, 2147483647, -2147483648.0, 2147483647});
  const Tensor wide = to(x, DType::int64);
  expect_equal(Tensor({7}, {wide.at(0), wide.at(1), wide.at(2), wide.at(3), wide.at(5), wide.at(6), wide.at(7)}),
               {1, -1, 0, 0, -9223372036854775808.0, 3e9, -3e9});
  EXPECT_EQ(wide.bytes[7 + 8 * 4], std::byte{0x7F});
  EXPECT_EQ(wide.bytes[8 * 8], std::byte{0xFF});
  expect_equal(to(x, DType::boolean), {1, 1, 0, 1, 1, 1, 1, 1, 1});
  for (DType from : kDtypes) {
    for (DType dtype : kDtypes) {
      expect_meaning(OpCode::cast, {random_.tensor(Shape({133}), from)}, {{Attr::kDtype, dtype}}, 4);
    }
  }
}

TEST_P(Simd, AChainIsOneKernel) {
  for (int64_t n : {1, 3, 10, 700, 2000}) {
    Graph graph;
    const Value x = placeholder(graph, f32({90, n})), row = placeholder(graph, f32({n})),
                column = placeholder(graph, f32({90, 1}));
    const Value shifted = graph.value(OpCode::subtract, {x, column});
    const Value scaled = graph.value(OpCode::multiply, {shifted, row});
    const Value rectified = graph.value(OpCode::relu, {scaled});
    const Value positive = graph.value(OpCode::greater, {shifted, rectified});
    const Value result = graph.value(OpCode::select, {positive, x, rectified});
    const Op* ops[] = {shifted.op, scaled.op, rectified.op, positive.op, result.op};
    const Value operands[] = {row, x, column}, results[] = {result, scaled};
    const Elementwise kernel(ops, operands, results);

    EXPECT_TRUE(kernel.in_place(1, 0));
    EXPECT_FALSE(kernel.in_place(1, 1)) << "x is read again after `scaled` is written";
    EXPECT_FALSE(kernel.in_place(0, 0)) << "a row is not the whole shape";

    const Tensor tx = random_.tensor({90, n}), tr = random_.tensor({n}), tc = random_.tensor({90, 1});
    Tensor out(result.type()), middle(scaled.type());
    run_kernel(kernel, {tr.bytes.data(), tx.bytes.data(), tc.bytes.data()}, {out.bytes.data(), middle.bytes.data()});
    auto expected_middle = [&](int64_t i) {
      return static_cast<float>((static_cast<float>(tx.at(i) - tc.at(i / n))) * tr.at(i % n));
    };
    expect_close(middle, expected_middle);
    expect_close(out, [&](int64_t i) {
      const double r = std::max<double>(expected_middle(i), 0);
      return static_cast<float>(tx.at(i) - tc.at(i / n)) > r ? tx.at(i) : r;
    });
    Tensor shared = tx;
    run_kernel(kernel, {tr.bytes.data(), shared.bytes.data(), tc.bytes.data()},
               {shared.bytes.data(), middle.bytes.data()});
    EXPECT_EQ(shared.bytes, out.bytes);
  }
}

}  // namespace
}  // namespace alloy::test
