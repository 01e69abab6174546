// Kernels against plain double-precision references. Table ops run on every instruction set that this machine
// has.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

// Decides which targets there are.
#include "cpu/simd/targets.h"

#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <thread>

#include "cpu/amx/product.h"
#include "cpu/elementwise/elementwise.h"
#include "cpu/kernel.h"
#include "cpu/product/small_matmul.h"
#include "cpu/threads/cpu_quota.h"
#include "ir/graph.h"
#include "ir/windows.h"

namespace alloy::cpu {
namespace {

using ir::Attr;
using ir::Attributes;
using ir::Dims;
using ir::DType;
using ir::Graph;
using ir::OpCode;
using ir::Shape;
using ir::Type;
using ir::Value;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

// ---- tensors ----

template <class F>
auto with_native(DType dtype, const F& f) {
  switch (dtype) {
    case DType::float32: return f(float{});
    case DType::int32: return f(int32_t{});
    case DType::int64: return f(int64_t{});
    default: return f(uint8_t{});
  }
}

// Row-major elements in memory of exactly their size, so that a sanitizer sees every step outside.
struct Tensor {
  Type type;
  std::vector<std::byte> bytes;

  explicit Tensor(Type t) : type(std::move(t)), bytes(type.byte_count()) {}
  Tensor(Shape shape, std::vector<double> values, DType dtype = DType::float32)
      : Tensor(Type{dtype, std::move(shape)}) {
    EXPECT_EQ(static_cast<int64_t>(values.size()), size());
    for (int64_t i = 0; i < size(); ++i) set(i, values[static_cast<size_t>(i)]);
  }

  int64_t size() const { return type.shape.element_count(); }
  double at(int64_t i) const {
    return with_native(type.dtype, [&](auto v) {
      std::memcpy(&v, bytes.data() + static_cast<size_t>(i) * sizeof v, sizeof v);
      return static_cast<double>(v);
    });
  }
  void set(int64_t i, double value) {
    with_native(type.dtype, [&](auto v) {
      v = static_cast<decltype(v)>(value);
      std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof v, &v, sizeof v);
    });
  }
};

class Random {
 public:
  double uniform(double low, double high) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (static_cast<double>(state_ >> 11) / 9007199254740992.0);
  }

  Tensor tensor(Shape shape, DType dtype = DType::float32, double low = -2, double high = 2) {
    Tensor t(Type{dtype, std::move(shape)});
    if (dtype == DType::boolean) low = 0, high = 2;
    else if (dtype != DType::float32) low *= 5, high *= 5;
    for (int64_t i = 0; i < t.size(); ++i) {
      const double v = uniform(low, high);
      t.set(i, dtype == DType::float32 ? v : std::floor(v));
    }
    return t;
  }

 private:
  uint64_t state_ = 42;
};

Dims strides_of(const Shape& shape) {
  Dims strides(static_cast<size_t>(shape.rank()));
  int64_t stride = 1;
  for (int64_t i = shape.rank() - 1; i >= 0; stride *= shape[i--]) strides[static_cast<size_t>(i)] = stride;
  return strides;
}

// Calls f with the index along each axis of every element, in row-major order.
void for_each_index(const Shape& shape, const std::function<void(const Dims&)>& f) {
  Dims index(static_cast<size_t>(shape.rank()), 0);
  for (int64_t n = 0; n < shape.element_count(); ++n) {
    f(index);
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < shape.dims()[i]) break;
      index[i] = 0;
    }
  }
}

int64_t position(const Shape& shape, const Dims& index) {
  const Dims strides = strides_of(shape);
  return std::inner_product(index.begin(), index.end(), strides.begin(), int64_t{0});
}

// Where a tensor of that shape is read at an index of the shape that it broadcasts to.
int64_t broadcast_position(const Shape& shape, const Dims& index) {
  Dims own(index.end() - shape.rank(), index.end());
  for (size_t i = 0; i < own.size(); ++i) own[i] = shape.dims()[i] == 1 ? 0 : own[i];
  return position(shape, own);
}

// ---- running ----

// Memory with a margin of known bytes behind it.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes), memory_(bytes + 128) {
    std::memset(memory_.data(), 0xAB, memory_.size());
  }
  // Aligned to 64 where asked for, else to 4 only.
  std::byte* data(bool aligned) {
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    return memory_.data() + (aligned ? (64 - address % 64) % 64 : 0);
  }
  void expect_intact(bool aligned) {
    for (std::byte* p = data(aligned) + bytes_; p < memory_.data() + memory_.size(); ++p) {
      ASSERT_EQ(*p, std::byte{0xAB});
    }
  }

 private:
  size_t bytes_;
  std::vector<std::byte> memory_;
};

void run_kernel(const Kernel& kernel, const std::vector<const std::byte*>& operands,
                const std::vector<std::byte*>& results) {
  Guarded scratch(kernel.scratch_bytes());
  kernel.run(operands.data(), results.data(), scratch.data(true));
  scratch.expect_intact(true);
}

// Runs the kernel with weights in its own layout, where it has one.
void run_laid_out(Kernel& kernel, std::vector<const std::byte*> operands, const std::vector<std::byte*>& results) {
  const auto own = kernel.prepacked();
  Guarded layout(own->bytes);
  kernel.take_prepacked();
  kernel.prepack(operands[own->operand], layout.data(true));
  layout.expect_intact(true);
  operands[own->operand] = layout.data(true);
  run_kernel(kernel, operands, results);
}

// Builds the op, runs its kernel, and once more in place wherever the kernel allows, and with weights laid out. Null
// operands stand for `shape_only` ones.
std::vector<Tensor> run_all(OpCode code, const std::vector<Tensor>& inputs, Attributes attributes = {},
                            int shape_only = -1) {
  Graph graph;
  std::vector<Value> operands;
  for (const Tensor& t : inputs) {
    operands.push_back(
        graph.value(OpCode::placeholder, {}, {{Attr::kShape, t.type.shape}, {Attr::kDtype, t.type.dtype}}));
  }
  const ir::Op* op = graph.add(code, operands, std::move(attributes));
  const std::unique_ptr<Kernel> kernel = make_kernel(*op);

  std::vector<const std::byte*> sources;
  for (const Tensor& t : inputs) {
    sources.push_back(static_cast<int>(sources.size()) == shape_only ? nullptr : t.bytes.data());
  }
  std::vector<Tensor> results;
  std::vector<Guarded> memory;
  std::vector<std::byte*> targets;
  for (const Type& type : op->results) {
    results.emplace_back(type);
    memory.emplace_back(type.byte_count());
  }
  for (Guarded& m : memory) targets.push_back(m.data(false));
  run_kernel(*kernel, sources, targets);
  for (size_t i = 0; i < results.size(); ++i) {
    memory[i].expect_intact(false);
    if (!results[i].bytes.empty()) std::memcpy(results[i].bytes.data(), targets[i], results[i].bytes.size());
  }

  for (size_t o = 0; o < inputs.size(); ++o) {
    for (size_t r = 0; r < results.size(); ++r) {
      if (!kernel->in_place(o, r) || inputs[o].bytes.size() != results[r].bytes.size()) continue;
      std::vector<std::byte> shared = inputs[o].bytes;
      std::vector<const std::byte*> from = sources;
      std::vector<std::byte*> to = targets;
      from[o] = shared.data();
      to[r] = shared.data();
      run_kernel(*kernel, from, to);
      EXPECT_EQ(shared, results[r].bytes) << "in place, operand " << o << ", result " << r;
    }
  }
  if (kernel->prepacked()) {
    std::vector<std::byte> again(results[0].bytes.size());
    run_laid_out(*kernel, sources, {again.data()});
    EXPECT_EQ(again, results[0].bytes) << "with weights in the kernel's own layout";
  }
  return results;
}

Tensor run(OpCode code, const std::vector<Tensor>& inputs, Attributes attributes = {}, int shape_only = -1) {
  return run_all(code, inputs, std::move(attributes), shape_only)[0];
}

// Float results within `ulps` of the reference rounded to float, plus `absolute`; others equal.
void expect_close(const Tensor& actual, const std::function<double(int64_t)>& expected, double ulps = 4,
                  double absolute = 0) {
  for (int64_t i = 0; i < actual.size(); ++i) {
    const double a = actual.at(i), e = expected(i);
    const double rounded = actual.type.dtype == DType::float32 ? static_cast<double>(static_cast<float>(e)) : e;
    if (a == rounded || (std::isnan(a) && std::isnan(e))) continue;
    const double ulp = std::max(std::abs(rounded) * std::numeric_limits<float>::epsilon(), 1.5e-45);
    const double tolerance = actual.type.dtype == DType::float32 ? ulps * ulp + absolute : 0;
    ASSERT_LE(std::abs(a - e), tolerance)
        << "element " << i << " of " << to_string(actual.type) << ": " << a << ", expected " << e;
  }
}

void expect_equal(const Tensor& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), static_cast<int64_t>(expected.size()));
  expect_close(actual, [&](int64_t i) { return expected[static_cast<size_t>(i)]; }, 0);
}

constexpr DType kDtypes[] = {DType::float32, DType::int32, DType::int64, DType::boolean};

// ---- references of the table ops ----

double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

double reference(OpCode code, DType dtype, double a, double b, double c) {
  const bool integer = dtype != DType::float32;
  switch (code) {
    case OpCode::identity: return a;
    case OpCode::exp: return std::exp(a);
    case OpCode::log: return std::log(a);
    case OpCode::square: return a * a;
    case OpCode::sqrt: return std::sqrt(a);
    case OpCode::rsqrt: return 1 / std::sqrt(a);
    case OpCode::reciprocal: return 1 / a;
    case OpCode::abs: return std::abs(a);
    case OpCode::negative: return -a;
    case OpCode::sign: return a > 0 ? 1 : a < 0 ? -1 : 0;
    case OpCode::tanh: return std::tanh(a);
    case OpCode::relu: return a <= 0 ? 0 : a;
    case OpCode::sigmoid: return sigmoid(a);
    case OpCode::relu_gradient: return b <= 0 ? 0 : a;
    case OpCode::sigmoid_gradient: return a * sigmoid(b) * sigmoid(-b);
    case OpCode::add: return a + b;
    case OpCode::subtract: return a - b;
    case OpCode::multiply: return a * b;
    case OpCode::divide: return integer ? (b == 0 ? 0 : std::trunc(a / b)) : a / b;
    case OpCode::divide_no_nan: return b == 0 ? 0 : a / b;
    case OpCode::power: return integer ? std::trunc(a == 0 && b < 0 ? 0 : std::pow(a, b)) : std::pow(a, b);
    case OpCode::minimum: return std::fmin(a, b);
    case OpCode::maximum: return std::fmax(a, b);
    case OpCode::equal: return a == b;
    case OpCode::not_equal: return a != b;
    case OpCode::less: return a < b;
    case OpCode::less_equal: return a <= b;
    case OpCode::greater: return a > b;
    case OpCode::greater_equal: return a >= b;
    case OpCode::is_nan: return std::isnan(a);
    case OpCode::is_infinite: return std::isinf(a);
    case OpCode::is_finite: return std::isfinite(a);
    case OpCode::logical_not: return a == 0;
    case OpCode::logical_and: return a * b;
    case OpCode::logical_or: return a + b > 0;
    case OpCode::logical_xor: return a != b;
    case OpCode::select: return a != 0 ? b : c;
    case OpCode::clamp: return std::fmin(std::fmax(a, b), c);
    default: ADD_FAILURE() << "No reference for " << ir::info(code).name; return 0;
  }
}

