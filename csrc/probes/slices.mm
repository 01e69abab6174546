// Slices and their gradients.
#include "question.h"

namespace alloy::probes {
namespace {

std::string slice_backwards() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<float>{0, 1, 2, 3, 4, 5}, {6});
  return q.shaped([q.graph sliceTensor:x starts:numbers({4}) ends:numbers({0}) strides:numbers({-2}) name:nil]);
}

std::string slice_gradient(long start, long end, long stride) {
  Question q;
  MPSGraphTensor* shape = [q.graph shapeOfTensor:q.feed(std::vector<float>(6), {6}) name:nil];
  return q.shaped([q.graph sliceGradientTensor:q.feed(std::vector<float>{10, 20}, {2})
                              fwdInShapeTensor:shape
                                        starts:numbers({start})
                                          ends:numbers({end})
                                       strides:numbers({stride})
                                          name:nil]);
}

std::string slice_gradient() { return slice_gradient(2, 4, 1); }
std::string strided_slice_gradient() { return join({slice_gradient(1, 4, 2), slice_gradient(4, 0, -2)}); }

constexpr Probe kSlicesRows[] = {
    {"slice_backwards", "a slice of stride -2", "(2) 4 2", 0, "the definition of a slice", nullptr, slice_backwards},
    {"slice_gradient", "the gradient of a slice of stride 1", "(6) 0 0 10 20 0 0", 0, "the slice's transpose", nullptr,
     slice_gradient},
    {"strided_slice_gradient", "the gradients of slices of strides 2 and -2", "(6) 0 10 0 20 0 0 (6) 0 0 20 0 10 0", 0,
     "the slice's transpose", "strided_slice_gradient", strided_slice_gradient, "(6) 0 10 20 0 0 0 (6) 0 0 0 0 10 20"},
};

}  // namespace

const std::span<const Probe> kSlices = kSlicesRows;

}  // namespace alloy::probes
