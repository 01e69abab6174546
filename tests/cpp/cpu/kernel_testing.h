// Tools for the tests of kernels: tensors, running a kernel in every allowed way, comparing within rounding errors, and
// a suite for each instruction set.
#pragma once

#include <gtest/gtest.h>

// Decides which targets there are.
#include "cpu/simd/targets.h"

#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cpu/kernel.h"
#include "tensor.h"

namespace alloy::test {

using namespace cpu;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline const double kNaN = std::nan("");

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

inline Dims strides_of(const Shape& shape) {
  Dims strides(shape.rank());
  int64_t stride = 1;
  for (int64_t i = shape.rank() - 1; i >= 0; stride *= shape[i--]) strides[i] = stride;
  return strides;
}

// Reorders NHWC to NCHW.
inline Shape channels_first(const Shape& s) { return {s[0], s[3], s[1], s[2]}; }

// ---- running ----

// Memory with a margin of known bytes behind it.
class Guarded {
 public:
  explicit Guarded(size_t bytes) : bytes_(bytes), memory_(bytes + 128) {
    std::memset(memory_.data(), 0xAB, memory_.size());
  }
  // Aligned to 64 bytes if requested, else only to 4.
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

// Tells whether upper halves of vector registers are in use, which makes SSE instructions slow on Intel's processors.
// False where the processor does not say.
bool upper_halves_in_use();

inline void run_kernel(const Kernel& kernel, const std::vector<const std::byte*>& operands,
                       const std::vector<std::byte*>& results) {
  Guarded scratch(kernel.scratch_bytes());
  kernel.run(operands.data(), results.data(), scratch.data(true));
  EXPECT_FALSE(upper_halves_in_use());
  scratch.expect_intact(true);
}

// Runs the kernel on weights that it packed before.
inline void run_prepacked(Kernel& kernel, std::vector<const std::byte*> operands,
                          const std::vector<std::byte*>& results) {
  const size_t weights = *kernel.prepacked_operand(), bytes = kernel.take_prepacked();
  Guarded packed(bytes);
  if (bytes > 0) {
    kernel.prepack(operands[weights], packed.data(true));
    packed.expect_intact(true);
    operands[weights] = packed.data(true);
  }
  run_kernel(kernel, operands, results);
}

// Runs the kernel of the op, and once more in place wherever the kernel allows, and with packed weights. A null
// operand stands for a `shape_only` one.
inline std::vector<Tensor> run_all(const Op& op, const std::vector<Tensor>& inputs, int shape_only = -1) {
  const std::unique_ptr<Kernel> kernel = make_kernel(op);

  std::vector<const std::byte*> sources;
  for (const Tensor& t : inputs) {
    sources.push_back(static_cast<int>(sources.size()) == shape_only ? nullptr : t.bytes.data());
  }
  std::vector<Tensor> results;
  std::vector<Guarded> memory;
  std::vector<std::byte*> targets;
  for (const Type& type : op.results) {
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
  if (kernel->prepacked_operand()) {
    std::vector<std::byte> again(results[0].bytes.size());
    std::vector<std::byte*> to = targets;
    to[0] = again.data();
    run_prepacked(*kernel, sources, to);
    EXPECT_EQ(again, results[0].bytes) << "with packed weights";
  }
  return results;
}

// The results of the op by the reference.
inline std::vector<Array> meaning(const Op& op, const std::vector<Tensor>& inputs) {
  std::vector<std::pair<Value, Array>> feeds;
  for (size_t i = 0; i < inputs.size(); ++i) feeds.emplace_back(op.operands[i], inputs[i].array());
  std::vector<Value> results;
  for (uint32_t i = 0; i < op.results.size(); ++i) results.push_back(op.result(i));
  return Interpreter().run(feeds, results, {});
}

// A graph of one op whose operands are of the types of the inputs.
struct OneOp {
  Graph graph;
  const Op* op;

  OneOp(OpCode code, const std::vector<Tensor>& inputs, Attributes attributes) {
    std::vector<Value> operands;
    for (const Tensor& t : inputs) operands.push_back(placeholder(graph, t.type));
    op = graph.add(code, operands, std::move(attributes));
  }
};

inline std::vector<Tensor> run_all(OpCode code, const std::vector<Tensor>& inputs, Attributes attributes = {},
                                   int shape_only = -1) {
  return run_all(*OneOp(code, inputs, std::move(attributes)).op, inputs, shape_only);
}

inline std::vector<Array> meaning(OpCode code, const std::vector<Tensor>& inputs, Attributes attributes = {}) {
  return meaning(*OneOp(code, inputs, std::move(attributes)).op, inputs);
}

inline Tensor run(OpCode code, const std::vector<Tensor>& inputs, Attributes attributes = {}, int shape_only = -1) {
  return run_all(code, inputs, std::move(attributes), shape_only)[0];
}

// Checks that float results are within `ulps` of the reference rounded to float, plus `absolute`; others must be equal.
inline void expect_close(const Tensor& actual, const std::function<double(int64_t)>& expected, double ulps = 4,
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

inline void expect_close(const Tensor& actual, const Array& expected, double ulps = 4, double absolute = 0) {
  ASSERT_EQ(actual.type.shape.dims(), expected.dims);
  expect_close(actual, [&](int64_t i) { return expected.values[static_cast<size_t>(i)]; }, ulps, absolute);
}

// The kernel's results against the reference's; without a tolerance they are equal.
inline void expect_meaning(const Op& op, const std::vector<Tensor>& inputs, double ulps = 0, double absolute = 0,
                           int shape_only = -1) {
  SCOPED_TRACE(std::string(op.info().name) + " of " + to_string(inputs[0].type));
  const std::vector<Tensor> actual = run_all(op, inputs, shape_only);
  const std::vector<Array> expected = meaning(op, inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) expect_close(actual[i], expected[i], ulps, absolute);
}

inline void expect_meaning(OpCode code, const std::vector<Tensor>& inputs, const Attributes& attributes = {},
                           double ulps = 0, double absolute = 0, int shape_only = -1) {
  expect_meaning(*OneOp(code, inputs, attributes).op, inputs, ulps, absolute, shape_only);
}

inline void expect_equal(const Tensor& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), static_cast<int64_t>(expected.size()));
  expect_close(actual, [&](int64_t i) { return expected[i]; }, 0);
}

inline constexpr DType kDtypes[] = {DType::float32, DType::int32, DType::int64, DType::boolean};

// ---- suites ----

// A suite that runs on every instruction set that this machine has.
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

// If matrix products can use tiles, there is one more target.
class Products : public Simd {};

}  // namespace alloy::test