bool is_elementwise(const ir::OpInfo& row) {
  return row.family != ir::Family::kReduction && row.family != ir::Family::kMoment &&
         row.family != ir::Family::kArgReduction && row.family != ir::Family::kStructured;
}

Tensor sample(Random& random, const ir::OpInfo& row, DType dtype, const Shape& shape) {
  if (row.domain == ir::Domain::positive) return random.tensor(shape, dtype, 0.3, 2);
  if (row.domain == ir::Domain::small || dtype != DType::float32) return random.tensor(shape, dtype);
  return random.tensor(shape, dtype, -8, 8);
}

void expect_elementwise(const ir::OpInfo& row, const std::vector<Tensor>& in, int shape_only = -1) {
  SCOPED_TRACE(std::string(row.name) + " of " + to_string(in.back().type));
  const Tensor out = run(row.code, in, {}, shape_only);
  const Shape& shape = out.type.shape;
  std::vector<double> expected;
  for_each_index(shape, [&](const Dims& index) {
    double v[3] = {};
    for (size_t k = 0; k < in.size(); ++k) v[k] = in[k].at(broadcast_position(in[k].type.shape, index));
    expected.push_back(reference(row.code, in.back().type.dtype, v[0], v[1], v[2]));
  });
  // Three roundings and two functions within 4 ulp each.
  const double ulps = row.code == OpCode::sigmoid_gradient ? 10 : 4;
  expect_close(out, [&](int64_t i) { return expected[static_cast<size_t>(i)]; }, ulps, 0);
}

class Simd : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(GetParam());
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  Random random_;
};

INSTANTIATE_TEST_SUITE_P(Targets, Simd, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& info) { return std::string(hwy::TargetName(info.param)); });

// Where matrix products go by tiles of the processor, that is one target more.
class Products : public Simd {};

std::vector<int64_t> targets_of_products() {
  std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  if (amx_packed_loops() != nullptr) targets.push_back(0);  // all there is
  return targets;
}

INSTANTIATE_TEST_SUITE_P(Targets, Products, testing::ValuesIn(targets_of_products()), [](const auto& info) {
  return info.param == 0 ? "Tiles" : std::string(hwy::TargetName(info.param));
});

// ---- elementwise ----

