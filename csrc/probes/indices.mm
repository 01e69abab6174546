// Orders, running totals, gathering and scattering by indices, and random numbers.
#include "question.h"

// macOS 14; older headers lack it.
@protocol AlloyProbesBoxes
- (MPSGraphTensor*)nonMaximumSuppressionWithBoxesTensor:(MPSGraphTensor*)boxes
                                           scoresTensor:(MPSGraphTensor*)scores
                                           IOUThreshold:(float)overlap
                                         scoreThreshold:(float)score
                                    perClassSuppression:(BOOL)perClass
                                         coordinateMode:(NSUInteger)mode
                                                   name:(NSString*)name;
- (MPSGraphTensor*)nonMaximumSuppressionWithBoxesTensor:(MPSGraphTensor*)boxes
                                           scoresTensor:(MPSGraphTensor*)scores
                                     classIndicesTensor:(MPSGraphTensor*)classes
                                           IOUThreshold:(float)overlap
                                         scoreThreshold:(float)score
                                    perClassSuppression:(BOOL)perClass
                                         coordinateMode:(NSUInteger)mode
                                                   name:(NSString*)name;
@end

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

// True if the numbers from a seed and from a state are between 0 and 1, and the second state gives different ones.
std::string uniform() {
  Question q;
  MPSGraphTensor* of_seed = [q.graph randomUniformTensorWithShape:numbers({4}) seed:7 name:nil];
  MPSGraphTensor* state = [q.graph randomPhiloxStateTensorWithSeed:7 name:nil];
  NSArray* first = [q.graph randomUniformTensorWithShape:numbers({4}) stateTensor:state name:nil];
  NSArray* second = [q.graph randomUniformTensorWithShape:numbers({4}) stateTensor:[first objectAtIndex:1] name:nil];
  return q.values({of_seed, [first objectAtIndex:0], [second objectAtIndex:0]});
}

// Kept elements are divided by the share that is kept: zeros and twos.
std::string dropout() {
  Question q;
  MPSGraphTensor* y = [q.graph dropoutTensor:q.feed({1000}, [](long) { return 1.0f; }) rate:0.5 name:nil];
  return q.values({[q.graph reductionMinimumWithTensor:y axis:0 name:nil], [q.graph reductionMaximumWithTensor:y
                                                                                                          axis:0
                                                                                                          name:nil]});
}

// Four boxes: the first two overlap, and the last one has low scores.
MPSGraphTensor* boxes(Question& q) {
  return q.feed(std::vector<float>{0, 0, 10, 10, 0, 1, 10, 11, 20, 20, 30, 30, 40, 40, 50, 50}, {1, 4, 4});
}

std::string kept_boxes() {
  Question q;
  MPSGraphTensor* scores =
      q.feed(std::vector<float>{0.5F, 0.25F, 0.375F, 0.75F, 0.625F, 0.3125F, 0, 0.0625F}, {1, 4, 2});
  return q.shaped([(id<AlloyProbesBoxes>)q.graph nonMaximumSuppressionWithBoxesTensor:boxes(q)
                                                                         scoresTensor:scores
                                                                         IOUThreshold:0.5F
                                                                       scoreThreshold:0.125F
                                                                  perClassSuppression:NO
                                                                       coordinateMode:0
                                                                                 name:nil]);
}

std::string kept_boxes_of_classes() {
  Question q;
  MPSGraphTensor *scores = q.feed(std::vector<float>{0.5F, 0.75F, 0.625F, 0.0625F}, {1, 4, 1}),
                 *classes = q.feed(std::vector<int32_t>{0, 1, 0, 1}, {1, 4});
  return q.shaped([(id<AlloyProbesBoxes>)q.graph nonMaximumSuppressionWithBoxesTensor:boxes(q)
                                                                         scoresTensor:scores
                                                                   classIndicesTensor:classes
                                                                         IOUThreshold:0.5F
                                                                       scoreThreshold:0.125F
                                                                  perClassSuppression:YES
                                                                       coordinateMode:0
                                                                                 name:nil]);
}

