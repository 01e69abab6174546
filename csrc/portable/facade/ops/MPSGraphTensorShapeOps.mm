// Ops that move elements, and casts.

#include <algorithm>

#include "facade/graph/build.h"
#include "ir/windows.h"

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

// Of tensors that are concatenated Apple's header asks to be broadcast-compatible along the other dimensions: where one
// is longer, those of extent 1 are repeated.
MPSGraphTensor* concatenation(MPSGraph* self, std::vector<ir::Value> values, NSInteger dimension, NSString* name) {
  const ir::Shape first = values.empty() ? ir::Shape::unranked() : values[0].shape();
  const auto along = first.ranked() ? ir::normalize_axis(dimension, first.rank()) : std::nullopt;
  const bool alike = along && std::all_of(values.begin(), values.end(), [&](const ir::Value& v) {
                       return v.shape().ranked() && v.shape().rank() == first.rank();
                     });
  ir::Dims longest = alike ? first.dims() : ir::Dims();
  for (int64_t i = 0; i < longest.size(); ++i) {
    for (const ir::Value& v : values) longest[i] = std::max(longest[i], v.shape().dims()[i]);
  }
  for (ir::Value& v : values) {
    if (!alike) break;
    ir::Dims dims = v.shape().dims();
    for (int64_t i = 0; i < first.rank(); ++i) {
      int64_t& extent = dims[i];
      if (i != *along && extent == 1) extent = longest[i];
    }
    if (dims != v.shape().dims()) {
      v = value_of(add(self, OpCode::broadcast_to, {v}, {{Attr::kShape, ir::Shape(dims)}}, nil));
    }
  }
  return add(self, OpCode::concat, values, {{Attr::kAxis, int64_t{dimension}}}, name);
}

// How much stands before and behind each axis.
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

- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                        starts:(NSArray<NSNumber*>*)starts
                          ends:(NSArray<NSNumber*>*)ends
                       strides:(NSArray<NSNumber*>*)strides
                          name:(NSString*)name {
  return [self sliceTensor:tensor
                    starts:starts
                      ends:ends
                   strides:strides
                 startMask:0
                   endMask:0
               squeezeMask:0
                      name:name];
}

- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                        starts:(NSArray<NSNumber*>*)starts
                          ends:(NSArray<NSNumber*>*)ends
                       strides:(NSArray<NSNumber*>*)strides
                     startMask:(uint32_t)startMask
                       endMask:(uint32_t)endMask
                   squeezeMask:(uint32_t)squeezeMask
                          name:(NSString*)name {
  const ir::Value x = value_of(self, tensor);
  const ir::Attributes attributes = slice_attributes(starts, ends, strides, startMask, endMask, squeezeMask);
  if (squeezeMask == 0) return add(self, OpCode::slice, {x}, attributes, name);
  MPSGraphTensor* whole = add(self, OpCode::slice, {x}, attributes, nil);
  return add(self, OpCode::squeeze, {value_of(self, whole)}, {{Attr::kAxes, axes_of_mask(squeezeMask)}}, name);
}

- (MPSGraphTensor*)sliceGradientTensor:(MPSGraphTensor*)gradient
                      fwdInShapeTensor:(MPSGraphTensor*)shapeTensor
                                starts:(NSArray<NSNumber*>*)starts
                                  ends:(NSArray<NSNumber*>*)ends
                               strides:(NSArray<NSNumber*>*)strides
                                  name:(NSString*)name {
  return [self sliceGradientTensor:gradient
                  fwdInShapeTensor:shapeTensor
                            starts:starts
                              ends:ends
                           strides:strides
                         startMask:0
                           endMask:0
                       squeezeMask:0
                              name:name];
}

- (MPSGraphTensor*)sliceGradientTensor:(MPSGraphTensor*)gradient
                      fwdInShapeTensor:(MPSGraphTensor*)shapeTensor
                                starts:(NSArray<NSNumber*>*)starts
                                  ends:(NSArray<NSNumber*>*)ends
                               strides:(NSArray<NSNumber*>*)strides
                             startMask:(uint32_t)startMask
                               endMask:(uint32_t)endMask
                           squeezeMask:(uint32_t)squeezeMask
                                  name:(NSString*)name {
  ir::Value g = value_of(self, gradient);
  const ir::Value like = unspecified(self, shapeTensor, g.dtype());
  if (squeezeMask != 0) {
    g = value_of(add(self, OpCode::expand_dims, {g}, {{Attr::kAxes, axes_of_mask(squeezeMask)}}, nil));
  }
  return add(self, OpCode::slice_gradient, {g, like},
             slice_attributes(starts, ends, strides, startMask, endMask, squeezeMask), name);
}

- (MPSGraphTensor*)concatTensor:(MPSGraphTensor*)tensor
                     withTensor:(MPSGraphTensor*)tensor2
                      dimension:(NSInteger)dimension
                           name:(NSString*)name {
  return concatenation(self, {value_of(self, tensor), value_of(self, tensor2)}, dimension, name);
}

- (MPSGraphTensor*)concatTensors:(NSArray<MPSGraphTensor*>*)tensors
                       dimension:(NSInteger)dimension
                            name:(NSString*)name {
  return concatenation(self, values_of(self, tensors), dimension, name);
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
  return add(self, OpCode::pad, {x, value}, {{Attr::kPadding, padding}}, name);
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
