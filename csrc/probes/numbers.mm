// Extreme numbers: powers of negative numbers, signed zeros, denormals, NaN.
#include <algorithm>
#include <cmath>
#include <limits>

#include "question.h"

namespace alloy::probes {
namespace {

std::string power_of_negative() {
  Question q;
  return q.values({[q.graph powerWithPrimaryTensor:q.feed(std::vector<float>{-2, -3, -2, 2}, {4})
                                   secondaryTensor:q.feed(std::vector<float>{3, 2, -1, -2}, {4})
                                              name:nil]});
}

std::string sign_of_int64() {
  Question q;
  return q.values({[q.graph signWithTensor:q.feed(std::vector<int64_t>{-3, 0, 7}, {3}) name:nil]});
}

std::string sign_of_negative_zero() {
  Question q;
  MPSGraphTensor* sign = [q.graph signWithTensor:q.feed(std::vector<float>{-0.0f}, {1}) name:nil];
  return q.values({[q.graph reciprocalWithTensor:sign name:nil]});
}

std::string least_normal() {
  Question q;
  MPSGraphRandomOpDescriptor* normal =
      [MPSGraphRandomOpDescriptor descriptorWithDistribution:MPSGraphRandomDistributionNormal
                                                    dataType:MPSDataTypeFloat32];
  return q.values({[q.graph randomTensorWithShape:numbers({4}) descriptor:normal seed:1124399 name:nil]});
}

// For 20 rows of equal weight: the number of NaNs among the 3,840 sums, and the number of other wrong means.
std::string product_of_softmax() {
  Question q;
  const long rows = 20, columns = 64, count = 3 * rows * columns;
  MPSGraphTensor *x = q.feed({3, rows, columns}, [](long) { return 0.0f; }),
                 *v = q.feed({3, rows, columns}, [=](long i) { return static_cast<float>(i / columns); });
  MPSGraphTensor* turned = [q.graph transposeTensor:x dimension:1 withDimension:2 name:nil];
  MPSGraphTensor* scores = [q.graph matrixMultiplicationWithPrimaryTensor:x secondaryTensor:turned name:nil];
  MPSGraphTensor* weights = [q.graph softMaxWithTensor:scores axis:2 name:nil];
  MPSGraphTensor* y = [q.graph matrixMultiplicationWithPrimaryTensor:weights secondaryTensor:v name:nil];
  std::vector<float> values(count);
  [[q.run({y}).front() mpsndarray] readBytes:values.data() strideBytes:nil];
  int lost = 0, others = 0;
  for (long i = 0; i < count; ++i) {
    const auto mean = static_cast<float>(i / (rows * columns) * rows) + 9.5f;
    if (std::isnan(values[i])) ++lost;
    else others += std::abs(values[i] - mean) > 1e-4f;
  }
  return join({text(lost), text(others)});
}

// For inf, -inf, NaN and 1: x - x == 0 and isFinite, each alone and after other ops in one kernel.
std::string not_finite() {
  Question q;
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  MPSGraphTensor *x = q.feed(std::vector<float>{inf, -inf, nan, 1}, {4}), *zero = q.feed(std::vector<float>{0}, {1});
  const auto by_difference = [&](MPSGraphTensor* y) {
    MPSGraphTensor* difference = [q.graph subtractionWithPrimaryTensor:y secondaryTensor:y name:nil];
    return [q.graph equalWithPrimaryTensor:difference secondaryTensor:zero name:nil];
  };
  MPSGraphTensor* stitched = [q.graph multiplicationWithPrimaryTensor:[q.graph absoluteWithTensor:x name:nil]
                                                      secondaryTensor:[q.graph exponentWithTensor:zero name:nil]
                                                                 name:nil];
  return q.values({by_difference(x), [q.graph isFiniteWithTensor:x name:nil], by_difference(stitched),
                   [q.graph isFiniteWithTensor:stitched name:nil]});
}

// The greatest errors in units of the last place, each among 4,096 arguments.
std::string precision() {
  const auto worst = [](float low, float high, double (*right)(double),
                        MPSGraphTensor* (*op)(MPSGraph* g, MPSGraphTensor* x)) {
    Question q;
    const long count = 4096;
    const auto argument = [=](long i) { return low + (high - low) * static_cast<float>(i) / (count - 1); };
    MPSGraphTensorData* data = q.run({op(q.graph, q.feed({count}, argument))}).front();
    std::vector<float> values(count);
    [[data mpsndarray] readBytes:values.data() strideBytes:nil];
    double error = 0;
    for (long i = 0; i < count; ++i) {
      const double exact = right(static_cast<double>(argument(i)));
      const double unit = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
      error = std::max(error, std::abs(static_cast<double>(values[i]) - exact) / unit);
    }
    return std::to_string(static_cast<long>(std::ceil(error)));
  };
  return join({"exp",
               worst(
                   -80, 80, [](double x) { return std::exp(x); },
                   [](MPSGraph* g, MPSGraphTensor* x) { return [g exponentWithTensor:x name:nil]; }),
               "log",
               worst(
                   0.001f, 900, [](double x) { return std::log(x); },
                   [](MPSGraph* g, MPSGraphTensor* x) { return [g logarithmWithTensor:x name:nil]; }),
               "tanh",
               worst(
                   0.001f, 8, [](double x) { return std::tanh(x); },
                   [](MPSGraph* g, MPSGraphTensor* x) { return [g tanhWithTensor:x name:nil]; }),
               "x^2.5",
               worst(
                   0.001f, 90, [](double x) { return std::pow(x, 2.5); },
                   [](MPSGraph* g, MPSGraphTensor* x) {
                     MPSGraphTensor* exponent = [g constantWithScalar:2.5 dataType:MPSDataTypeFloat32];
                     return [g powerWithPrimaryTensor:x secondaryTensor:exponent name:nil];
                   })});
}

std::string negative_zero() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<float>{-0.0f}, {1});
  return q.values({q.identity(x), [q.graph signWithTensor:x name:nil], [q.graph reLUWithTensor:x name:nil]});
}

