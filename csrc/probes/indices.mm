// Orders, running totals, elements by indices, and random numbers.
#include "question.h"

namespace alloy::probes {
namespace {

MPSGraphTensor* as(Question& q, MPSGraphTensor* x, MPSDataType type) {
  return [q.graph castTensor:x toType:type name:nil];
}

std::string rank5_order() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<float>{3, 5, 7, 2}, {2, 1, 1, 1, 2});
  return q.values({[q.graph sortWithTensor:x axis:0 descending:YES name:nil],
                   [q.graph argSortWithTensor:x axis:0 descending:YES name:nil],
                   [q.graph cumulativeSumWithTensor:x axis:0 exclusive:NO reverse:NO name:nil]});
}

std::string int16_order() {
  Question q;
  MPSGraphTensor* x = as(q, q.feed(std::vector<int32_t>{3, 5, -1}, {3}), MPSDataTypeInt16);
  return q.values({[q.graph argSortWithTensor:x axis:0 descending:YES name:nil]});
}

std::string int16_running_sum() {
  Question q;
  MPSGraphTensor* x = as(q, q.feed(std::vector<int32_t>{3, 5, -1}, {3}), MPSDataTypeInt16);
  MPSGraphTensor* y = [q.graph cumulativeSumWithTensor:x axis:0 exclusive:NO reverse:NO name:nil];
  return q.values({as(q, y, MPSDataTypeInt32)});
}

std::string int8_scatter() {
  Question q;
  MPSGraphTensor* y = [q.graph scatterWithDataTensor:as(q, q.feed(std::vector<int32_t>{1, 2}, {2}), MPSDataTypeInt8)
                                       updatesTensor:as(q, q.feed(std::vector<int32_t>{5}, {1}), MPSDataTypeInt8)
                                       indicesTensor:q.feed(std::vector<int32_t>{1}, {1})
                                                axis:0
                                                mode:MPSGraphScatterModeAdd
                                                name:nil];
  return q.values({as(q, y, MPSDataTypeInt32)});
}

std::string repeated_indices(MPSDataType type) {
  Question q;
  MPSGraphTensor* updates = as(q, q.feed(std::vector<float>{3, 5, 7}, {3}), type);
  MPSGraphTensor* y = [q.graph scatterNDWithUpdatesTensor:updates
                                            indicesTensor:q.feed(std::vector<int32_t>{1, 0, 1}, {3, 1})
                                                    shape:numbers({3})
                                          batchDimensions:0
                                                     name:nil];
  return q.values({as(q, y, MPSDataTypeFloat32)});
}

std::string repeated_indices() { return repeated_indices(MPSDataTypeFloat32); }
std::string half_scatter_nd() { return repeated_indices(MPSDataTypeFloat16); }

std::string gather_outside() {
  Question q;
  return q.values({[q.graph gatherWithUpdatesTensor:q.feed(std::vector<float>{3, 5}, {2})
                                      indicesTensor:q.feed(std::vector<int32_t>{1, 2, -1}, {3})
                                               axis:0
                                    batchDimensions:0
                                               name:nil]});
}

// Whether numbers of a seed and of a state are between 0 and 1, and the second state's are others.
std::string uniform() {
  Question q;
  MPSGraphTensor* of_seed = [q.graph randomUniformTensorWithShape:numbers({4}) seed:7 name:nil];
  MPSGraphTensor* state = [q.graph randomPhiloxStateTensorWithSeed:7 name:nil];
  NSArray* first = [q.graph randomUniformTensorWithShape:numbers({4}) stateTensor:state name:nil];
  NSArray* second = [q.graph randomUniformTensorWithShape:numbers({4}) stateTensor:[first objectAtIndex:1] name:nil];
  return q.values({of_seed, [first objectAtIndex:0], [second objectAtIndex:0]});
}

// What is kept is divided by what stays: zeros and twos.
std::string dropout() {
  Question q;
  MPSGraphTensor* y = [q.graph dropoutTensor:q.feed({1000}, [](long) { return 1.0f; }) rate:0.5 name:nil];
  return q.values({[q.graph reductionMinimumWithTensor:y axis:0 name:nil], [q.graph reductionMaximumWithTensor:y
                                                                                                          axis:0
                                                                                                          name:nil]});
}

constexpr Probe kRows[] = {
    {"rank5_order", "sorts and sums along the first of 5 axes", "7 5 3 2 1 0 0 1 3 5 10 7", 0, "the ops' definitions",
     "order_beyond_axis4", rank5_order},
    {"int16_order", "positions of int16 in order", "1 0 2", 0, "the op's definition", "order_of_other_types",
     int16_order},
    {"int16_running_sum", "a running sum of int16", "3 8 7", 0, "arithmetic", "narrow_accumulation", int16_running_sum,
     "? ? ?"},
    {"int8_scatter", "a scatter of int8", "1 7", 0, "the op's definition", "narrow_scatter", int8_scatter},
    {"repeated_indices", "a scatter at indices that repeat", "5 10 0", 0, "the gradient of gather relies on it",
     nullptr, repeated_indices},
    {"half_scatter_nd", "a scatter of float16 at tuples of indices", "5 10 0", 0, "the op's definition",
     "half_scatter_nd", half_scatter_nd, "? ? ?"},
    {"gather_outside", "a gather of indices 1, 2 and -1 of two", nullptr, 0, "documented nowhere", nullptr,
     gather_outside},
    {"uniform", "uniform numbers of a seed and of states", nullptr, 0, "the order of Philox's numbers", nullptr,
     uniform},
    {"dropout", "the least and greatest of a dropout of ones", "0 2", 0, "the op's definition", nullptr, dropout},
};

}  // namespace

const std::span<const Probe> kIndices = kRows;

}  // namespace alloy::probes
