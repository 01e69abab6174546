// Reductions along axes.
#include <limits>

#include "question.h"

namespace alloy::probes {
namespace {

std::string no_axes() {
  Question q;
  return q.shaped([q.graph reductionSumWithTensor:q.feed(std::vector<float>{1, 2}, {2}) axes:[NSArray array] name:nil]);
}

std::string rank5_sum() {
  Question q;
  MPSGraphTensor* x = q.feed({2, 2, 1, 2, 1}, [](long i) { return static_cast<float>(i + 1); });
  return q.shaped([q.graph reductionSumWithTensor:x axes:numbers({0}) name:nil]);
}

std::string argmax() {
  Question q;
  return q.values({[q.graph reductionArgMaximumWithTensor:q.feed(std::vector<float>{1, 5, 2, 7, 3, 6}, {2, 3})
                                                     axis:1
                                                     name:nil]});
}

std::string argmax_of_nan_and_ties() {
  Question q;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  return q.values(
      {[q.graph reductionArgMaximumWithTensor:q.feed(std::vector<float>{1, nan, 2, 3, 1, 3, nan, nan, nan}, {3, 3})
                                         axis:1
                                         name:nil]});
}

constexpr Probe kRows[] = {
    {"no_axes", "a sum over no axes is what it sums", "(2) 1 2", 0, "arithmetic", "reduction_of_no_axes", no_axes},
    {"rank5_sum", "a sum over the first of 5 axes", "(1,2,1,2,1) 6 8 10 12", 0, "arithmetic", "reduction_beyond_rank4",
     rank5_sum},
    {"argmax", "argmax of rows", "1 0", 0, "arithmetic", nullptr, argmax},
    {"argmax_of_nan_and_ties", "argmax beside NaN, of ties, of NaN alone", nullptr, 0, "documented nowhere", nullptr,
     argmax_of_nan_and_ties},
};

}  // namespace

const std::span<const Probe> kReductions = kRows;

}  // namespace alloy::probes