// An image of one channel with the numbers 0, 1, ..., sampled at consecutive pairs of coordinates.
std::string sampled(long height, long width, const std::vector<float>& places, BOOL relative, BOOL aligned,
                    MPSGraphPaddingMode beyond, MPSGraphResizeMode mode) {
  Question q;
  const long count = static_cast<long>(places.size()) / 2;
  return q.values(
      {[q.graph sampleGridWithSourceTensor:q.feed({1, height, width, 1}, [](long i) { return static_cast<float>(i); })
                          coordinateTensor:q.feed(places, {1, 1, count, 2})
                                    layout:MPSGraphTensorNamedDataLayoutNHWC
                      normalizeCoordinates:NO
                       relativeCoordinates:relative
                              alignCorners:aligned
                               paddingMode:beyond
                              samplingMode:mode
                             constantValue:0
                                      name:nil]});
}

std::string samples() {
  return sampled(2, 3, {2, 1, 0.5F, 0}, NO, YES, MPSGraphPaddingModeClampToEdge, MPSGraphResizeBilinear);
}
std::string samples_without_align() {
  return sampled(1, 4, {1, 0, 1.5F, 0}, NO, NO, MPSGraphPaddingModeClampToEdge, MPSGraphResizeBilinear);
}
std::string samples_of_another_size() {
  return sampled(1, 4, {0, 0, 0.5F, 0}, YES, YES, MPSGraphPaddingModeClampToEdge, MPSGraphResizeBilinear);
}
std::string mirrored_samples() {
  return sampled(1, 4, {-0.5F, 0, -1.5F, 0}, NO, YES, MPSGraphPaddingModeReflect, MPSGraphResizeNearest);
}

std::string sparse_places() {
  Question q;
  NSArray* tensors =
      [NSArray arrayWithObjects:q.feed(std::vector<float>{3, 5}, {2}), q.feed(std::vector<int32_t>{0, 1}, {2}),
                                q.feed(std::vector<int32_t>{2, 0}, {2}), nil];
  return q.shaped([q.graph sparseTensorWithType:MPSGraphSparseStorageCOO
                                        tensors:tensors
                                          shape:numbers({2, 3})
                                       dataType:MPSDataTypeFloat32
                                           name:nil]);
}

constexpr Probe kIndicesRows[] = {
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
    {"samples", "an image sampled at (2, 1) and (0.5, 0)", "5 0.5", 1e-6, "programs of others put x before y", nullptr,
     samples},
    {"samples_without_align", "samples at 1 and 1.5 without alignCorners", nullptr, 0,
     "documented nowhere; refused on Linux", nullptr, samples_without_align},
    {"samples_of_another_size", "relative samples, 0 and 0.5, two of four", nullptr, 0,
     "documented nowhere; refused on Linux", nullptr, samples_of_another_size},
    {"mirrored_samples", "the nearest to -0.5 and -1.5, mirrored", nullptr, 0, "1 2 on Linux; documented nowhere",
     nullptr, mirrored_samples},
    {"kept_boxes", "which of 4 boxes of 2 scores are kept", nullptr, 0, "documented nowhere; refused on Linux", nullptr,
     kept_boxes},
    {"kept_boxes_of_classes", "which of 4 boxes with classes are kept", nullptr, 0,
     "documented nowhere; refused on Linux", nullptr, kept_boxes_of_classes},
    {"sparse_places", "a sparse matrix: rows before columns", "(2,3) 0 0 3 5 0 0", 0,
     "a binding's tests; the header says x, y", nullptr, sparse_places},
    {"dropout", "the least and greatest of a dropout of ones", "0 2", 0, "the op's definition", nullptr, dropout},
};

}  // namespace

const std::span<const Probe> kIndices = kIndicesRows;

}  // namespace alloy::probes
