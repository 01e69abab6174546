// Ops that move elements, give their positions, or cast.

#include <algorithm>

#include "facade/graph/build.h"
#include "ir/rules/windows.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

ir::Dims axes_of_mask(uint32_t mask) {
  ir::Dims axes;
  for (int64_t i = 0; i < 32; ++i) {
    if ((mask >> i & 1) != 0) axes.push_back(i);
  }
  return axes;
}

ir::Attributes slice_attributes(NSArray<NSNumber*>* starts, NSArray<NSNumber*>* ends, NSArray<NSNumber*>* strides,
                                uint32_t start_mask, uint32_t end_mask, uint32_t squeeze_mask) {
  ir::Dims from = numbers_of(starts), to = numbers_of(ends), by = numbers_of(strides);
  for (int64_t i = 0; i < std::min({from.size(), to.size(), by.size(), int64_t{32}}); ++i) {
    const bool backward = by[i] < 0;
    if ((start_mask >> i & 1) != 0) from[i] = backward ? ir::kSliceToEnd : 0;
    if ((end_mask >> i & 1) != 0) to[i] = backward ? ir::kSliceToBegin : ir::kSliceToEnd;
    if ((squeeze_mask >> i & 1) != 0) {
      by[i] = 1;
      to[i] = from[i] == -1 ? ir::kSliceToEnd : from[i] + 1;
    }
  }
  return {{Attr::kStarts, from}, {Attr::kEnds, to}, {Attr::kStrides, by}};
}

MPSGraphTensor* sliced(MPSGraph* self, MPSGraphTensor* tensor, const ir::Attributes& bounds, uint32_t squeeze_mask,
                       NSString* name) {
  const ir::Value x = value_of(self, tensor);
  if (squeeze_mask == 0) return add(self, OpCode::slice, {x}, bounds, name);
  MPSGraphTensor* whole = add(self, OpCode::slice, {x}, bounds, nil);
  return add(self, OpCode::squeeze, {value_of(self, whole)}, {{Attr::kAxes, axes_of_mask(squeeze_mask)}}, name);
}

// Adds the dimensions that a slice has squeezed.
ir::Value unsqueezed(MPSGraph* self, MPSGraphTensor* tensor, uint32_t squeeze_mask) {
  const ir::Value x = value_of(self, tensor);
  if (squeeze_mask == 0) return x;
  return value_of(add(self, OpCode::expand_dims, {x}, {{Attr::kAxes, axes_of_mask(squeeze_mask)}}, nil));
}

MPSGraphTensor* slice_gradient(MPSGraph* self, MPSGraphTensor* gradient, ir::Value like, const ir::Attributes& bounds,
                               uint32_t squeeze_mask, NSString* name) {
  return add(self, OpCode::slice_gradient, {unsqueezed(self, gradient, squeeze_mask), like}, bounds, name);
}

// Apple's header asks that concatenated tensors be broadcast-compatible along the other dimensions: extents of 1 are
// repeated to the others' extent.
std::vector<ir::Value> broadcast_beside(MPSGraph* self, std::vector<ir::Value> values, NSInteger dimension) {
  const ir::Shape first = values.empty() ? ir::Shape::unranked() : values[0].shape();
  const auto along = first.ranked() ? ir::normalize_axis(dimension, first.rank()) : std::nullopt;
  const bool alike = along && std::all_of(values.begin(), values.end(), [&](const ir::Value& v) {
                       return v.shape().ranked() && v.shape().rank() == first.rank();
                     });
  if (!alike) return values;
  ir::Dims longest = first.dims();
  for (int64_t i = 0; i < longest.size(); ++i) {
    for (const ir::Value& v : values) longest[i] = std::max(longest[i], v.shape().dims()[i]);
  }
  for (ir::Value& v : values) {
    ir::Dims dims = v.shape().dims();
    for (int64_t i = 0; i < first.rank(); ++i) {
      int64_t& extent = dims[i];
      if (i != *along && extent == 1) extent = longest[i];
    }
    if (dims != v.shape().dims()) {
      v = value_of(add(self, OpCode::broadcast_to, {v}, {{Attr::kShape, ir::Shape(dims)}}, nil));
    }
  }
  return values;
}