TEST_P(Simd, EveryElementwiseOpOnEveryType) {
  for (const ir::OpInfo& row : ir::op_table()) {
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
  const std::pair<Shape, Shape> cases[] = {{{5, 7}, {5, 7}},
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
                                           {{64, 1, 1, 8}, {8}}};
  for (const auto& [a, b] : cases) {
    for (OpCode code : {OpCode::subtract, OpCode::less}) {
      for (DType dtype : {DType::float32, DType::int64}) {
        const Tensor x = random_.tensor(a, dtype), y = random_.tensor(b, dtype);
        expect_elementwise(ir::info(code), {x, y});
        expect_elementwise(ir::info(code), {y, x});
      }
    }
  }
}

TEST_P(Simd, SelectTakesAPredicateOfAnyTypeAndBroadcastsAllThree) {
  for (DType predicate : kDtypes) {
    for (DType dtype : kDtypes) {
      Tensor p = random_.tensor(Shape({6, 1, 31}), predicate);
      for (int64_t i = 0; i < p.size(); i += 3) p.set(i, 0);
      expect_elementwise(ir::info(OpCode::select),
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
    double (*truth)(double);
    float low, high;
  } cases[] = {{OpCode::exp, std::exp, -110, 95},        {OpCode::log, std::log, 0, 4},
               {OpCode::log, std::log, 0, 3e38f},        {OpCode::tanh, std::tanh, -10, 10},
               {OpCode::tanh, std::tanh, -0.01f, 0.01f}, {OpCode::sigmoid, sigmoid, -110, 30},
               {OpCode::sqrt, std::sqrt, 0, 1e10f}};
  for (const auto& c : cases) {
    SCOPED_TRACE(ir::info(c.code).name);
    Tensor x(Type{DType::float32, Shape({20000})});
    for (int64_t i = 0; i < x.size(); ++i) x.set(i, c.low + (c.high - c.low) * static_cast<double>(i) / 19999.0);
    expect_close(run(c.code, {x}), [&](int64_t i) { return c.truth(x.at(i)); }, 4);
  }
  Tensor tiny(Type{DType::float32, Shape({40})});
  for (int64_t i = 0; i < 40; ++i) tiny.set(i, std::ldexp(1.37, -110 - static_cast<int>(i)));
  expect_close(run(OpCode::log, {tiny}), [&](int64_t i) { return std::log(tiny.at(i)); }, 4);
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
      const Tensor t = random_.tensor(Shape({133}), from);
      expect_close(to(t, dtype), [&](int64_t i) {
        return dtype == DType::boolean ? t.at(i) != 0 : dtype == DType::float32 ? t.at(i) : std::trunc(t.at(i));
      });
    }
  }
}

TEST_P(Simd, AChainIsOneKernel) {
  for (int64_t n : {1, 3, 10, 700, 2000}) {
    Graph graph;
    auto input = [&](Shape shape) {
      return graph.value(OpCode::placeholder, {}, {{Attr::kShape, shape}, {Attr::kDtype, DType::float32}});
    };
    const Value x = input({90, n}), row = input({n}), column = input({90, 1});
    const Value shifted = graph.value(OpCode::subtract, {x, column});
    const Value scaled = graph.value(OpCode::multiply, {shifted, row});
    const Value rectified = graph.value(OpCode::relu, {scaled});
    const Value positive = graph.value(OpCode::greater, {shifted, rectified});
    const Value result = graph.value(OpCode::select, {positive, x, rectified});
    const ir::Op* ops[] = {shifted.op, scaled.op, rectified.op, positive.op, result.op};
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

// ---- reductions ----

double reduce_reference(OpCode code, DType dtype, const std::vector<double>& v) {
  auto fold = [&](double init, auto f) { return std::accumulate(v.begin(), v.end(), init, f); };
  const double count = static_cast<double>(v.size());
  const double mean = fold(0, std::plus<>()) / count;
  switch (code) {
    case OpCode::sum: return fold(0, std::plus<>());
    case OpCode::product: return fold(1, std::multiplies<>());
    case OpCode::max: return fold(-kInfinity, [](double a, double b) { return std::fmax(a, b); });
    case OpCode::min: return fold(kInfinity, [](double a, double b) { return std::fmin(a, b); });
    case OpCode::mean: return dtype == DType::float32 ? mean : std::trunc(mean);
    case OpCode::variance:
      if (dtype != DType::float32) {  // exact: the squares are small integers
        const double squares = fold(0, [](double t, double x) { return t + x * x; }), sum = fold(0, std::plus<>());
        return std::trunc((count * squares - sum * sum) / (count * count));
      }
      return fold(0, [&](double t, double x) { return t + (x - mean) * (x - mean); }) / count;
    default: ADD_FAILURE() << "No reference for " << ir::info(code).name; return 0;
  }
}

// The elements that go into each result.
std::vector<std::vector<double>> groups_of(const Tensor& x, const Shape& result,
                                           const std::function<Dims(const Dims&)>& to_result) {
  std::vector<std::vector<double>> groups(static_cast<size_t>(result.element_count()));
  int64_t n = 0;
  for_each_index(x.type.shape, [&](const Dims& index) {
    groups[static_cast<size_t>(position(result, to_result(index)))].push_back(x.at(n++));
  });
  return groups;
}

void expect_reduction(OpCode code, const Tensor& x, const Dims& axes) {
  SCOPED_TRACE(std::string(ir::info(code).name) + " of " + to_string(x.type) + " over " + to_string(Shape(axes)));
  const Tensor y = run(code, {x}, {{Attr::kAxes, axes}});
  const auto groups = groups_of(x, y.type.shape, [&](Dims index) {
    for (size_t i = 0; i < index.size(); ++i) index[i] = y.type.shape.dims()[i] == 1 ? 0 : index[i];
    return index;
  });
  // Sums cancel; their error is measured by what is summed, at most 2 an element.
  const double count = static_cast<double>(x.size()) / static_cast<double>(std::max<int64_t>(y.size(), 1));
  const double absolute = code == OpCode::sum ? 1e-7 * count : code == OpCode::mean ? 1e-7 : 0;
  expect_close(
      y, [&](int64_t i) { return reduce_reference(code, x.type.dtype, groups[static_cast<size_t>(i)]); },
      code == OpCode::product ? 64 : 8, absolute);
}

TEST_P(Simd, ReductionsOverAllSetsOfAxes) {
  for (const ir::OpInfo& row : ir::op_table()) {
    if (row.family != ir::Family::kReduction && row.family != ir::Family::kMoment) continue;
    for (DType dtype : {DType::float32, DType::int32, DType::int64}) {
      if (!accepts(row.types, dtype)) continue;
      for (const Shape& shape :
           {Shape({3, 4, 5, 7}), Shape({2, 1, 37, 3}), Shape({1, 1, 1, 1}), Shape({2, 17, 1, 70})}) {
        // Products of few or small factors, so that integers do not overflow.
        const Tensor x = row.code == OpCode::product
                             ? random_.tensor(shape, dtype, dtype == DType::float32 ? 0.9 : -0.2,
                                              dtype == DType::float32 ? 1.1 : 0.4)
                             : random_.tensor(shape, dtype);
        for (int set = 0; set < 16; ++set) {
          Dims axes;
          for (int axis = 0; axis < 4; ++axis) {
            if (set >> axis & 1) axes.push_back(axis % 2 ? axis - 4 : axis);
          }
          expect_reduction(row.code, x, axes);
        }
      }
    }
  }
}

TEST_P(Simd, LargeReductionsTakePartsAndBlocks) {
  for (const Shape& shape : {Shape({300, 1000}), Shape({1000, 600}), Shape({9, 70, 11, 20})}) {
    const Tensor x = random_.tensor(shape);
    for (const Dims& axes : {Dims{0}, Dims{1}, Dims{0, 1}}) {
      expect_reduction(OpCode::sum, x, axes);
      expect_reduction(OpCode::max, x, axes);
      expect_reduction(OpCode::variance, x, axes);
    }
  }
}

TEST(Reductions, FloatSumsStayAccurate) {
  Tensor x(Type{DType::float32, Shape({1 << 21})});
  double truth = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    x.set(i, 0.1 + 1e-3 * static_cast<double>(i % 7));
    truth += x.at(i);
  }
  EXPECT_NEAR(run(OpCode::sum, {x}, {{Attr::kAxes, Dims{0}}}).at(0) / truth, 1, 2e-7);
  x.type.shape = Shape({1 << 20, 2});
  const Tensor columns = run(OpCode::sum, {x}, {{Attr::kAxes, Dims{0}}});
  EXPECT_NEAR((columns.at(0) + columns.at(1)) / truth, 1, 2e-7);
  // A mean far from 0 does not spoil the variance.
  Tensor far(Type{DType::float32, Shape({4096})});
  for (int64_t i = 0; i < far.size(); ++i) far.set(i, 10000 + static_cast<double>(i % 2));
  EXPECT_NEAR(run(OpCode::variance, {far}, {{Attr::kAxes, Dims{0}}}).at(0), 0.25, 1e-6);
}

// Numbers near `mean`, whose variance in float64 is that of the numbers as they are.
TEST_P(Simd, VarianceOfLargeMeans) {
  for (const Shape& shape : {Shape({1000, 3}), Shape({257, 40}), Shape({40, 2048}), Shape({5, 5000}),
                             Shape({64, 9, 33}), Shape({40000, 2})}) {
    for (double mean : {0.0, 1.0, -3e3, 1e6}) {
      Tensor x(Type{DType::float32, shape});
      for (int64_t i = 0; i < x.size(); ++i) x.set(i, mean + random_.uniform(-2, 2));
      for (const Dims& axes : {Dims{0}, Dims{1}, Dims{0, 1}}) {
        SCOPED_TRACE(to_string(shape) + " over " + to_string(Shape(axes)) + " around " + std::to_string(mean));
        const Tensor y = run(OpCode::variance, {x}, {{Attr::kAxes, axes}});
        const auto groups = groups_of(x, y.type.shape, [&](Dims index) {
          for (size_t i = 0; i < index.size(); ++i) index[i] = y.type.shape.dims()[i] == 1 ? 0 : index[i];
          return index;
        });
        for (int64_t i = 0; i < y.size(); ++i) {
          const double truth = reduce_reference(OpCode::variance, DType::float32, groups[static_cast<size_t>(i)]);
          ASSERT_NEAR(y.at(i), truth, 3e-7 * truth);
        }
      }
    }
  }
}

TEST_P(Simd, VarianceOfEqualNumbersIsZero) {
  for (double number : {16777.216, 0.1, -1e6 / 3, 3e15, 1e-15}) {
    for (const Shape& shape :
         {Shape({1000, 3}), Shape({3, 1000}), Shape({70003, 2}), Shape({2, 70003}), Shape({300, 600})}) {
      const Tensor x(shape, std::vector<double>(static_cast<size_t>(shape.element_count()), number));
      for (const Dims& axes : {Dims{0}, Dims{1}, Dims{0, 1}}) {
        const Tensor y = run(OpCode::variance, {x}, {{Attr::kAxes, axes}});
        for (int64_t i = 0; i < y.size(); ++i) {
          ASSERT_EQ(y.at(i), 0) << number << " in " << to_string(shape) << " over " << to_string(Shape(axes));
        }
      }
    }
  }
}

TEST_P(Simd, VarianceOfWhatIsNoNumber) {
  for (double odd : {kNaN, kInfinity, -kInfinity}) {
    Tensor x = random_.tensor({50, 40});
    x.set(25 * 40 + 7, odd);
    const Tensor rows = run(OpCode::variance, {x}, {{Attr::kAxes, Dims{1}}}),
                 columns = run(OpCode::variance, {x}, {{Attr::kAxes, Dims{0}}});
    for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(std::isnan(rows.at(i)), i == 25) << odd;
    for (int64_t i = 0; i < 40; ++i) EXPECT_EQ(std::isnan(columns.at(i)), i == 7) << odd;
  }
}

TEST(Reductions, SameBitsForAnyNumberOfThreads) {
  Random random;
  const Tensor x = random.tensor({400, 1000});
  for (const Dims& axes : {Dims{0}, Dims{1}, Dims{0, 1}}) {
    set_kernel_threads(1);
    const Tensor one = run(OpCode::sum, {x}, {{Attr::kAxes, axes}});
    set_kernel_threads(3);
    const Tensor three = run(OpCode::sum, {x}, {{Attr::kAxes, axes}});
    set_kernel_threads(2);
    EXPECT_EQ(one.bytes, three.bytes);
  }
}

TEST(Reductions, OfNothing) {
  const Tensor x(Type{DType::float32, Shape({0, 3})});
  const Attributes axis0{{Attr::kAxes, Dims{0}}};
  expect_equal(run(OpCode::sum, {x}, axis0), {0, 0, 0});
  expect_equal(run(OpCode::product, {x}, axis0), {1, 1, 1});
  expect_equal(run(OpCode::max, {x}, axis0), {-kInfinity, -kInfinity, -kInfinity});
  expect_equal(run(OpCode::mean, {x}, axis0), {kNaN, kNaN, kNaN});
  expect_equal(run(OpCode::variance, {x}, axis0), {kNaN, kNaN, kNaN});
  EXPECT_EQ(run(OpCode::sum, {x}, {{Attr::kAxes, Dims{1}}}).size(), 0);
  expect_equal(run(OpCode::min, {Tensor(Type{DType::int32, Shape({2, 0})})}, {{Attr::kAxes, Dims{1}}}),
               {2147483647, 2147483647});
}

TEST_P(Simd, ExtremesSkipNaN) {
  Tensor x({2, 20}, std::vector<double>(40, kNaN));
  x.set(13, -5);
  x.set(17, 3);
  expect_equal(run(OpCode::max, {x}, {{Attr::kAxes, Dims{1}}}), {3, -kInfinity});
  expect_equal(run(OpCode::min, {x}, {{Attr::kAxes, Dims{1}}}), {-5, kInfinity});
  expect_equal(run(OpCode::argmax, {x}, {{Attr::kAxis, int64_t{1}}}), {17, -1});
  expect_equal(run(OpCode::argmin, {x}, {{Attr::kAxis, int64_t{-1}}}), {13, -1});
  expect_equal(run(OpCode::argmax, {Tensor({3, 2}, {kNaN, kNaN, -kInfinity, kNaN, -kInfinity, kNaN})},
                   {{Attr::kAxis, int64_t{0}}}),
               {1, -1});
  expect_equal(run(OpCode::argmax, {Tensor({3}, {kNaN, -kInfinity, -kInfinity})}, {{Attr::kAxis, int64_t{0}}}), {1});
  const Tensor sum = run(OpCode::sum, {x}, {{Attr::kAxes, Dims{1}}});
  expect_equal(sum, {kNaN, kNaN});
}

TEST_P(Simd, ArgReductionsGiveTheFirst) {
  for (DType dtype : {DType::float32, DType::int32, DType::int64}) {
    for (const Shape& shape : {Shape({5, 37, 3}), Shape({70, 3, 1}), Shape({2, 5, 600})}) {
      Tensor x = random_.tensor(shape, dtype);
      for (int64_t i = 0; i < x.size(); ++i) x.set(i, std::round(x.at(i)));
      for (int64_t axis : {0, 1, 2}) {
        for (OpCode code : {OpCode::argmax, OpCode::argmin}) {
          const Tensor y = run(code, {x}, {{Attr::kAxis, axis}});
          const auto groups = groups_of(x, y.type.shape, [&](Dims index) {
            index[static_cast<size_t>(axis)] = 0;
            return index;
          });
          expect_close(y, [&](int64_t i) {
            const auto& g = groups[static_cast<size_t>(i)];
            return static_cast<double>(
                (code == OpCode::argmax ? std::max_element(g.begin(), g.end()) : std::min_element(g.begin(), g.end())) -
                g.begin());
          });
        }
      }
    }
  }
}

TEST_P(Simd, ReduceLikeIsTheAdjointOfBroadcasting) {
  for (const auto& [from, to] : {std::pair<Shape, Shape>{{4, 5, 6}, {6}},
                                 {{4, 5, 6}, {5, 1}},
                                 {{4, 5, 6}, {4, 1, 6}},
                                 {{4, 5, 6}, {}},
                                 {{4, 5, 6}, {4, 5, 6}},
                                 {{0, 3}, {3}},
                                 {{2, 3}, {1, 1}}}) {
    const Tensor x = random_.tensor(from);
    const Tensor y = run(OpCode::reduce_like, {x, Tensor(Type{DType::float32, to})}, {}, 1);
    std::vector<double> expected(static_cast<size_t>(to.element_count()), 0);
    int64_t n = 0;
    for_each_index(
        from, [&](const Dims& index) { expected[static_cast<size_t>(broadcast_position(to, index))] += x.at(n++); });
    expect_close(y, [&](int64_t i) { return expected[static_cast<size_t>(i)]; }, 4, 1e-5);
  }
}

// ---- softmax ----

struct SoftmaxReference {
  std::vector<double> softmax, log_softmax, losses;

  SoftmaxReference(const Tensor& x, const Tensor& labels, int64_t axis) {
    const Shape& s = x.type.shape;
    const int64_t extent = s[axis];
    int64_t inner = 1;
    for (int64_t i = axis + 1; i < s.rank(); ++i) inner *= s[i];
    softmax.resize(static_cast<size_t>(x.size()));
    log_softmax = softmax;
    for (int64_t i = 0; i < x.size() / extent; ++i) {
      const int64_t start = i / inner * extent * inner + i % inner;
      double greatest = -kInfinity, sum = 0, loss = 0;
      for (int64_t k = 0; k < extent; ++k) greatest = std::max(greatest, x.at(start + k * inner));
      for (int64_t k = 0; k < extent; ++k) sum += std::exp(x.at(start + k * inner) - greatest);
      for (int64_t k = 0; k < extent; ++k) {
        const int64_t at = start + k * inner;
        log_softmax[static_cast<size_t>(at)] = x.at(at) - greatest - std::log(sum);
        softmax[static_cast<size_t>(at)] = std::exp(log_softmax[static_cast<size_t>(at)]);
        loss -= labels.at(at) * log_softmax[static_cast<size_t>(at)];
      }
      losses.push_back(loss);
    }
  }
};

TEST_P(Simd, SoftmaxFamily) {
  for (const Shape& shape : {Shape({64, 10}), Shape({3, 1, 37}), Shape({4, 5, 300}), Shape({2, 3000}), Shape({1, 1}),
                             Shape({129, 16}), Shape({70, 3}), Shape({5, 13, 17}), Shape({65, 1})}) {
    const Tensor x = random_.tensor(shape, DType::float32, -30, 30),
                 labels = random_.tensor(shape, DType::float32, 0, 1);
    for (int64_t axis = 0; axis < shape.rank(); ++axis) {
      SCOPED_TRACE(to_string(shape) + " axis " + std::to_string(axis));
      const SoftmaxReference truth(x, labels, axis);
      expect_close(
          run(OpCode::softmax, {x}, {{Attr::kAxis, axis}}),
          [&](int64_t i) { return truth.softmax[static_cast<size_t>(i)]; }, 16, 1e-7);
      expect_close(
          run(OpCode::log_softmax, {x}, {{Attr::kAxis, axis - shape.rank()}}),
          [&](int64_t i) { return truth.log_softmax[static_cast<size_t>(i)]; }, 4, 4e-6);
      auto loss = [&](const char* reduction) {
        return run(OpCode::softmax_cross_entropy, {x, labels},
                   {{Attr::kAxis, axis}, {Attr::kReduction, std::string(reduction)}});
      };
      const double sum = std::accumulate(truth.losses.begin(), truth.losses.end(), 0.0);
      expect_close(loss("none"), [&](int64_t i) { return truth.losses[static_cast<size_t>(i)]; }, 32, 1e-5);
      expect_close(loss("sum"), [&](int64_t) { return sum; }, 32);
      expect_close(loss("mean"), [&](int64_t) { return sum / static_cast<double>(truth.losses.size()); }, 32);
    }
  }
}

TEST_P(Simd, SoftmaxDoesNotOverflow) {
  // Short rows one by one and many at once, and a long one.
  for (const auto& [rows, n] : {std::pair<int64_t, int64_t>{1, 4}, {40, 4}, {1, 40}}) {
    Tensor x({DType::float32, Shape({rows, n})}), labels(x.type);
    for (int64_t i = 0; i < x.size(); ++i) {
      x.set(i, i % n < 2 ? 1000 : i % 2 == 0 ? -1000 : -kInfinity);
      labels.set(i, i % n == 0);
    }
    const Tensor y = run(OpCode::softmax, {x}, {{Attr::kAxis, int64_t{1}}});
    for (int64_t i = 0; i < y.size(); ++i) ASSERT_EQ(y.at(i), i % n < 2 ? 0.5 : 0);
    expect_close(run(OpCode::softmax_cross_entropy, {x, labels},
                     {{Attr::kAxis, int64_t{1}}, {Attr::kReduction, std::string("mean")}}),
                 [](int64_t) { return std::log(2.0); });
  }
}

// The loss of a right answer is what the other classes add to the sum, however little that is.
TEST_P(Simd, LogSumsNearZeroAreExact) {
  for (const Shape& shape : {Shape({100, 3}), Shape({4, 16}), Shape({3, 40}), Shape({2, 3000}), Shape({60, 7, 5})}) {
    for (double margin : {0.1, 3.0, 16.0, 30.0, 80.0}) {
      SCOPED_TRACE(to_string(shape) + " margin " + std::to_string(margin));
      Tensor x = random_.tensor(shape), labels(x.type);
      const int64_t axis = 1, extent = shape[1], inner = shape.rank() == 3 ? shape[2] : 1;
      for (int64_t i = 0; i < x.size(); ++i) {
        const bool greatest = i / inner % extent == extent / 2;
        x.set(i, greatest ? 5 : 3 - margin + x.at(i));
        labels.set(i, greatest);
      }
      const Tensor loss = run(OpCode::softmax_cross_entropy, {x, labels},
                              {{Attr::kAxis, axis}, {Attr::kReduction, std::string("none")}});
      for (int64_t i = 0; i < loss.size(); ++i) {
        double rest = 0;
        for (int64_t k = 0; k < extent; ++k) {
          if (k != extent / 2) rest += std::exp(x.at((i / inner * extent + k) * inner + i % inner) - 5);
        }
        ASSERT_NEAR(loss.at(i), std::log1p(rest), 2e-6 * std::log1p(rest));
      }
    }
  }
}

// ---- shape ----

TEST(ShapeKernels, Transpose) {
  Random random;
  const std::pair<Shape, Dims> cases[] = {{{3, 5}, {1, 0}},
                                          {{70, 130}, {1, 0}},
                                          {{2, 3, 4, 5}, {0, 2, 3, 1}},
                                          {{2, 3, 4, 5}, {3, 0, 2, 1}},
                                          {{2, 37, 41}, {0, 2, 1}},
                                          {{1, 4, 1}, {2, 1, 0}},
                                          {{5, 0, 2}, {1, 2, 0}},
                                          {{2, 3, 4}, {0, 1, 2}},
                                          {{6, 5, 4, 3}, {2, 3, 0, 1}},
                                          {{}, {}}};
  for (DType dtype : kDtypes) {
    for (const auto& [shape, permutation] : cases) {
      const Tensor x = random.tensor(shape, dtype);
      const Tensor y = run(OpCode::transpose, {x}, {{Attr::kPermutation, permutation}});
      int64_t n = 0;
      for_each_index(y.type.shape, [&, &permutation = permutation](const Dims& index) {
        Dims source(index.size());
        for (size_t i = 0; i < index.size(); ++i) source[static_cast<size_t>(permutation[i])] = index[i];
        ASSERT_EQ(y.at(n++), x.at(position(x.type.shape, source))) << to_string(x.type);
      });
    }
  }
}

TEST(ShapeKernels, Broadcast) {
  Random random;
  for (const auto& [from, to] : {std::pair<Shape, Shape>{{3}, {2, 3}},
                                 {{2, 1, 3}, {2, 4, 3}},
                                 {{}, {5, 2}},
                                 {{7, 1}, {7, 5000}},
                                 {{1, 6}, {0, 6}},
                                 {{2, 3}, {2, 3}}}) {
    const Tensor x = random.tensor(from, DType::int64);
    const Tensor y = run(OpCode::broadcast_to, {x}, {{Attr::kShape, to}});
    int64_t n = 0;
    for_each_index(
        to, [&, &from = from](const Dims& index) { ASSERT_EQ(y.at(n++), x.at(broadcast_position(from, index))); });
  }
}

TEST(ShapeKernels, SliceAndItsGradient) {
  Random random;
  const Shape shape({5, 6, 7});
  const struct {
    Dims starts, ends, strides;
  } cases[] = {{{0, 0, 0}, {5, 6, 7}, {1, 1, 1}},
               {{1, 2, 3}, {4, 5, 7}, {1, 2, 3}},
               {{-1, -1, -1}, {ir::kSliceToBegin, ir::kSliceToBegin, ir::kSliceToBegin}, {-1, -2, -3}},
               {{0, 5, 2}, {ir::kSliceToEnd, 1, 4}, {2, -2, 1}},
               {{3, 0, 0}, {3, 6, 7}, {1, 1, 1}}};
  for (const auto& c : cases) {
    const Attributes attributes{{Attr::kStarts, c.starts}, {Attr::kEnds, c.ends}, {Attr::kStrides, c.strides}};
    const Tensor x = random.tensor(shape);
    const Tensor y = run(OpCode::slice, {x}, attributes);
    const Tensor back = run(OpCode::slice_gradient, {y, x}, attributes, 1);
    std::vector<double> expected(static_cast<size_t>(x.size()), 0);
    int64_t n = 0;
    for_each_index(y.type.shape, [&](const Dims& index) {
      Dims source(3);
      for (size_t i = 0; i < 3; ++i) {
        source[i] = (c.starts[i] < 0 ? c.starts[i] + shape.dims()[i] : c.starts[i]) + index[i] * c.strides[i];
      }
      const int64_t at = position(shape, source);
      expected[static_cast<size_t>(at)] = x.at(at);
      ASSERT_EQ(y.at(n++), x.at(at));
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
      dims[static_cast<size_t>((axis + 3) % 3)] = extent;
      parts.push_back(random.tensor(Shape(dims), DType::int32));
    }
    const Tensor y = run(OpCode::concat, parts, {{Attr::kAxis, axis}});
    int64_t n = 0;
    for_each_index(y.type.shape, [&](Dims index) {
      int64_t& at = index[static_cast<size_t>((axis + 3) % 3)];
      size_t part = 0;
      while (at >= parts[part].type.shape[(axis + 3) % 3]) at -= parts[part++].type.shape[(axis + 3) % 3];
      ASSERT_EQ(y.at(n++), parts[part].at(position(parts[part].type.shape, index)));
    });
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

// ---- matrix product ----

TEST(MatMul, AgainstLoops) {
  Random random;
  const std::pair<Shape, Shape> cases[] = {{{5, 7}, {7, 3}},
                                           {{1, 9}, {9, 1}},
                                           {{64, 100}, {100, 10}},
                                           {{32, 64}, {64, 32}},
                                           {{13, 6}, {6, 33}},
                                           {{7, 40}, {40, 71}},
                                           {{100, 90}, {90, 110}},
                                           {{4, 5, 7}, {7, 3}},
                                           {{4, 5, 7}, {4, 7, 3}},
                                           {{1, 5, 7}, {4, 7, 3}},
                                           {{2, 1, 5, 7}, {3, 7, 2}},
                                           {{5, 7}, {2, 3, 7, 4}},
                                           {{2, 3, 5, 7}, {2, 3, 7, 4}},
                                           {{2, 3, 5, 7}, {1, 1, 7, 4}},
                                           {{0, 7}, {7, 3}},
                                           {{5, 0}, {0, 3}},
                                           {{0, 5, 7}, {7, 3}},
                                           {{5, 1}, {1, 6}},
                                           {{1, 1}, {1, 1}},
                                           {{3, 1, 2, 4}, {1, 5, 4, 2}}};
  for (const auto& [a_shape, b_shape] : cases) {
    for (int flags = 0; flags < 4; ++flags) {
      const bool ta = flags & 1, tb = flags & 2;
      auto swapped = [](const Shape& s, bool swap) {
        Dims dims = s.dims();
        if (swap) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
        return Shape(dims);
      };
      const Tensor a = random.tensor(swapped(a_shape, ta)), b = random.tensor(swapped(b_shape, tb));
      SCOPED_TRACE(to_string(a.type) + " by " + to_string(b.type));
      const Tensor y = run(OpCode::matmul, {a, b}, {{Attr::kTransposeA, ta}, {Attr::kTransposeB, tb}});
      const int64_t inner = a_shape[a_shape.rank() - 1];
      std::vector<double> expected;
      for_each_index(y.type.shape, [&](const Dims& index) {
        auto element = [&](const Tensor& t, int64_t row, int64_t column, bool transposed) {
          Dims at = index;
          at[at.size() - 2] = transposed ? column : row;
          at[at.size() - 1] = transposed ? row : column;
          return t.at(broadcast_position(t.type.shape, at));
        };
        double sum = 0;
        for (int64_t k = 0; k < inner; ++k) {
          sum += element(a, index[index.size() - 2], k, ta) * element(b, k, index[index.size() - 1], tb);
        }
        expected.push_back(sum);
      });
      expect_close(y, [&](int64_t i) { return expected[static_cast<size_t>(i)]; }, 8, 1e-5);
    }
  }
}

// One running sum of 2^18 tenths would be off by 2 in a thousand.
TEST(MatMul, LongRowsAreAsExactAsShortOnes) {
  for (const int64_t columns : Dims{1, 2, 16}) {
    for (const int64_t inner : Dims{1000, 1 << 14, kMostSmallProducts / columns, 1 << 18}) {
      const Tensor a(Shape({1, inner}), std::vector<double>(static_cast<size_t>(inner), 0.1)),
          b(Shape({inner, columns}), std::vector<double>(static_cast<size_t>(inner * columns), 1));
      const double expected = static_cast<double>(0.1f) * static_cast<double>(inner);
      const Tensor y = run(OpCode::matmul, {a, b}, {{Attr::kTransposeA, false}, {Attr::kTransposeB, false}});
      expect_close(y, [&](int64_t) { return expected; }, 0, 5e-5 * expected);
    }
  }
}

// Few rows by matrices of every layout, with ends that fill no vector and sums in several parts.
TEST_P(Simd, ThinProductsAreSumsOfProducts) {
  for (int64_t rows = 1; rows <= 9; ++rows) {
    for (const Dims& right : {Dims{784, 512}, Dims{1030, 37}, Dims{9, 5000}, Dims{1 << 15, 1}, Dims{1, 1 << 15}}) {
      for (int transposed = 0; transposed < 4; ++transposed) {
        SCOPED_TRACE(std::to_string(rows) + " rows by " + to_string(Shape(right)) + ", transposed " +
                     std::to_string(transposed));
        const bool a_transposed = transposed % 2 == 1, b_transposed = transposed >= 2;
        const int64_t inner = right[0], columns = right[1];
        const Tensor a = random_.tensor(a_transposed ? Shape({inner, rows}) : Shape({rows, inner})),
                     b = random_.tensor(b_transposed ? Shape({columns, inner}) : Shape({inner, columns}));
        const Tensor y =
            run(OpCode::matmul, {a, b}, {{Attr::kTransposeA, a_transposed}, {Attr::kTransposeB, b_transposed}});
        auto expected = [&](int64_t i) {
          const int64_t m = i / columns, n = i % columns;
          double sum = 0;
          for (int64_t k = 0; k < inner; ++k) {
            sum += a.at(a_transposed ? k * rows + m : m * inner + k) *
                   b.at(b_transposed ? n * inner + k : k * columns + n);
          }
          return sum;
        };
        expect_close(y, expected, 4, 1e-6 * std::sqrt(static_cast<double>(inner)) * 16);
      }
    }
  }
}

struct Product {
  int64_t rows, inner, columns;
  bool a_transposed, b_transposed;

  Tensor of(const Tensor& a, const Tensor& b) const {
    return run(OpCode::matmul, {a, b}, {{Attr::kTransposeA, a_transposed}, {Attr::kTransposeB, b_transposed}});
  }
  Shape left() const { return a_transposed ? Shape({inner, rows}) : Shape({rows, inner}); }
  Shape right() const { return b_transposed ? Shape({columns, inner}) : Shape({inner, columns}); }
  int64_t in_left(int64_t m, int64_t k) const { return a_transposed ? k * rows + m : m * inner + k; }
  int64_t in_right(int64_t k, int64_t n) const { return b_transposed ? n * inner + k : k * columns + n; }
};

// Extents that fill no tile, vector or block, sums and matrices that are cut into parts, and every layout.
TEST_P(Products, AreAsExactAsSumsInFloat32) {
  const Dims extents[] = {{65, 64, 70},  {97, 131, 203},   {300, 520, 79}, {64, 1100, 97},
                          {600, 70, 90}, {150, 513, 1100}, {33, 200, 1500}};
  for (const Dims& e : extents) {
    for (int layout = 0; layout < 4; ++layout) {
      const Product p{e[0], e[1], e[2], layout % 2 == 1, layout >= 2};
      SCOPED_TRACE(to_string(Shape(e)) + ", layout " + std::to_string(layout));
      const Tensor a = random_.tensor(p.left()), b = random_.tensor(p.right()), y = p.of(a, b);
      double squares = 0, plain_squares = 0, largest = 0;
      for (int64_t m = 0; m < p.rows; ++m) {
        for (int64_t n = m % 7; n < p.columns; n += 7) {
          double exact = 0, scale = 0;
          float plain = 0;
          for (int64_t k = 0; k < p.inner; ++k) {
            const double product = a.at(p.in_left(m, k)) * b.at(p.in_right(k, n));
            exact += product;
            scale += product * product;
            plain += static_cast<float>(product);
          }
          const double error = (y.at(m * p.columns + n) - exact) / std::sqrt(scale),
                       plain_error = (plain - exact) / std::sqrt(scale);
          squares += error * error;
          plain_squares += plain_error * plain_error;
          largest = std::max(largest, std::abs(error));
        }
      }
      EXPECT_LE(squares, plain_squares);
      EXPECT_LE(largest, 4e-6);
    }
  }
}

// However many threads divide the work.
TEST_P(Products, OfAnyNumberOfThreads) {
  const int before = kernel_threads();
  for (const int threads : {1, 3, 4, 6, 7, 16}) {
    set_kernel_threads(threads);
    for (const Dims& e : {Dims{257, 70, 300}, Dims{600, 65, 161}, Dims{144, 300, 1300}}) {
      const Product p{e[0], e[1], e[2], false, true};
      SCOPED_TRACE(to_string(Shape(e)) + " on " + std::to_string(threads));
      const Tensor a = random_.tensor(p.left()), b = random_.tensor(p.right()), y = p.of(a, b);
      for (int64_t i = 0; i < y.size(); i += 13) {
        double sum = 0;
        for (int64_t k = 0; k < p.inner; ++k) {
          sum += a.at(p.in_left(i / p.columns, k)) * b.at(p.in_right(k, i % p.columns));
        }
        ASSERT_NEAR(y.at(i), sum, 2e-4) << i;
      }
    }
  }
  set_kernel_threads(before);
}

// Lines of any size, whose products are neither too large nor too small: errors are relative to each element.
TEST_P(Products, KeepTheRangeOfFloat32) {
  for (int layout = 0; layout < 4; ++layout) {
    const Product p{70, 96, 80, layout % 2 == 1, layout >= 2};
    Tensor a = random_.tensor(p.left()), b = random_.tensor(p.right());
    for (int64_t k = 0; k < p.inner; ++k) {
      for (int64_t m = 0; m < p.rows; ++m) {
        a.set(p.in_left(m, k), std::ldexp(a.at(p.in_left(m, k)), static_cast<int>(m * 3) - 100));
      }
      for (int64_t n = 0; n < p.columns; ++n) {
        b.set(p.in_right(k, n), std::ldexp(b.at(p.in_right(k, n)), 10 - static_cast<int>(n)));
      }
    }
    const Tensor y = p.of(a, b);
    for (int64_t m = 0; m < p.rows; ++m) {
      for (int64_t n = 0; n < p.columns; ++n) {
        double exact = 0, scale = 0;
        for (int64_t k = 0; k < p.inner; ++k) {
          const double product = a.at(p.in_left(m, k)) * b.at(p.in_right(k, n));
          exact += product;
          scale += product * product;
        }
        const double tolerance = 2e-6 * std::sqrt(scale) + 1e-36;  // denormals may be taken for zero
        EXPECT_NEAR(y.at(m * p.columns + n), exact, tolerance) << m << ' ' << n;
      }
    }
  }
}

// What is not finite, or so large that a part of it would not be, is nobody else's: other elements stay as they are.
TEST_P(Products, OfInfinitiesAndNaNs) {
  const double large = std::numeric_limits<float>::max(), values[] = {kInfinity, -kInfinity, kNaN, large, -large};
  for (int layout = 0; layout < 4; ++layout) {
    const Product p{70, 96, 80, layout % 2 == 1, layout >= 2};
    Tensor a = random_.tensor(p.left()), b = random_.tensor(p.right(), DType::float32, -0.01, 0.01);
    for (int64_t i = 0; i < 5; ++i) a.set(p.in_left(13 * i, 7 * i), values[i]);
    b.set(p.in_right(50, 40), kInfinity);
    const Tensor y = p.of(a, b);
    expect_close(
        y,
        [&](int64_t i) {
          double sum = 0;
          for (int64_t k = 0; k < p.inner; ++k) {
            sum += a.at(p.in_left(i / p.columns, k)) * b.at(p.in_right(k, i % p.columns));
          }
          return sum;
        },
        32, 1e-6);
  }
}

TEST(MatMul, SmallOnesAreFewMultiplications) {
  EXPECT_NE(make_small_matmul(8, 8, 8, false, false), nullptr);
  EXPECT_EQ(make_small_matmul(1 << 22, 1 << 21, 1 << 21, false, false), nullptr) << "2^64 of them";
}

// ---- threads ----

// How many the process has.
int64_t thread_total() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

// What waits for nobody needs no other thread, on whichever thread of the program it runs.
TEST(Threads, OneIsTheCallers) {
  const int before = kernel_threads();
  set_kernel_threads(1);
  std::thread([] {
    const int64_t threads = thread_total();
    const FlushDenormals mode;
    Team::start();
    set_waiting(Waiting::kSleep);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_LE(thread_total(), threads);
    set_waiting(Waiting::kSpin);
  }).join();
  set_kernel_threads(before);
}

#ifndef __SANITIZE_ADDRESS__  // which needs memory of its own for a thread
// A process that may start no thread goes on without.
TEST(Threads, WaitingSurvivesWithoutThreads) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // with no stacks left over from threads that ended
  auto wait_without_threads = [] {
    set_kernel_threads(2);
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = 1;
    setrlimit(RLIMIT_AS, &limit);
    set_waiting(Waiting::kSleep);
    set_waiting(Waiting::kSpin);
    _exit(0);
  };
  EXPECT_EXIT(wait_without_threads(), testing::ExitedWithCode(0), "");
}
#endif

TEST(Threads, ThoseThatSleepDoNotHoldUpTheEndOfTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto end = [](int milliseconds) {
    set_kernel_threads(2);
    set_waiting(Waiting::kSleep);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    std::exit(0);
  };
  // While they start, and while they sleep.
  for (int milliseconds : {0, 1, 50}) EXPECT_EXIT(end(milliseconds), testing::ExitedWithCode(0), "");
}

// ---- denormals ----

// Results and operands, on every thread of a loop; and the caller's own mode afterwards, whichever it was.
TEST(Denormals, AreZeroWhileFlushed) {
  const volatile float least = std::numeric_limits<float>::min(), half = 0.5f;
  auto flushes = [&] { return least * half == 0; };
  ASSERT_FALSE(flushes());
  const std::vector<double> small(1 << 18, 2e-38), smaller(1 << 18, 2e-40);
  const Tensor x(Shape({1 << 18}), small), y(Shape({1 << 18}), smaller), tenth({1}, {0.1}), big({1}, {1e20});
  auto products = [&] { return std::pair(run(OpCode::multiply, {x, tenth}), run(OpCode::multiply, {y, big})); };
  for (int turn = 0; turn < 2; ++turn) {
    {
      const FlushDenormals mode;
      Team::start();
      EXPECT_TRUE(flushes());
      const auto [result, operand] = products();
      for (int64_t i = 0; i < result.size(); ++i) ASSERT_EQ(result.at(i), 0) << i;
      for (int64_t i = 0; i < operand.size(); ++i) ASSERT_EQ(operand.at(i), 0) << i;
      {
        const FlushDenormals inner;
        EXPECT_TRUE(flushes());
      }
      EXPECT_TRUE(flushes()) << "the caller's mode was to flush";
    }
    EXPECT_FALSE(flushes());
  }
}

// A control group's files, and what /proc/self/cgroup would say, in a directory of their own.
class Groups {
 public:
  Groups() { std::filesystem::create_directories(root_); }
  ~Groups() { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  double quota(const std::string& lines) const {
    write("groups", lines);
    return cpu_quota(root_ / "groups", root_ / "mounted");
  }

 private:
  std::filesystem::path root_ = std::filesystem::temp_directory_path() / ("alloy_groups_" + std::to_string(getpid()));
};

TEST(CpuQuota, IsTheLeastOfTheGroups) {
  const Groups groups;
  EXPECT_EQ(cpu_quota("/nowhere", "/nowhere"), INFINITY);
  EXPECT_EQ(groups.quota("0::/\n"), INFINITY);
  groups.write("mounted/cpu.max", "max 100000\n");
  EXPECT_EQ(groups.quota("0::/\n"), INFINITY);
  groups.write("mounted/a/cpu.max", "250000 100000\n");
  groups.write("mounted/a/b/cpu.max", "400000 100000\n");
  EXPECT_EQ(groups.quota("0::/a/b\n"), 2.5);
  EXPECT_EQ(groups.quota("0::/a\n"), 2.5);
  EXPECT_EQ(groups.quota("0::/a/b/of/the/host\n"), 2.5);
}

TEST(CpuQuota, OfVersionOne) {
  const Groups groups;
  groups.write("mounted/cpu/cpu.cfs_quota_us", "-1\n");
  groups.write("mounted/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(groups.quota("4:cpuacct,cpu:/\n3:memory:/\n"), INFINITY);
  groups.write("mounted/cpu/docker/cpu.cfs_quota_us", "150000\n");
  groups.write("mounted/cpu/docker/cpu.cfs_period_us", "50000\n");
  EXPECT_EQ(groups.quota("9:name=systemd:/docker\n4:cpuacct,cpu:/docker\n"), 3);
  EXPECT_EQ(groups.quota("4:cpuset:/docker\n"), INFINITY);
}

TEST(Waiting, ChangesWhileKernelsRun) {
  Random random;
  const Tensor x = random.tensor(Shape({512, 600}));
  double expected = 0;
  for (int64_t i = 0; i < x.size(); ++i) expected += x.at(i);
  for (int turn = 0; turn < 20; ++turn) {
    set_waiting(turn % 3 == 0 ? Waiting::kSleep : Waiting::kSpin);
    expect_close(run(OpCode::sum, {x}, {{Attr::kAxes, Dims{0, 1}}}), [&](int64_t) { return expected; }, 8, 1e-4);
  }
  set_waiting(Waiting::kSpin);
}

// ---- convolution ----

struct Convolution {
  Shape source, weights;  // in NHWC and HWIO order
  Dims strides{1, 1}, dilations{1, 1}, padding{0, 0, 0, 0};
  std::string style = "explicit";
  int64_t groups = 1;
};

// From NHWC to NCHW, or from HWIO to OIHW.
Shape channels_first(const Shape& s, bool weights) {
  return weights ? Shape({s[3], s[2], s[0], s[1]}) : Shape({s[0], s[3], s[1], s[2]});
}

void expect_convolution(const Convolution& c, const std::string& data, const std::string& kernel, Random& random,
                        double absolute = 1e-4) {
  SCOPED_TRACE(to_string(c.source) + " * " + to_string(c.weights) + " " + data + " " + kernel + " groups " +
               std::to_string(c.groups) + " " + c.style);
  const Attributes attributes{{Attr::kStrides, c.strides},   {Attr::kDilations, c.dilations},
                              {Attr::kPadding, c.padding},   {Attr::kPaddingStyle, c.style},
                              {Attr::kGroups, c.groups},     {Attr::kDataLayout, data},
                              {Attr::kWeightsLayout, kernel}};
  const Tensor x = random.tensor(data == "NHWC" ? c.source : channels_first(c.source, false));
  const Tensor w = random.tensor(kernel == "HWIO" ? c.weights : channels_first(c.weights, true));
  const Tensor y = run(OpCode::conv2d, {x, w}, attributes);
  const Tensor g = random.tensor(y.type.shape);

  const ir::LayoutAxes xa = ir::LayoutAxes::of_data(data);
  const ir::WeightsAxes wa = ir::WeightsAxes::of_weights(kernel);
  const Dims xs = strides_of(x.type.shape), ws = strides_of(w.type.shape), ys = strides_of(y.type.shape);
  auto data_at = [&](const Dims& s, int64_t n, int64_t h, int64_t v, int64_t ch) {
    return n * s[static_cast<size_t>(xa.batch)] + h * s[static_cast<size_t>(xa.height)] +
           v * s[static_cast<size_t>(xa.width)] + ch * s[static_cast<size_t>(xa.channels)];
  };
  // The padding is worked out here from TensorFlow's definition, not by the code under test.
  auto padding = [&](int axis, int64_t in, int64_t size) {
    const int64_t stride = c.strides[static_cast<size_t>(axis)],
                  extent = (size - 1) * c.dilations[static_cast<size_t>(axis)] + 1;
    const int64_t total = std::max<int64_t>(((in + stride - 1) / stride - 1) * stride + extent - in, 0);
    return c.style == "explicit" ? c.padding[static_cast<size_t>(2 * axis)]
           : c.style == "valid"  ? 0
           : c.style == "same"   ? total / 2
                                 : total - total / 2;
  };
  const int64_t in_h = c.source[1], in_w = c.source[2], in_c = c.source[3] / c.groups, out_c = c.weights[3] / c.groups;
  const int64_t top = padding(0, in_h, c.weights[0]), left = padding(1, in_w, c.weights[1]);
  const int64_t out_h = y.type.shape[xa.height], out_w = y.type.shape[xa.width];
  // Every element's sum, and that of the sizes of its terms, which bounds what rounding may do.
  struct Sums {
    explicit Sums(const Tensor& of) : value(static_cast<size_t>(of.size()), 0), size(value) {}
    void add(int64_t i, double term) {
      value[static_cast<size_t>(i)] += term;
      size[static_cast<size_t>(i)] += std::abs(term);
    }
    std::vector<double> value, size;
  } ey(y), ex(x), ew(w);
  const auto floats = [](const Tensor& t) { return reinterpret_cast<const float*>(t.bytes.data()); };
  const float *const xf = floats(x), *const wf = floats(w), *const gf = floats(g);
  const int64_t x_step = xs[static_cast<size_t>(xa.channels)], y_step = ys[static_cast<size_t>(xa.channels)];
  const int64_t in_step = ws[static_cast<size_t>(wa.in)], out_step = ws[static_cast<size_t>(wa.out)];
  for_each_index(Shape({c.source[0], out_h, out_w, c.weights[0], c.weights[1], c.groups}), [&](const Dims& o) {
    const int64_t h = o[1] * c.strides[0] - top + o[3] * c.dilations[0],
                  v = o[2] * c.strides[1] - left + o[4] * c.dilations[1];
    if (h < 0 || h >= in_h || v < 0 || v >= in_w) return;
    const int64_t first_x = data_at(xs, o[0], h, v, o[5] * in_c), first_y = data_at(ys, o[0], o[1], o[2], o[5] * out_c);
    const int64_t first_w =
        o[3] * ws[static_cast<size_t>(wa.height)] + o[4] * ws[static_cast<size_t>(wa.width)] + o[5] * out_c * out_step;
    for (int64_t i = 0; i < in_c; ++i) {
      for (int64_t k = 0; k < out_c; ++k) {
        const int64_t at = first_x + i * x_step, out = first_y + k * y_step,
                      weight = first_w + i * in_step + k * out_step;
        ey.add(out, static_cast<double>(xf[at]) * wf[weight]);
        ex.add(at, static_cast<double>(gf[out]) * wf[weight]);
        ew.add(weight, static_cast<double>(gf[out]) * xf[at]);
      }
    }
  });
  auto expect_sums = [&](const Tensor& actual, const Sums& expected) {
    for (int64_t i = 0; i < actual.size(); ++i) {
      const auto at = static_cast<size_t>(i);
      const double ulp = std::abs(expected.value[at]) * std::numeric_limits<float>::epsilon();
      ASSERT_NEAR(actual.at(i), expected.value[at], std::min(5e-7 * expected.size[at], 8 * ulp + absolute))
          << "element " << i << " of " << to_string(actual.type);
    }
  };
  expect_sums(y, ey);
  expect_sums(run(OpCode::conv2d_data_gradient, {g, w, x}, attributes, 2), ex);
  expect_sums(run(OpCode::conv2d_weights_gradient, {g, x, w}, attributes, 2), ew);
}

TEST(Convolution, AgainstLoops) {
  Random random;
  const Convolution cases[] = {
      {.source = {2, 7, 9, 3}, .weights = {3, 3, 3, 5}},
      {.source = {2, 8, 8, 16}, .weights = {3, 3, 16, 32}, .style = "same"},
      {.source = {1, 7, 10, 4}, .weights = {3, 2, 4, 6}, .strides = {2, 3}, .style = "same"},
      {.source = {1, 7, 10, 4}, .weights = {4, 3, 4, 6}, .strides = {2, 1}, .style = "same_lower"},
      {.source = {1, 7, 10, 4}, .weights = {2, 2, 4, 6}, .strides = {3, 2}, .style = "valid"},
      {.source = {2, 11, 12, 3}, .weights = {3, 3, 3, 8}, .dilations = {2, 3}, .padding = {1, 3, 2, 0}},
      {.source = {2, 6, 5, 8}, .weights = {3, 3, 4, 6}, .padding = {1, 1, 1, 1}, .groups = 2},
      {.source = {2, 6, 5, 7}, .weights = {3, 3, 1, 7}, .padding = {1, 1, 1, 1}, .groups = 7},
      {.source = {2, 6, 5, 4}, .weights = {3, 3, 1, 8}, .strides = {2, 2}, .style = "same", .groups = 4},
      {.source = {3, 5, 5, 1}, .weights = {5, 5, 1, 1}},
      {.source = {2, 4, 4, 17}, .weights = {1, 1, 17, 19}},
      {.source = {2, 5, 5, 2}, .weights = {1, 1, 2, 3}, .strides = {3, 3}},
      {.source = {1, 3, 3, 2}, .weights = {2, 2, 2, 3}, .padding = {3, 0, 0, 3}},
      // Fewer positions than taps, for many images: every window sees all of them, or not.
      {.source = {16, 3, 2, 4}, .weights = {5, 4, 4, 3}, .style = "same"},
      {.source = {16, 2, 1, 4}, .weights = {4, 3, 4, 5}, .strides = {2, 1}, .padding = {2, 0, 1, 1}},
      {.source = {16, 2, 2, 3}, .weights = {4, 3, 3, 2}, .strides = {1, 2}, .padding = {1, 2, 1, 1}},
      {.source = {16, 2, 2, 5}, .weights = {3, 3, 5, 7}, .style = "same"},
      {.source = {17, 1, 1, 6}, .weights = {3, 3, 6, 4}, .style = "same"},
      {.source = {16, 2, 3, 4}, .weights = {3, 3, 4, 5}, .strides = {2, 1}, .style = "same_lower"},
      {.source = {18, 3, 2, 3}, .weights = {4, 3, 3, 6}, .strides = {1, 2}, .padding = {2, 3, 1, 0}},
      {.source = {16, 2, 2, 3}, .weights = {3, 3, 3, 2}, .dilations = {2, 1}, .padding = {3, 2, 1, 1}},
      {.source = {16, 2, 2, 4}, .weights = {3, 3, 2, 6}, .style = "same", .groups = 2},
      // Many images with many channels: sums of products over the batch, of tiles where there are some.
      {.source = {32, 4, 3, 32}, .weights = {3, 3, 32, 40}, .style = "same"},
      {.source = {48, 3, 3, 64}, .weights = {3, 3, 64, 33}, .strides = {2, 2}, .style = "same"},
      {.source = {33, 2, 2, 32}, .weights = {3, 3, 32, 70}, .style = "same"},
      {.source = {64, 1, 1, 48}, .weights = {3, 3, 48, 32}, .style = "same"},
      {.source = {32, 5, 6, 32}, .weights = {3, 2, 32, 64}, .dilations = {2, 1}, .padding = {1, 2, 0, 1}},
      {.source = {40, 4, 4, 96}, .weights = {2, 2, 96, 32}, .strides = {3, 2}, .style = "valid"},
      {.source = {0, 5, 5, 2}, .weights = {3, 3, 2, 3}},
      {.source = {2, 5, 5, 0}, .weights = {3, 3, 0, 3}},
      {.source = {2, 5, 5, 2}, .weights = {3, 3, 2, 0}},
  };
  for (const Convolution& c : cases) {
    for (const char* data : {"NHWC", "NCHW"}) {
      for (const char* kernel : {"HWIO", "OIHW"}) expect_convolution(c, data, kernel, random);
    }
  }
}

// What does not fit into a cache goes through it in bands of the images, and a part of the channels at a time.
TEST(Convolution, OfLargeImagesAgainstLoops) {
  Random random;
  const Convolution cases[] = {
      {.source = {32, 40, 9, 32}, .weights = {3, 3, 32, 32}, .style = "same"},
      {.source = {40, 41, 12, 32}, .weights = {3, 3, 32, 40}, .strides = {2, 2}, .style = "same_lower"},
      {.source = {32, 33, 14, 32}, .weights = {3, 2, 32, 32}, .dilations = {3, 2}, .padding = {5, 4, 1, 0}},
      {.source = {70, 25, 24, 33}, .weights = {2, 3, 33, 20}, .strides = {1, 2}, .style = "valid"},
      {.source = {32, 12, 12, 160}, .weights = {3, 3, 160, 32}, .style = "same"},
      {.source = {32, 12, 11, 32}, .weights = {2, 3, 32, 160}, .style = "same"},
      {.source = {160, 14, 9, 40}, .weights = {3, 3, 40, 32}, .style = "same"},
  };
  const int before = kernel_threads();
  int threads = 0;
  for (const Convolution& c : cases) {
    set_kernel_threads(1 + threads++ % 3);
    expect_convolution(c, "NHWC", "HWIO", random,
                       5e-3);  // plain float32 sums of so many products are off by 5e-4 (root mean square)
  }
  set_kernel_threads(before);
}

const Attributes kSame{{Attr::kStrides, Dims{1, 1}},
                       {Attr::kDilations, Dims{1, 1}},
                       {Attr::kPadding, Dims{0, 0, 0, 0}},
                       {Attr::kPaddingStyle, std::string("same")},
                       {Attr::kGroups, int64_t{1}},
                       {Attr::kDataLayout, std::string("NHWC")},
                       {Attr::kWeightsLayout, std::string("HWIO")}};

// An infinity at one end of a row that is shorter than the kernel has taps: no window at the other end sees it.
TEST(Convolution, InfinitiesStayWhereTheyAre) {
  Tensor x(Shape({16, 1, 8, 1}), std::vector<double>(128, 1)), w(Shape({3, 3, 1, 1}), std::vector<double>(9, 1));
  for (int64_t n = 0; n < 16; ++n) x.set(n * 8, kInfinity);
  const auto expected = [](int64_t i) { return i % 8 < 2 ? kInfinity : i % 8 == 7 ? 2 : 3; };
  expect_close(run(OpCode::conv2d, {x, w}, kSame), expected);
  expect_close(run(OpCode::conv2d_data_gradient, {x, w, x}, kSame, 2), expected);
}

TEST(Convolution, OfManyImagesKeepsInfinitiesApart) {
  const int64_t images = 64, channels = 64;
  Tensor x(Shape({images, 3, 1, channels}), std::vector<double>(static_cast<size_t>(images * 3 * channels), 1)),
      w(Shape({3, 3, channels, channels}), std::vector<double>(static_cast<size_t>(9 * channels * channels), 1));
  x.set((7 * 3 + 0) * channels + 5, kInfinity);  // an image's first row
  const auto expected = [&](int64_t i) {
    const int64_t row = i / channels % 3;
    if (i / channels / 3 == 7 && row < 2) return kInfinity;
    return static_cast<double>(channels * (row == 1 ? 3 : 2));
  };
  expect_close(run(OpCode::conv2d, {x, w}, kSame), expected);
  expect_close(run(OpCode::conv2d_data_gradient, {x, w, x}, kSame, 2), expected);
  // The kernel's middle row meets all three rows, the others two each, of which the last one's do not begin with the
  // first.
  const Tensor ones(x.type.shape, std::vector<double>(static_cast<size_t>(x.size()), 1));
  expect_close(run(OpCode::conv2d_weights_gradient, {ones, x, w}, kSame, 2), [&](int64_t i) {
    const int64_t channel = i / channels % channels, column = i / (channels * channels) % 3,
                  row = i / (channels * channels) / 3;
    if (column != 1) return 0.0;
    return channel == 5 && row < 2 ? kInfinity : static_cast<double>(images * (row == 1 ? 3 : 2));
  });
}

// A small image with a wide border has a large result; nothing is larger than that.
TEST(Convolution, NeedsNoMoreMemoryThanItsOperands) {
  Graph graph;
  auto placeholder = [&](const Shape& shape) {
    return graph.value(OpCode::placeholder, {}, {{Attr::kShape, shape}, {Attr::kDtype, DType::float32}});
  };
  Attributes wide = kSame;
  wide.set(Attr::kPaddingStyle, std::string("explicit"));
  wide.set(Attr::kPadding, Dims{50, 50, 50, 50});
  const ir::Op* op = graph.add(OpCode::conv2d, {placeholder({16, 2, 2, 64}), placeholder({3, 3, 64, 8})}, wide);
  EXPECT_LE(make_kernel(*op)->scratch_bytes(), 2 * op->results[0].byte_count());
}

// ---- pooling ----

struct PoolCase {
  Shape source;  // NHWC
  Dims window, strides, dilations{1, 1}, padding{0, 0, 0, 0};
  bool ceil_mode = false, include_padding = false;
};

void expect_pooling(const PoolCase& c, bool channels_last, Tensor x, Random& random) {
  SCOPED_TRACE(to_string(x.type) + " window " + to_string(Shape(c.window)));
  const Attributes attributes{{Attr::kWindow, c.window},
                              {Attr::kStrides, c.strides},
                              {Attr::kDilations, c.dilations},
                              {Attr::kPadding, c.padding},
                              {Attr::kPaddingStyle, std::string("explicit")},
                              {Attr::kDataLayout, std::string(channels_last ? "NHWC" : "NCHW")},
                              {Attr::kCeilMode, c.ceil_mode},
                              {Attr::kIncludePadding, c.include_padding}};
  const Tensor greatest = run(OpCode::max_pool2d, {x}, attributes), mean = run(OpCode::avg_pool2d, {x}, attributes);
  const Tensor g = random.tensor(greatest.type.shape);
  const ir::LayoutAxes l = ir::LayoutAxes::of_data(channels_last ? "NHWC" : "NCHW");
  const int64_t height = c.source[1], width = c.source[2];
  std::vector<double> emax, emean, gmax(static_cast<size_t>(x.size()), 0), gmean(static_cast<size_t>(x.size()), 0);
  int64_t n = 0;
  for_each_index(greatest.type.shape, [&](const Dims& o) {
    std::vector<int64_t> inside;
    int64_t padded = 0;
    const int64_t y0 = o[static_cast<size_t>(l.height)] * c.strides[0] - c.padding[0],
                  x0 = o[static_cast<size_t>(l.width)] * c.strides[1] - c.padding[2];
    for_each_index(Shape(c.window), [&](const Dims& k) {
      const int64_t py = y0 + k[0] * c.dilations[0], px = x0 + k[1] * c.dilations[1];
      padded += py < height + c.padding[1] && px < width + c.padding[3];
      if (py < 0 || py >= height || px < 0 || px >= width) return;
      Dims at = o;
      at[static_cast<size_t>(l.height)] = py;
      at[static_cast<size_t>(l.width)] = px;
      inside.push_back(position(x.type.shape, at));
    });
    double best = -kInfinity, sum = 0;
    int64_t winner = inside.empty() ? -1 : inside[0];
    for (int64_t at : inside) {
      sum += x.at(at);
      if (x.at(at) > best) best = x.at(at), winner = at;
    }
    const double divisor =
        static_cast<double>(std::max<int64_t>(c.include_padding ? padded : static_cast<int64_t>(inside.size()), 1));
    emax.push_back(best);
    emean.push_back(sum / divisor);
    if (winner >= 0) gmax[static_cast<size_t>(winner)] += g.at(n);
    for (int64_t at : inside) gmean[static_cast<size_t>(at)] += g.at(n) / divisor;
    ++n;
  });
  expect_equal(greatest, emax);
  expect_close(mean, [&](int64_t i) { return emean[static_cast<size_t>(i)]; }, 4, 1e-6);
  expect_close(
      run(OpCode::max_pool2d_gradient, {g, x}, attributes), [&](int64_t i) { return gmax[static_cast<size_t>(i)]; }, 4,
      1e-6);
  expect_close(
      run(OpCode::avg_pool2d_gradient, {g, x}, attributes, 1), [&](int64_t i) { return gmean[static_cast<size_t>(i)]; },
      4, 1e-6);
}

TEST_P(Simd, PoolingAgainstLoops) {
  const PoolCase cases[] = {
      {.source = {2, 6, 8, 5}, .window = {2, 2}, .strides = {2, 2}},
      {.source = {2, 7, 8, 100}, .window = {3, 2}, .strides = {2, 1}, .padding = {1, 1, 0, 1}},
      {.source = {1, 7, 7, 16}, .window = {3, 3}, .strides = {1, 1}, .padding = {1, 1, 1, 1}, .include_padding = true},
      {.source = {2, 6, 7, 3}, .window = {3, 3}, .strides = {2, 2}, .ceil_mode = true},
      {.source = {2, 6, 7, 3},
       .window = {2, 2},
       .strides = {3, 3},
       .padding = {1, 1, 1, 1},
       .ceil_mode = true,
       .include_padding = true},
      {.source = {1, 9, 9, 17}, .window = {3, 2}, .strides = {2, 2}, .dilations = {2, 3}, .padding = {1, 0, 0, 2}},
      {.source = {1, 3, 3, 4}, .window = {1, 1}, .strides = {3, 3}, .ceil_mode = true},
      {.source = {0, 4, 4, 3}, .window = {2, 2}, .strides = {2, 2}},
      {.source = {2, 4, 4, 0}, .window = {2, 2}, .strides = {2, 2}},
  };
  for (const PoolCase& c : cases) {
    for (bool last : {true, false}) {
      Tensor x = random_.tensor(last ? c.source : channels_first(c.source, false));
      expect_pooling(c, last, x, random_);
      // Few values: many ties.
      for (int64_t i = 0; i < x.size(); ++i) x.set(i, std::round(x.at(i) / 2));
      expect_pooling(c, last, x, random_);
    }
  }
}

TEST_P(Simd, ANaNIsTheGreatestOfItsWindow) {
  const PoolCase c{.source = {1, 2, 4, 1}, .window = {2, 2}, .strides = {2, 2}};
  expect_pooling(c, true, Tensor({1, 2, 4, 1}, {-3, -4, -kInfinity, -kInfinity, -1, -2, -kInfinity, -kInfinity}),
                 random_);
  const Attributes attributes{{Attr::kWindow, c.window},
                              {Attr::kStrides, c.strides},
                              {Attr::kDilations, c.dilations},
                              {Attr::kPadding, c.padding},
                              {Attr::kPaddingStyle, std::string("explicit")},
                              {Attr::kDataLayout, std::string("NHWC")}};
  for (const auto& [values, of_them] :
       {std::pair<std::vector<double>, std::vector<double>>{{kNaN, -7, 2, kNaN}, {5, 0, 0, 0}},
        {{1, 7, kNaN, kInfinity}, {0, 0, 5, 0}},
        {{kNaN, kNaN, kNaN, kNaN}, {5, 0, 0, 0}}}) {
    // By vectors of channels, too.
    for (int64_t channels : {1, 37}) {
      Tensor x({DType::float32, Shape({1, 2, 2, channels})}), wide({DType::float32, Shape({1, 1, 1, channels})});
      for (int64_t i = 0; i < x.size(); ++i) x.set(i, values[static_cast<size_t>(i / channels)]);
      for (int64_t i = 0; i < channels; ++i) wide.set(i, 5);
      const Tensor y = run(OpCode::max_pool2d, {x}, attributes),
                   dx = run(OpCode::max_pool2d_gradient, {wide, x}, attributes);
      for (int64_t i = 0; i < channels; ++i) EXPECT_TRUE(std::isnan(y.at(i)));
      for (int64_t i = 0; i < x.size(); ++i) EXPECT_EQ(dx.at(i), of_them[static_cast<size_t>(i / channels)]);
    }
  }
}

// ---- optimizers ----

TEST_P(Simd, OptimizerSteps) {
  for (int64_t n : {0, 1, 37, 3000}) {
    const Tensor values = random_.tensor(Shape({n})), gradient = random_.tensor(Shape({n})),
                 m = random_.tensor(Shape({n}));
    const Tensor v = random_.tensor(Shape({n}), DType::float32, 0, 2),
                 largest = random_.tensor(Shape({n}), DType::float32, 0, 2);
    const Tensor rate({1}, {0.01}), beta1(Shape{}, {0.9}), beta2({1, 1}, {0.99}), epsilon({1}, {1e-3});
    expect_close(
        run(OpCode::sgd, {rate, values, gradient}),
        [&](int64_t i) { return values.at(i) - rate.at(0) * gradient.at(i); }, 4, 1e-8);

    auto new_m = [&](int64_t i) { return beta1.at(0) * m.at(i) + (1 - beta1.at(0)) * gradient.at(i); };
    auto new_v = [&](int64_t i) { return beta2.at(0) * v.at(i) + (1 - beta2.at(0)) * gradient.at(i) * gradient.at(i); };
    auto moved = [&](int64_t i, double second) {
      return values.at(i) - rate.at(0) * new_m(i) / (std::sqrt(second) + epsilon.at(0));
    };
    const auto three = run_all(OpCode::adam, {rate, beta1, beta2, epsilon, values, m, v, gradient});
    ASSERT_EQ(three.size(), 3u);
    expect_close(three[0], [&](int64_t i) { return moved(i, new_v(i)); }, 4, 1e-5);
    expect_close(three[1], new_m, 4, 1e-6);
    expect_close(three[2], new_v, 4, 1e-6);
    const auto four = run_all(OpCode::adam, {rate, beta1, beta2, epsilon, values, m, v, largest, gradient});
    ASSERT_EQ(four.size(), 4u);
    expect_close(four[0], [&](int64_t i) { return moved(i, std::max(largest.at(i), new_v(i))); }, 4, 1e-5);
    expect_close(four[3], [&](int64_t i) { return std::max(largest.at(i), new_v(i)); }, 4, 1e-6);
  }
}

// The change alone, of whatever size: rate m / (sqrt(v) + epsilon), with beta1 = beta2 = 1, where that is a float and
// where it is none.
TEST_P(Simd, AdamDividesByEveryRoot) {
  std::vector<double> second = {0, 1e-45, 1e-38, 1e-20, 1e-12, 3, 1e20, 3e38, kInfinity, kNaN}, first;
  while (second.size() < 500) second.push_back(static_cast<float>(std::exp(random_.uniform(-80, 80))));
  for (size_t i = 0; i < second.size(); ++i) first.push_back(static_cast<float>(random_.uniform(-2, 2)));
  const auto n = static_cast<int64_t>(second.size());
  const Tensor zeros({n}, std::vector<double>(second.size(), 0)), m({n}, first), v({n}, second), one({1}, {1});
  for (double e : {1e-8, 1e-3, 0.0, 1e38}) {
    const Tensor epsilon({1}, {e});
    const Tensor y = run(OpCode::adam, {one, one, one, epsilon, zeros, m, v, zeros});
    for (int64_t i = 0; i < n; ++i) {
      const double change = m.at(i) / (std::sqrt(v.at(i)) + epsilon.at(0));
      const double magnitude = std::abs(change);
      if (std::isnan(change)) {
        EXPECT_TRUE(std::isnan(y.at(i))) << i;
      } else if (magnitude > 3.4e38) {
        EXPECT_TRUE(std::isinf(y.at(i)) && (y.at(i) > 0) == (change < 0)) << i;
      } else if (magnitude < 1.2e-38) {  // may be taken for zero
        EXPECT_LE(std::abs(y.at(i)), 1.2e-38) << i;
      } else {
        EXPECT_NEAR(y.at(i), -change, 6e-7 * magnitude) << "v " << v.at(i) << " epsilon " << e;
      }
    }
  }
}

// ---- chains behind a sum of outer products ----

// relu(left^T right * column + row) and an SGD step by it, against sums in double.
TEST_P(Products, OfColumnsGoThroughTheirChain) {
  struct Case {
    int64_t rows, inner, columns;
  };
  for (const Case& c :
       {Case{1, 1, 1}, {14, 3, 32}, {15, 64, 33}, {47, 7, 129}, {1024, 2, 131}, {300, 33, 1030}, {70, 500, 47}}) {
    SCOPED_TRACE(std::to_string(c.rows) + " " + std::to_string(c.inner) + " " + std::to_string(c.columns));
    Graph graph;
    std::vector<Tensor> inputs;
    auto input = [&](const Tensor& t) {
      inputs.push_back(t);
      return graph.value(OpCode::placeholder, {}, {{Attr::kShape, t.type.shape}, {Attr::kDtype, t.type.dtype}});
    };
    const Tensor left = random_.tensor({c.inner, c.rows}), right = random_.tensor({c.inner, c.columns}),
                 row = random_.tensor({c.columns}), column = random_.tensor({c.rows, 1}),
                 values = random_.tensor({1, c.rows, c.columns}), rate({1}, {0.25});
    const std::vector<Value> operands = {input(left),   input(right),  input(row),
                                         input(column), input(values), input(rate)};
    graph.open_region();
    const Value product = graph.value(OpCode::matmul, {operands[0], operands[1]},
                                      {{Attr::kTransposeA, true}, {Attr::kTransposeB, false}});
    const Value shaped = graph.value(OpCode::reshape, {product}, {{Attr::kShape, values.type.shape}});
    const Value scaled = graph.value(OpCode::multiply, {shaped, operands[3]});
    const Value rectified = graph.value(OpCode::relu, {graph.value(OpCode::add, {scaled, operands[2]})});
    const Value stepped = graph.value(OpCode::sgd, {operands[5], operands[4], rectified});
    std::vector<std::unique_ptr<ir::Block>> regions;
    regions.push_back(graph.close_region({rectified, stepped}));
    const ir::Op* op = graph.add(OpCode::fused, operands, {}, std::move(regions));
    const std::unique_ptr<Kernel> kernel = make_kernel(*op);
    for (size_t i : {0, 1}) EXPECT_FALSE(kernel->in_place(i, 1)) << "the product is read to the end";
    ASSERT_TRUE(kernel->in_place(4, 1));

    Tensor gradient(op->results[0]), updated = values;
    std::vector<const std::byte*> from;
    for (const Tensor& t : inputs) from.push_back(t.bytes.data());
    from[4] = updated.bytes.data();
    run_kernel(*kernel, from, {gradient.bytes.data(), updated.bytes.data()});
    auto expected = [&](int64_t i) {
      double sum = 0;
      for (int64_t k = 0; k < c.inner; ++k) {
        sum += left.at(k * c.rows + i / c.columns) * right.at(k * c.columns + i % c.columns);
      }
      return std::max(sum * column.at(i / c.columns) + row.at(i % c.columns), 0.0);
    };
    expect_close(gradient, expected, 4, 1e-4);
    expect_close(updated, [&](int64_t i) { return values.at(i) - 0.25 * expected(i); }, 4, 1e-4);
  }
}

// ---- chains that a flag may hold back ----

const ir::Op* fused_op(Graph& graph, const std::vector<Value>& operands, const std::vector<Value>& results) {
  std::vector<std::unique_ptr<ir::Block>> regions;
  regions.push_back(graph.close_region(results));
  return graph.add(OpCode::fused, operands, {}, std::move(regions));
}

Value placeholder_like(Graph& graph, const Tensor& t) {
  return graph.value(OpCode::placeholder, {}, {{Attr::kShape, t.type.shape}, {Attr::kDtype, t.type.dtype}});
}

TEST_P(Products, OfColumnsAreHeldBackByAFlag) {
  for (const bool in_place : {true, false}) {
    Graph graph;
    const int64_t rows = 47, inner = 7, columns = 129;
    Tensor left = random_.tensor({inner, rows}), values = random_.tensor({rows, columns}),
           flag({}, {1}, DType::boolean);
    const Tensor right = random_.tensor({inner, columns}), rate({1}, {0.25});
    const std::vector<Value> operands = {placeholder_like(graph, left), placeholder_like(graph, right),
                                         placeholder_like(graph, flag), placeholder_like(graph, rate),
                                         placeholder_like(graph, values)};
    graph.open_region();
    const Value product = graph.value(OpCode::matmul, {operands[0], operands[1]},
                                      {{Attr::kTransposeA, true}, {Attr::kTransposeB, false}});
    const Value stepped = graph.value(OpCode::sgd, {operands[3], operands[4], product});
    const ir::Op* op = fused_op(graph, operands, {graph.value(OpCode::select, {operands[2], stepped, operands[4]})});
    const std::unique_ptr<Kernel> kernel = make_kernel(*op);
    ASSERT_TRUE(kernel->in_place(4, 0));
    Tensor updated = values;
    Tensor& target = in_place ? values : updated;
    const std::vector<const std::byte*> from = {left.bytes.data(), right.bytes.data(), flag.bytes.data(),
                                                rate.bytes.data(), values.bytes.data()};
    const Tensor before = values;
    run_kernel(*kernel, from, {target.bytes.data()});
    expect_close(
        target,
        [&](int64_t i) {
          double sum = 0;
          for (int64_t k = 0; k < inner; ++k) {
            sum += left.at(k * rows + i / columns) * right.at(k * columns + i % columns);
          }
          return before.at(i) - 0.25 * sum;
        },
        4, 1e-5);
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
  for (const Tensor* t : {&rate, &beta1, &beta2, &epsilon, &static_cast<const Tensor&>(old[0]),
                          &static_cast<const Tensor&>(old[1]), &static_cast<const Tensor&>(old[2]),
                          &static_cast<const Tensor&>(gradient), &static_cast<const Tensor&>(flag)}) {
    operands.push_back(placeholder_like(graph, *t));
    from.push_back(t->bytes.data());
  }
  graph.open_region();
  const ir::Op* adam = graph.add(OpCode::adam, {operands.begin(), operands.begin() + 8}, {});
  std::vector<Value> kept;
  for (uint32_t r = 0; r < 3; ++r) {
    kept.push_back(graph.value(OpCode::select, {operands[8], adam->result(r), operands[4 + r]}));
  }
  const std::unique_ptr<Kernel> kernel = make_kernel(*fused_op(graph, operands, kept));
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

// A result that others need as it is, or a flag for each element: the chain selects element by element.
TEST_P(Simd, SelectsThatAreNoGuardStaySelects) {
  for (const bool one_flag : {true, false}) {
    Graph graph;
    const Shape shape({9, 21});
    const Tensor flag = one_flag ? Tensor({}, {0}, DType::boolean) : random_.tensor(shape, DType::boolean),
                 a = random_.tensor(shape), b = random_.tensor(shape);
    const std::vector<Value> operands = {placeholder_like(graph, flag), placeholder_like(graph, a),
                                         placeholder_like(graph, b)};
    graph.open_region();
    const Value sum = graph.value(OpCode::add, {operands[1], operands[2]});
    const Value chosen = graph.value(OpCode::select, {operands[0], sum, operands[2]});
    const ir::Op* op = fused_op(graph, operands, {chosen, graph.value(OpCode::negative, {chosen})});
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
  const auto input = [&](const Tensor& t) {
    return graph.value(OpCode::placeholder, {}, {{Attr::kShape, t.type.shape}, {Attr::kDtype, t.type.dtype}});
  };
  const std::vector<Value> operands = {input(left), input(right)};
  graph.open_region();
  const Value product = graph.value(OpCode::matmul, operands, {{Attr::kTransposeA, true}, {Attr::kTransposeB, false}});
  std::vector<std::unique_ptr<ir::Block>> regions;
  const Value negated = graph.value(OpCode::negative, {product});
  regions.push_back(graph.close_region({negated}));
  const ir::Op* op = graph.add(OpCode::fused, operands, {}, std::move(regions));
  Tensor y(op->results[0]);
  run_kernel(*make_kernel(*op), {left.bytes.data(), right.bytes.data()}, {y.bytes.data()});
  expect_close(
      y,
      [&](int64_t i) {
        double sum = 0;
        for (int64_t k = 0; k < inner; ++k) {
          sum += left.at(k * rows + i / columns) * right.at(k * columns + i % columns);
        }
        return -sum;
      },
      4, 2e-5);
}

TEST(MakeKernel, RefusesTypesWithoutAKernel) {
  Graph graph;
  const Value x = graph.value(OpCode::placeholder, {}, {{Attr::kShape, Shape({2})}, {Attr::kDtype, DType::float16}});
  EXPECT_THROW(make_kernel(*graph.value(OpCode::exp, {x}).op), ir::Error);
  EXPECT_THROW(make_kernel(*graph.value(OpCode::sum, {x}, {{Attr::kAxes, Dims{0}}}).op), ir::Error);
}

}  // namespace
}  // namespace alloy::cpu