std::string denormals() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<float>{0x1p-130f}, {1});
  return q.values({q.identity(x), [q.graph additionWithPrimaryTensor:x secondaryTensor:x name:nil]});
}

std::string nan_among_numbers() {
  Question q;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  MPSGraphTensor *x = q.feed(std::vector<float>{nan, 1, 2, nan}, {1, 2, 2, 1}),
                 *ones = q.feed(std::vector<float>(4, 1), {1, 2, 2, 1});
  MPSGraphPooling2DOpDescriptor* pool =
      [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:2
                                                  kernelHeight:2
                                                     strideInX:2
                                                     strideInY:2
                                                  paddingStyle:MPSGraphPaddingStyleTF_VALID
                                                    dataLayout:MPSGraphTensorNamedDataLayoutNHWC];
  return q.values({[q.graph maximumWithPrimaryTensor:x secondaryTensor:ones name:nil],
                   [q.graph reLUWithTensor:x name:nil],
                   [q.graph reductionMaximumWithTensor:x axes:numbers({0, 1, 2, 3}) name:nil],
                   [q.graph maxPooling2DWithSourceTensor:x descriptor:pool name:nil]});
}

constexpr Probe kNumbersRows[] = {
    {"power_of_negative", "powers of negative bases", "-8 9 -0.5 0.25", 1e-5, "arithmetic; fast pow rounds",
     "power_of_negative", power_of_negative, "nan nan nan 0.25"},
    {"sign_of_int64", "signs of int64", "-1 0 1", 0, "the op's definition", "sign_of_int64", sign_of_int64},
    {"sign_of_negative_zero", "1 / sign(-0)", "-inf", 0, "the op's definition", "sign_of_negative_zero",
     sign_of_negative_zero, "inf"},
    {"least_normal", "normal numbers of seed 1124399", "-0.910924 -5.294704 -0.0330422 -0.595403", 1e-5,
     "Philox 4x32-10 and the normal distribution's inverse", "least_normal", least_normal, "? nan ? ?"},
    {"product_of_softmax", "the product of a softmax, as in an attention", "0 0", 0, "means of rows",
     "product_of_softmax", product_of_softmax, "? 0"},
    {"not_finite", "inf, -inf, NaN and 1: finite or not", "0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1", 0,
     "x - x is NaN; fast math may fold it to 0", nullptr, not_finite},
    {"precision", "errors in units of the last place", nullptr, 0, "Metal's fast functions; test_ops asks for 2e-6",
     nullptr, precision},
    {"negative_zero", "-0 itself, its sign, its relu", nullptr, 0, "sign(-0) is 0 elsewhere", nullptr, negative_zero},
    {"denormals", "2^-130 itself and doubled", nullptr, 0, "flushed to zero elsewhere", nullptr, denormals},
    {"nan_among_numbers", "NaN in maximum, relu, max, and max pooling", nullptr, 0, "documented nowhere", nullptr,
     nan_among_numbers},
};

}  // namespace

const std::span<const Probe> kNumbers = kNumbersRows;

}  // namespace alloy::probes