// The ends of a slice of `sizes` elements, which must be inside.
NSArray<NSNumber*>* ends_of(ir::Value x, NSArray<NSNumber*>* starts, NSArray<NSNumber*>* sizes) {
  const ir::Dims from = numbers_of(starts), count = numbers_of(sizes);
  const bool are_as_many = from.size() == count.size() && (!x.shape().ranked() || from.size() == x.shape().rank());
  if (!are_as_many) {
    raise_invalid(@"[slice] Expected a start and a size for each dimension of shape %s, got %lld and %lld.",
                  to_string(x.shape()).c_str(), static_cast<long long>(from.size()),
                  static_cast<long long>(count.size()));
  }
  NSMutableArray<NSNumber*>* ends = [NSMutableArray array];
  for (int64_t i = 0; i < from.size(); ++i) {
    const int64_t extent = x.shape().ranked() ? x.shape()[i] : ir::kUnknown;
    const int64_t most = extent == ir::kUnknown ? INT64_MAX : extent;
    if (from[i] < 0 || count[i] < 0 || from[i] > most - count[i]) {
      raise_invalid(@"[slice] Start %lld and size %lld are outside dimension %lld of shape %s.",
                    static_cast<long long>(from[i]), static_cast<long long>(count[i]), static_cast<long long>(i),
                    to_string(x.shape()).c_str());
    }
    [ends addObject:[NSNumber numberWithLongLong:from[i] + count[i]]];
  }
  return ends;
}

NSArray<NSNumber*>* ones(NSUInteger count) {
  NSMutableArray<NSNumber*>* numbers = [NSMutableArray array];
  for (NSUInteger i = 0; i < count; ++i) [numbers addObject:[NSNumber numberWithInt:1]];
  return numbers;
}

ir::Dims plane(NSUInteger height, NSUInteger width) {
  return {static_cast<int64_t>(height), static_cast<int64_t>(width)};
}

// Moves blocks along `axes` from or to the dimension `axis`.
MPSGraphTensor* with_blocks(MPSGraph* self, ir::Composite composite, MPSGraphTensor* tensor, const ir::Dims& axes,
                            NSInteger axis, const ir::Dims& block, BOOL pixel_shuffle, NSString* name) {
  return add(self, composite, {value_of(self, tensor)},
             {{Attr::kAxes, axes},
              {Attr::kAxis, int64_t{axis}},
              {Attr::kSize, block},
              {Attr::kPixelShuffle, pixel_shuffle == YES}},
             name);
}

// The paddings before and after each axis.
ir::Dims paddings_of(NSArray<NSNumber*>* left, NSArray<NSNumber*>* right) {
  const ir::Dims before = numbers_of(left), after = numbers_of(right);
  if (before.size() != after.size()) {
    raise_invalid(@"[pad] %lld left paddings and %lld right ones were given.", static_cast<long long>(before.size()),
                  static_cast<long long>(after.size()));
  }
  ir::Dims padding;
  for (int64_t i = 0; i < before.size(); ++i) {
    padding.push_back(before[i]);
    padding.push_back(after[i]);
  }
  return padding;
}

std::string word_of(MPSGraphPaddingMode mode) {
  switch (mode) {
    case MPSGraphPaddingModeConstant:
    case MPSGraphPaddingModeZero: return "constant";
    case MPSGraphPaddingModeReflect: return "reflect";
    case MPSGraphPaddingModeSymmetric: return "symmetric";
    case MPSGraphPaddingModeClampToEdge: return "edge";
    case MPSGraphPaddingModePeriodic: return "wrap";
    case MPSGraphPaddingModeAntiPeriodic: return "antiperiodic";
    default: raise_invalid(@"[pad] The padding mode %ld does not exist.", static_cast<long>(mode));
  }
}

}  // namespace

