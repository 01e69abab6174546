// Numbers at the edge: powers of negative ones, zeros with a sign, what is almost zero, NaN.
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

// Of rows of ones, whose means are ones.
std::string product_of_softmax() {
  Question q;
  MPSGraphTensor* x = q.feed({3, 2, 64}, [](long) { return 1.0f; });
  MPSGraphTensor* turned = [q.graph transposeTensor:x dimension:1 withDimension:2 name:nil];
  MPSGraphTensor* scores = [q.graph matrixMultiplicationWithPrimaryTensor:x secondaryTensor:turned name:nil];
  MPSGraphTensor* weights = [q.graph softMaxWithTensor:scores axis:2 name:nil];
  MPSGraphTensor* y = [q.graph matrixMultiplicationWithPrimaryTensor:weights secondaryTensor:x name:nil];
  return q.values({[q.graph reductionMinimumWithTensor:[q.graph reshapeTensor:y withShape:numbers({384}) name:nil]
                                                  axis:0
                                                  name:nil]});
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

constexpr Probe kRows[] = {
    {"power_of_negative", "powers of negative bases", "-8 9 -0.5 0.25", 1e-5, "arithmetic; fast pow rounds",
     "power_of_negative", power_of_negative},
    {"sign_of_int64", "signs of int64", "-1 0 1", 0, "the op's definition", "sign_of_int64", sign_of_int64},
    {"sign_of_negative_zero", "1 / sign(-0)", "-inf", 0, "the op's definition", "sign_of_negative_zero",
     sign_of_negative_zero},
    {"least_normal", "normal numbers of seed 1124399", "-0.910924 -5.294704 -0.0330422 -0.595403", 1e-5,
     "Philox 4x32-10 and the normal distribution's inverse", "least_normal", least_normal},
    {"product_of_softmax", "the product of a softmax, as in an attention", "1", 1e-5, "means of ones",
     "product_of_softmax", product_of_softmax},
    {"negative_zero", "-0 itself, its sign, its relu", nullptr, 0, "sign(-0) is 0 elsewhere", nullptr, negative_zero},
    {"denormals", "2^-130 itself and doubled", nullptr, 0, "flushed to zero elsewhere", nullptr, denormals},
    {"nan_among_numbers", "NaN in maximum, relu, max, and max pooling", nullptr, 0, "documented nowhere", nullptr,
     nan_among_numbers},
};

}  // namespace

const std::span<const Probe> kNumbers = kRows;

}  // namespace alloy::probes