// The methods that move blocks along some axes to another axis, or back. The axes are height and width, or a list.
#define BLOCKS(of_plane, of_list, composite)                                                                           \
  METHOD(MPSGraphTensor*, takes(of_list), takes(spatialAxes), takes(batchAxis, NSInteger), takes(blockDimensions),     \
         takes(usePixelShuffleOrder, BOOL), takes(name)) {                                                             \
    return with_blocks(self, ir::Composite::composite, of_list, numbers_of(spatialAxes), batchAxis,                    \
                       numbers_of(blockDimensions), usePixelShuffleOrder, name);                                       \
  }                                                                                                                    \
  METHOD(MPSGraphTensor*, takes(of_plane), takes(widthAxis, NSUInteger), takes(heightAxis, NSUInteger),                \
         takes(depthAxis, NSUInteger), takes(blockSize, NSUInteger), takes(usePixelShuffleOrder, BOOL), takes(name)) { \
    return with_blocks(self, ir::Composite::composite, of_plane, plane(heightAxis, widthAxis),                         \
                       static_cast<NSInteger>(depthAxis), plane(blockSize, blockSize), usePixelShuffleOrder, name);    \
  }                                                                                                                    \
  FORWARD(MPSGraphTensor*, passes(of_plane), takes(widthAxisTensor),                                                   \
          sends(widthAxis, number_in(self, widthAxisTensor, #composite, "an axis")), takes(heightAxisTensor),          \
          sends(heightAxis, number_in(self, heightAxisTensor, #composite, "an axis")), takes(depthAxisTensor),         \
          sends(depthAxis, number_in(self, depthAxisTensor, #composite, "an axis")), passes(blockSize, NSUInteger),    \
          passes(usePixelShuffleOrder, BOOL), passes(name))                                                            \
  FORWARD(MPSGraphTensor*, passes(of_list), takes(spatialAxesTensor),                                                  \
          sends(spatialAxes, numbers_in(self, spatialAxesTensor, #composite, "axes")), takes(batchAxisTensor),         \
          sends(batchAxis, number_in(self, batchAxisTensor, #composite, "an axis")), takes(blockDimensionsTensor),     \
          sends(blockDimensions, numbers_in(self, blockDimensionsTensor, #composite, "sizes of a block")),             \
          passes(usePixelShuffleOrder, BOOL), passes(name))

@implementation MPSGraph (MPSGraphTensorShapeOps)

- (MPSGraphTensor*)reshapeTensor:(MPSGraphTensor*)tensor withShape:(MPSShape*)shape name:(NSString*)name {
  return add(self, OpCode::reshape, {value_of(self, tensor)}, {{Attr::kShape, shape_of(shape)}}, name);
}

- (MPSGraphTensor*)reshapeTensor:(MPSGraphTensor*)tensor
                 withShapeTensor:(MPSGraphTensor*)shapeTensor
                            name:(NSString*)name {
  const ir::Value x = value_of(self, tensor);
  return add(self, OpCode::reshape_like, {x, unspecified(self, shapeTensor, x.dtype())}, {}, name);
}

- (MPSGraphTensor*)transposeTensor:(MPSGraphTensor*)tensor
                         dimension:(NSUInteger)dimension
                     withDimension:(NSUInteger)dimension2
                              name:(NSString*)name {
  const ir::Value x = value_of(self, tensor);
  if (!x.shape().ranked()) raise_invalid(@"[transpose] A tensor of known rank was expected.");
  const int64_t rank = x.shape().rank();
  const auto first = ir::normalize_axis(static_cast<NSInteger>(dimension), rank),
             second = ir::normalize_axis(static_cast<NSInteger>(dimension2), rank);
  if (!first || !second) {
    raise_invalid(@"[transpose] Dimensions %ld and %ld are not both inside a tensor of rank %lld.",
                  static_cast<long>(dimension), static_cast<long>(dimension2), static_cast<long long>(rank));
  }
  ir::Dims permutation;
  for (int64_t i = 0; i < rank; ++i) permutation.push_back(i == *first ? *second : i == *second ? *first : i);
  return add(self, OpCode::transpose, {x}, {{Attr::kPermutation, permutation}}, name);
}

- (MPSGraphTensor*)transposeTensor:(MPSGraphTensor*)tensor
                       permutation:(NSArray<NSNumber*>*)permutation
                              name:(NSString*)name {
  return add(self, OpCode::transpose, {value_of(self, tensor)}, {{Attr::kPermutation, numbers_of(permutation)}}, name);
}

- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                     dimension:(NSUInteger)dimension
                         start:(NSInteger)start
                        length:(NSInteger)length
                          name:(NSString*)name {
  const ir::Value x = value_of(self, tensor);
  if (!x.shape().ranked()) raise_invalid(@"[slice] A tensor of known rank was expected.");
  const int64_t rank = x.shape().rank();
  const auto axis = ir::normalize_axis(static_cast<NSInteger>(dimension), x.shape().rank());
  if (!axis) {
    raise_invalid(@"[slice] Dimension %ld is outside a tensor of rank %zu.", static_cast<long>(dimension), rank);
  }
  const int64_t extent = x.shape()[*axis];
  const int64_t from = start < 0 && extent != ir::kUnknown ? start + extent : start;
  if (length < 0 || (extent != ir::kUnknown && (from < 0 || from + length > extent))) {
    raise_invalid(@"[slice] Start %ld and length %ld are outside dimension %lld of shape %s.", static_cast<long>(start),
                  static_cast<long>(length), static_cast<long long>(*axis), to_string(x.shape()).c_str());
  }
  ir::Dims starts(rank, 0), ends(rank, ir::kSliceToEnd), strides(rank, 1);
  starts[*axis] = from;
  ends[*axis] = from < 0 && from + length == 0 ? ir::kSliceToEnd : from + length;
  return add(self, OpCode::slice, {x}, {{Attr::kStarts, starts}, {Attr::kEnds, ends}, {Attr::kStrides, strides}}, name);
}

FORWARD(MPSGraphTensor*, passes(sliceTensor), passes(starts), passes(ends), passes(strides), sends(startMask, 0),
        sends(endMask, 0), sends(squeezeMask, 0), passes(name))

- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                        starts:(NSArray<NSNumber*>*)starts
                          ends:(NSArray<NSNumber*>*)ends
                       strides:(NSArray<NSNumber*>*)strides
                     startMask:(uint32_t)startMask
                       endMask:(uint32_t)endMask
                   squeezeMask:(uint32_t)squeezeMask
                          name:(NSString*)name {
  return sliced(self, tensor, slice_attributes(starts, ends, strides, startMask, endMask, squeezeMask), squeezeMask,
                name);
}

FORWARD(MPSGraphTensor*, passes(sliceTensor), takes(startTensor),
        sends(starts, numbers_in(self, startTensor, "slice", "starts")), takes(endTensor),
        sends(ends, numbers_in(self, endTensor, "slice", "ends")), takes(strideTensor),
        sends(strides, numbers_in(self, strideTensor, "slice", "strides")), passes(startMask, uint32_t),
        passes(endMask, uint32_t), passes(squeezeMask, uint32_t), passes(name))

- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                   startTensor:(MPSGraphTensor*)startTensor
                    sizeTensor:(MPSGraphTensor*)sizeTensor
                   squeezeMask:(uint32_t)squeezeMask
                          name:(NSString*)name {
  NSArray<NSNumber*>* starts = numbers_in(self, startTensor, "slice", "starts");
  NSArray<NSNumber*>* ends = ends_of(value_of(self, tensor), starts, numbers_in(self, sizeTensor, "slice", "sizes"));
  return sliced(self, tensor, slice_attributes(starts, ends, ones([starts count]), 0, 0, 0), squeezeMask, name);
}

FORWARD(MPSGraphTensor*, passes(sliceGradientTensor), passes(fwdInShapeTensor), passes(starts), passes(ends),
        passes(strides), sends(startMask, 0), sends(endMask, 0), sends(squeezeMask, 0), passes(name))

- (MPSGraphTensor*)sliceGradientTensor:(MPSGraphTensor*)gradient
                      fwdInShapeTensor:(MPSGraphTensor*)shapeTensor
                                starts:(NSArray<NSNumber*>*)starts
                                  ends:(NSArray<NSNumber*>*)ends
                               strides:(NSArray<NSNumber*>*)strides
                             startMask:(uint32_t)startMask
                               endMask:(uint32_t)endMask
                           squeezeMask:(uint32_t)squeezeMask
                                  name:(NSString*)name {
  return slice_gradient(self, gradient, unspecified(self, shapeTensor, value_of(self, gradient).dtype()),
                        slice_attributes(starts, ends, strides, startMask, endMask, squeezeMask), squeezeMask, name);
}

FORWARD(MPSGraphTensor*, passes(sliceGradientTensor), passes(fwdInShapeTensor), takes(startTensor),
        sends(starts, numbers_in(self, startTensor, "slice_gradient", "starts")), takes(endTensor),
        sends(ends, numbers_in(self, endTensor, "slice_gradient", "ends")), takes(strideTensor),
        sends(strides, numbers_in(self, strideTensor, "slice_gradient", "strides")), passes(startMask, uint32_t),
        passes(endMask, uint32_t), passes(squeezeMask, uint32_t), passes(name))

- (MPSGraphTensor*)sliceGradientTensor:(MPSGraphTensor*)gradient
                      fwdInShapeTensor:(MPSGraphTensor*)shapeTensor
                           startTensor:(MPSGraphTensor*)startTensor
                            sizeTensor:(MPSGraphTensor*)sizeTensor
                           squeezeMask:(uint32_t)squeezeMask
                                  name:(NSString*)name {
  const ir::Value like = unspecified(self, shapeTensor, value_of(self, gradient).dtype());
  NSArray<NSNumber*>* starts = numbers_in(self, startTensor, "slice_gradient", "starts");
  NSArray<NSNumber*>* ends = ends_of(like, starts, numbers_in(self, sizeTensor, "slice_gradient", "sizes"));
  return slice_gradient(self, gradient, like, slice_attributes(starts, ends, ones([starts count]), 0, 0, 0),
                        squeezeMask, name);
}

- (MPSGraphTensor*)sliceUpdateDataTensor:(MPSGraphTensor*)data
                            updateTensor:(MPSGraphTensor*)update
                                  starts:(NSArray<NSNumber*>*)starts
                                    ends:(NSArray<NSNumber*>*)ends
                                 strides:(NSArray<NSNumber*>*)strides
                               startMask:(uint32_t)startMask
                                 endMask:(uint32_t)endMask
                             squeezeMask:(uint32_t)squeezeMask
                                    name:(NSString*)name {
  return add(self, ir::Composite::slice_update, {value_of(self, data), unsqueezed(self, update, squeezeMask)},
             slice_attributes(starts, ends, strides, startMask, endMask, squeezeMask), name);
}

FORWARD(MPSGraphTensor*, passes(sliceUpdateDataTensor), passes(updateTensor), passes(starts), passes(ends),
        passes(strides), sends(startMask, 0), sends(endMask, 0), sends(squeezeMask, 0), passes(name))

FORWARD(MPSGraphTensor*, passes(sliceUpdateDataTensor), passes(updateTensor), takes(startsTensor),
        sends(starts, numbers_in(self, startsTensor, "slice_update", "starts")), takes(endsTensor),
        sends(ends, numbers_in(self, endsTensor, "slice_update", "ends")), takes(stridesTensor),
        sends(strides, numbers_in(self, stridesTensor, "slice_update", "strides")), passes(startMask, uint32_t),
        passes(endMask, uint32_t), passes(squeezeMask, uint32_t), passes(name))

FORWARD(MPSGraphTensor*, passes(sliceUpdateDataTensor), passes(updateTensor), passes(startsTensor), passes(endsTensor),
        passes(stridesTensor), sends(startMask, 0), sends(endMask, 0), sends(squeezeMask, 0), passes(name))

- (MPSGraphTensor*)concatTensor:(MPSGraphTensor*)tensor
                     withTensor:(MPSGraphTensor*)tensor2
                      dimension:(NSInteger)dimension
                           name:(NSString*)name {
  return add(self, OpCode::concat, broadcast_beside(self, {value_of(self, tensor), value_of(self, tensor2)}, dimension),
             {{Attr::kAxis, int64_t{dimension}}}, name);
}

FORWARD(MPSGraphTensor*, passes(concatTensors), passes(dimension, NSInteger), sends(interleave, NO), passes(name))

- (MPSGraphTensor*)concatTensors:(NSArray<MPSGraphTensor*>*)tensors
                       dimension:(NSInteger)dimension
                      interleave:(BOOL)interleave
                            name:(NSString*)name {
  const std::vector<ir::Value> parts = broadcast_beside(self, values_of(self, tensors), dimension);
  const ir::Attributes along{{Attr::kAxis, int64_t{dimension}}};
  if (interleave) return add(self, ir::Composite::interleave, parts, along, name);
  return add(self, OpCode::concat, parts, along, name);
}

- (MPSGraphTensor*)broadcastTensor:(MPSGraphTensor*)tensor toShape:(MPSShape*)shape name:(NSString*)name {
  return add(self, OpCode::broadcast_to, {value_of(self, tensor)}, {{Attr::kShape, shape_of(shape)}}, name);
}

- (MPSGraphTensor*)broadcastTensor:(MPSGraphTensor*)tensor
                     toShapeTensor:(MPSGraphTensor*)shapeTensor
                              name:(NSString*)name {
  const ir::Value x = value_of(self, tensor);
  return add(self, OpCode::broadcast_like, {x, unspecified(self, shapeTensor, x.dtype())}, {}, name);
}

- (MPSGraphTensor*)shapeOfTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add(self, OpCode::shape_of, {value_of(self, tensor)}, {}, name);
}

- (MPSGraphTensor*)castTensor:(MPSGraphTensor*)tensor toType:(MPSDataType)type name:(NSString*)name {
  return add(self, OpCode::cast, {value_of(self, tensor)}, {{Attr::kDtype, dtype_of(type)}}, name);
}

- (NSArray<MPSGraphTensor*>*)splitTensor:(MPSGraphTensor*)tensor
                              splitSizes:(NSArray<NSNumber*>*)splitSizes
                                    axis:(NSInteger)axis
                                    name:(NSString*)name {
  return add_all(self, ir::Composite::split, {value_of(self, tensor)},
                 {{Attr::kAxis, int64_t{axis}}, {Attr::kSize, numbers_of(splitSizes)}}, name);
}

FORWARD(NSArray<MPSGraphTensor*>*, passes(splitTensor), takes(splitSizesTensor),
        sends(splitSizes, numbers_in(self, splitSizesTensor, "split", "sizes")), passes(axis, NSInteger), passes(name))

- (NSArray<MPSGraphTensor*>*)splitTensor:(MPSGraphTensor*)tensor
                               numSplits:(NSUInteger)numSplits
                                    axis:(NSInteger)axis
                                    name:(NSString*)name {
  return add_all(self, ir::Composite::split_evenly, {value_of(self, tensor)},
                 {{Attr::kAxis, int64_t{axis}}, {Attr::kParts, static_cast<int64_t>(numSplits)}}, name);
}

- (MPSGraphTensor*)stackTensors:(NSArray<MPSGraphTensor*>*)tensors axis:(NSInteger)axis name:(NSString*)name {
  return add(self, ir::Composite::stack, values_of(self, tensors), {{Attr::kAxis, int64_t{axis}}}, name);
}

- (MPSGraphTensor*)tileTensor:(MPSGraphTensor*)tensor withMultiplier:(MPSShape*)multiplier name:(NSString*)name {
  return add(self, ir::Composite::tile, {value_of(self, tensor)}, {{Attr::kRepeats, numbers_of(multiplier)}}, name);
}

- (MPSGraphTensor*)tileGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                           withMultiplier:(MPSShape*)multiplier
                                                     name:(NSString*)name {
  return add(self, ir::Composite::tile_gradient, {value_of(self, gradient), value_of(self, source)},
             {{Attr::kRepeats, numbers_of(multiplier)}}, name);
}

- (MPSGraphTensor*)reverseTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add(self, ir::Composite::reverse, {value_of(self, tensor)}, {{Attr::kAxes, axes_of(self, tensor, nil)}}, name);
}

- (MPSGraphTensor*)reverseTensor:(MPSGraphTensor*)tensor axes:(NSArray<NSNumber*>*)axes name:(NSString*)name {
  require_elements(axes, [NSNumber class]);
  if ([axes count] == 0) return [self reverseTensor:tensor name:name];
  return add(self, ir::Composite::reverse, {value_of(self, tensor)}, {{Attr::kAxes, numbers_of(axes)}}, name);
}

FORWARD(MPSGraphTensor*, passes(reverseTensor), takes(axesTensor),
        sends(axes, numbers_in(self, axesTensor, "reverse", "axes")), passes(name))

- (MPSGraphTensor*)flatten2DTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return add(self, ir::Composite::flatten2d, {value_of(self, tensor)}, {{Attr::kAxis, int64_t{axis}}}, name);
}

FORWARD(MPSGraphTensor*, passes(flatten2DTensor), takes(axisTensor),
        sends(axis, number_in(self, axisTensor, "flatten2d", "an axis")), passes(name))

- (MPSGraphTensor*)squeezeTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  const ir::Value x = value_of(self, tensor);
  if (!x.shape().ranked()) raise_invalid(@"[squeeze] A tensor of known rank was expected.");
  ir::Dims axes;
  for (int64_t i = 0; i < x.shape().rank(); ++i) {
    if (x.shape()[i] == 1) axes.push_back(i);
  }
  return add(self, OpCode::squeeze, {x}, {{Attr::kAxes, axes}}, name);
}

- (MPSGraphTensor*)squeezeTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return add(self, OpCode::squeeze, {value_of(self, tensor)}, {{Attr::kAxes, ir::Dims{axis}}}, name);
}

- (MPSGraphTensor*)squeezeTensor:(MPSGraphTensor*)tensor axes:(NSArray<NSNumber*>*)axes name:(NSString*)name {
  return add(self, OpCode::squeeze, {value_of(self, tensor)}, {{Attr::kAxes, numbers_of(axes)}}, name);
}

FORWARD(MPSGraphTensor*, passes(squeezeTensor), takes(axesTensor),
        sends(axes, numbers_in(self, axesTensor, "squeeze", "axes")), passes(name))

- (MPSGraphTensor*)expandDimsOfTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return add(self, OpCode::expand_dims, {value_of(self, tensor)}, {{Attr::kAxes, ir::Dims{axis}}}, name);
}

- (MPSGraphTensor*)expandDimsOfTensor:(MPSGraphTensor*)tensor axes:(NSArray<NSNumber*>*)axes name:(NSString*)name {
  return add(self, OpCode::expand_dims, {value_of(self, tensor)}, {{Attr::kAxes, numbers_of(axes)}}, name);
}

FORWARD(MPSGraphTensor*, passes(expandDimsOfTensor), takes(axesTensor),
        sends(axes, numbers_in(self, axesTensor, "expand_dims", "axes")), passes(name))

- (MPSGraphTensor*)coordinateAlongAxis:(NSInteger)axis withShape:(MPSShape*)shape name:(NSString*)name {
  return add(self, ir::Composite::coordinates, {unspecified(self, shape, ir::DType::int32)},
             {{Attr::kAxis, int64_t{axis}}}, name);
}

FORWARD(MPSGraphTensor*, takes(coordinateAlongAxisTensor),
        sends(coordinateAlongAxis, number_in(self, coordinateAlongAxisTensor, "coordinates", "an axis")),
        passes(withShape), passes(name))

- (MPSGraphTensor*)coordinateAlongAxis:(NSInteger)axis
                       withShapeTensor:(MPSGraphTensor*)shapeTensor
                                  name:(NSString*)name {
  return add(self, ir::Composite::coordinates, {unspecified(self, shapeTensor, ir::DType::int32)},
             {{Attr::kAxis, int64_t{axis}}}, name);
}

FORWARD(MPSGraphTensor*, takes(coordinateAlongAxisTensor),
        sends(coordinateAlongAxis, number_in(self, coordinateAlongAxisTensor, "coordinates", "an axis")),
        passes(withShapeTensor), passes(name))

BLOCKS(spaceToDepth2DTensor, spaceToBatchTensor, space_to_batch)
BLOCKS(depthToSpace2DTensor, batchToSpaceTensor, batch_to_space)

- (MPSGraphTensor*)reinterpretCastTensor:(MPSGraphTensor*)tensor toType:(MPSDataType)type name:(NSString*)name {
  return add(self, OpCode::bitcast, {value_of(self, tensor)}, {{Attr::kDtype, dtype_of(type)}}, name);
}

- (MPSGraphTensor*)padTensor:(MPSGraphTensor*)tensor
             withPaddingMode:(MPSGraphPaddingMode)paddingMode
                 leftPadding:(MPSShape*)leftPadding
                rightPadding:(MPSShape*)rightPadding
               constantValue:(double)constantValue
                        name:(NSString*)name {
  const ir::Value x = value_of(self, tensor);
  const ir::Dims padding = paddings_of(leftPadding, rightPadding);
  const std::string mode = word_of(paddingMode);
  if (mode != "constant") {
    return add(self, ir::Composite::pad_edges, {x}, {{Attr::kPadding, padding}, {Attr::kPadMode, mode}}, name);
  }
  const double number = paddingMode == MPSGraphPaddingModeZero ? 0 : constantValue;
  const auto literal = ir::Literal::splat({x.dtype(), ir::Shape()}, number);
  const ir::Value value = value_of(add(self, OpCode::constant, {}, {{Attr::kValue, literal}}, nil));
  return add(self, ir::Composite::pad_edges, {x, value}, {{Attr::kPadding, padding}, {Attr::kPadMode, mode}}, name);
}

- (MPSGraphTensor*)padGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradientTensor
                                            sourceTensor:(MPSGraphTensor*)sourceTensor
                                             paddingMode:(MPSGraphPaddingMode)paddingMode
                                             leftPadding:(MPSShape*)leftPadding
                                            rightPadding:(MPSShape*)rightPadding
                                                    name:(NSString*)name {
  return add(self, ir::Composite::pad_gradient, {value_of(self, incomingGradientTensor), value_of(self, sourceTensor)},
             {{Attr::kPadding, paddings_of(leftPadding, rightPadding)}, {Attr::kPadMode, word_of(paddingMode)}}, name);
}

@end
