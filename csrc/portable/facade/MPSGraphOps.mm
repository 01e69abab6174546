// The op selectors of MPSGraph. Table ops come from ops.def; every other selector is a few lines that name its ir op.

#import "GraphPrivate.h"

#include "ir/windows.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

// Arithmetic of a number with a bool takes the bool as a 0 or 1 of the number's type. Other types must be equal.
MPSGraphTensor* add_arithmetic(MPSGraph* graph, OpCode code, ir::Value a, ir::Value b, NSString* name) {
  auto as_number = [&](ir::Value v, ir::DType dtype) {
    const bool is_mixed = v.dtype() == ir::DType::boolean && ir::accepts(ir::TypeClass::numeric, dtype);
    return is_mixed ? value_of(add(graph, OpCode::cast, {v}, {{Attr::kDtype, dtype}}, nil)) : v;
  };
  return add(graph, code, {as_number(a, b.dtype()), as_number(b, a.dtype())}, {}, name);
}

}  // namespace

// Each row of the table as a method; the selector is the row's stem.

@implementation MPSGraph (MPSGraphArithmeticOps)

#define ALLOY_UNARY(op, stem, ...)                                                      \
  -(MPSGraphTensor*)stem##WithTensor : (MPSGraphTensor*)tensor name : (NSString*)name { \
    return add(self, OpCode::op, {value_of(self, tensor)}, {}, name);                   \
  }
#define ALLOY_PREDICATE ALLOY_UNARY
#define ALLOY_BINARY(op, stem, ...)                                                                    \
  -(MPSGraphTensor*)stem##WithPrimaryTensor : (MPSGraphTensor*)primary secondaryTensor                 \
      : (MPSGraphTensor*)secondary name : (NSString*)name {                                            \
    return add_arithmetic(self, OpCode::op, value_of(self, primary), value_of(self, secondary), name); \
  }
#define ALLOY_COMPARISON(op, stem, ...)                                                           \
  -(MPSGraphTensor*)stem##WithPrimaryTensor : (MPSGraphTensor*)primary secondaryTensor            \
      : (MPSGraphTensor*)secondary name : (NSString*)name {                                       \
    return add(self, OpCode::op, {value_of(self, primary), value_of(self, secondary)}, {}, name); \
  }
#include "ir/ops.def"

- (MPSGraphTensor*)selectWithPredicateTensor:(MPSGraphTensor*)predicate
                         truePredicateTensor:(MPSGraphTensor*)yes
                        falsePredicateTensor:(MPSGraphTensor*)no
                                        name:(NSString*)name {
  return add(self, OpCode::select, {value_of(self, predicate), value_of(self, yes), value_of(self, no)}, {}, name);
}

- (MPSGraphTensor*)clampWithTensor:(MPSGraphTensor*)tensor
                    minValueTensor:(MPSGraphTensor*)low
                    maxValueTensor:(MPSGraphTensor*)high
                              name:(NSString*)name {
  return add(self, OpCode::clamp, {value_of(self, tensor), value_of(self, low), value_of(self, high)}, {}, name);
}

@end

@implementation MPSGraph (MPSGraphActivationOps)

#define ALLOY_ACTIVATION(op, stem, ...)                                                 \
  -(MPSGraphTensor*)stem##WithTensor : (MPSGraphTensor*)tensor name : (NSString*)name { \
    return add(self, OpCode::op, {value_of(self, tensor)}, {}, name);                   \
  }
#define ALLOY_ACTIVATION_GRADIENT(op, stem, ...)                                                                       \
  -(MPSGraphTensor*)stem##WithIncomingGradient : (MPSGraphTensor*)gradient sourceTensor : (MPSGraphTensor*)source name \
      : (NSString*)name {                                                                                              \
    return add(self, OpCode::op, {value_of(self, gradient), value_of(self, source)}, {}, name);                        \
  }
#include "ir/ops.def"

- (MPSGraphTensor*)softMaxWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return add(self, OpCode::softmax, {value_of(self, tensor)}, {{Attr::kAxis, int64_t{axis}}}, name);
}

- (MPSGraphTensor*)softMaxGradientWithIncomingGradient:(MPSGraphTensor*)gradient
                                          sourceTensor:(MPSGraphTensor*)source
                                                  axis:(NSInteger)axis
                                                  name:(NSString*)name {
  const ir::Expr g = expr_of(self, gradient), x = expr_of(self, source);
  return compose(self, name, [&] { return ir::softmax_gradient(g, ir::softmax(x, axis), axis); });
}

@end

@implementation MPSGraph (MPSGraphReductionOps)

#define ALLOY_REDUCTION(op, stem, ...)                                                                          \
  -(MPSGraphTensor*)stem##WithTensor : (MPSGraphTensor*)tensor axis : (NSInteger)axis name : (NSString*)name {  \
    return add(self, OpCode::op, {value_of(self, tensor)}, {{Attr::kAxes, ir::Dims{axis}}}, name);              \
  }                                                                                                             \
  -(MPSGraphTensor*)stem##WithTensor : (MPSGraphTensor*)tensor axes : (NSArray<NSNumber*>*)axes name            \
      : (NSString*)name {                                                                                       \
    return add(self, OpCode::op, {value_of(self, tensor)}, {{Attr::kAxes, axes_of(self, tensor, axes)}}, name); \
  }
#define ALLOY_ARG_REDUCTION(op, stem, ...)                                                                     \
  -(MPSGraphTensor*)stem##WithTensor : (MPSGraphTensor*)tensor axis : (NSInteger)axis name : (NSString*)name { \
    return add(self, OpCode::op, {value_of(self, tensor)}, {{Attr::kAxis, int64_t{axis}}}, name);              \
  }
#include "ir/ops.def"

@end

@implementation MPSGraph (MPSGraphNormalizationOps)

#define ALLOY_MOMENT(op, stem, ...)                                                                                    \
  -(MPSGraphTensor*)stem##OfTensor : (MPSGraphTensor*)tensor axes : (NSArray<NSNumber*>*)axes name : (NSString*)name { \
    return add(self, OpCode::op, {value_of(self, tensor)}, {{Attr::kAxes, axes_of(self, tensor, axes)}}, name);        \
  }
#include "ir/ops.def"

- (MPSGraphTensor*)varianceOfTensor:(MPSGraphTensor*)tensor
                         meanTensor:(MPSGraphTensor*)mean
                               axes:(NSArray<NSNumber*>*)axes
                               name:(NSString*)name {
  const ir::Expr x = expr_of(self, tensor), m = expr_of(self, mean);
  const ir::Dims over = axes_of(self, tensor, axes);
  return compose(self, name, [&] { return ir::mean(ir::square(x - m), over); });
}

- (MPSGraphTensor*)normalizationWithTensor:(MPSGraphTensor*)tensor
                                meanTensor:(MPSGraphTensor*)mean
                            varianceTensor:(MPSGraphTensor*)variance
                               gammaTensor:(MPSGraphTensor*)gamma
                                betaTensor:(MPSGraphTensor*)beta
                                   epsilon:(float)epsilon
                                      name:(NSString*)name {
  const ir::Expr x = expr_of(self, tensor), m = expr_of(self, mean), v = expr_of(self, variance);
  const ir::Expr scale = gamma == nil ? ir::none : expr_of(self, gamma),
                 shift = beta == nil ? ir::none : expr_of(self, beta);
  return compose(self, name, [&] {
    ir::Expr y = (x - m) * ir::rsqrt(v + static_cast<double>(epsilon));
    if (scale) y = y * scale;
    return shift ? y + shift : y;
  });
}

- (MPSGraphTensor*)normalizationGammaGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                           sourceTensor:(MPSGraphTensor*)source
                                                             meanTensor:(MPSGraphTensor*)mean
                                                         varianceTensor:(MPSGraphTensor*)variance
                                                          reductionAxes:(NSArray<NSNumber*>*)axes
                                                                epsilon:(float)epsilon
                                                                   name:(NSString*)name {
  const ir::Expr g = expr_of(self, gradient), x = expr_of(self, source), m = expr_of(self, mean),
                 v = expr_of(self, variance);
  const ir::Dims over = axes_of(self, source, axes);
  return compose(self, name, [&] { return ir::sum(g * (x - m) * ir::rsqrt(v + static_cast<double>(epsilon)), over); });
}

- (MPSGraphTensor*)normalizationBetaGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                          sourceTensor:(MPSGraphTensor*)source
                                                         reductionAxes:(NSArray<NSNumber*>*)axes
                                                                  name:(NSString*)name {
  const ir::Expr g = expr_of(self, gradient);
  const ir::Dims over = axes_of(self, source, axes);
  return compose(self, name, [&] { return ir::sum(g, over); });
}

- (MPSGraphTensor*)normalizationGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                      sourceTensor:(MPSGraphTensor*)source
                                                        meanTensor:(MPSGraphTensor*)mean
                                                    varianceTensor:(MPSGraphTensor*)variance
                                                       gammaTensor:(MPSGraphTensor*)gamma
                                               gammaGradientTensor:(MPSGraphTensor*)gammaGradient
                                                betaGradientTensor:(MPSGraphTensor*)betaGradient
                                                     reductionAxes:(NSArray<NSNumber*>*)axes
                                                           epsilon:(float)epsilon
                                                              name:(NSString*)name {
  const ir::Expr g = expr_of(self, gradient), x = expr_of(self, source), m = expr_of(self, mean),
                 v = expr_of(self, variance);
  const ir::Expr scale = gamma == nil ? ir::none : expr_of(self, gamma);
  const ir::Expr given_gamma = gammaGradient == nil ? ir::none : expr_of(self, gammaGradient);
  const ir::Expr given_beta = betaGradient == nil ? ir::none : expr_of(self, betaGradient);
  const ir::Dims over = axes_of(self, source, axes);
  return compose(self, name, [&] {
    const ir::Expr inverse = ir::rsqrt(v + static_cast<double>(epsilon)), xhat = (x - m) * inverse,
                   n = ir::count(x, over);
    const ir::Expr gamma_gradient = given_gamma ? given_gamma : ir::sum(g * xhat, over);
    const ir::Expr beta_gradient = given_beta ? given_beta : ir::sum(g, over);
    const ir::Expr dx = inverse * (g - beta_gradient / n - xhat * gamma_gradient / n);
    return scale ? dx * scale : dx;
  });
}

@end

@implementation MPSGraph (MPSGraphMatrixMultiplicationOps)

- (MPSGraphTensor*)matrixMultiplicationWithPrimaryTensor:(MPSGraphTensor*)primary
                                         secondaryTensor:(MPSGraphTensor*)secondary
                                                    name:(NSString*)name {
  return add(self, OpCode::matmul, {value_of(self, primary), value_of(self, secondary)}, {}, name);
}

@end

namespace {

std::string word_of(MPSGraphLossReductionType type) {
  if (type > MPSGraphLossReductionTypeMean) {
    raise_invalid(@"[softMaxCrossEntropy] The reduction type %d is unknown.", static_cast<int>(type));
  }
  return type == MPSGraphLossReductionTypeSum ? "sum" : type == MPSGraphLossReductionTypeMean ? "mean" : "none";
}

}  // namespace

@implementation MPSGraph (MPSGraphLossOps)

- (MPSGraphTensor*)softMaxCrossEntropyWithSourceTensor:(MPSGraphTensor*)source
                                          labelsTensor:(MPSGraphTensor*)labels
                                                  axis:(NSInteger)axis
                                         reductionType:(MPSGraphLossReductionType)reductionType
                                                  name:(NSString*)name {
  return add(self, OpCode::softmax_cross_entropy, {value_of(self, source), value_of(self, labels)},
             {{Attr::kAxis, int64_t{axis}}, {Attr::kReduction, word_of(reductionType)}}, name);
}

- (MPSGraphTensor*)softMaxCrossEntropyGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                            sourceTensor:(MPSGraphTensor*)source
                                                            labelsTensor:(MPSGraphTensor*)labels
                                                                    axis:(NSInteger)axis
                                                           reductionType:(MPSGraphLossReductionType)reductionType
                                                                    name:(NSString*)name {
  const ir::Expr g = expr_of(self, gradient), x = expr_of(self, source), l = expr_of(self, labels);
  const std::string reduction = word_of(reductionType);
  return compose(self, name, [&] { return ir::softmax_cross_entropy_gradient(g, x, l, axis, reduction); });
}

@end

namespace {

ir::Dims pair(NSUInteger y, NSUInteger x) { return {static_cast<int64_t>(y), static_cast<int64_t>(x)}; }

std::string layout_word(MPSGraphTensorNamedDataLayout layout, NSString* method) {
  switch (layout) {
    case MPSGraphTensorNamedDataLayoutNCHW: return "NCHW";
    case MPSGraphTensorNamedDataLayoutNHWC: return "NHWC";
    case MPSGraphTensorNamedDataLayoutOIHW: return "OIHW";
    case MPSGraphTensorNamedDataLayoutHWIO: return "HWIO";
    default: raise_invalid(@"[%@] The layout %d is not one of images or weights.", method, static_cast<int>(layout));
  }
}

std::string style_word(MPSGraphPaddingStyle style, NSString* method) {
  switch (style) {
    case MPSGraphPaddingStyleExplicit: return "explicit";
    case MPSGraphPaddingStyleTF_VALID: return "valid";
    case MPSGraphPaddingStyleTF_SAME: return "same";
    case MPSGraphPaddingStyleONNX_SAME_LOWER: return "same_lower";
    default: raise_invalid(@"[%@] The padding style %d is not for this op.", method, static_cast<int>(style));
  }
}

// What convolutions and poolings have in common; the two descriptors share these properties.
template <class Descriptor>
ir::Attributes window_attributes(Descriptor* d, NSString* method) {
  if (d == nil) raise_invalid(@"[%@] A descriptor was expected, got nil.", method);
  return {{Attr::kStrides, pair([d strideInY], [d strideInX])},
          {Attr::kDilations, pair([d dilationRateInY], [d dilationRateInX])},
          {Attr::kPadding, ir::Dims{static_cast<int64_t>([d paddingTop]), static_cast<int64_t>([d paddingBottom]),
                                    static_cast<int64_t>([d paddingLeft]), static_cast<int64_t>([d paddingRight])}},
          {Attr::kPaddingStyle, style_word([d paddingStyle], method)},
          {Attr::kDataLayout, layout_word([d dataLayout], method)}};
}

ir::Attributes attributes_of(MPSGraphConvolution2DOpDescriptor* d) {
  ir::Attributes attributes = window_attributes(d, @"convolution2D");
  attributes.set(Attr::kWeightsLayout, layout_word([d weightsLayout], @"convolution2D"));
  attributes.set(Attr::kGroups, static_cast<int64_t>([d groups]));
  return attributes;
}

ir::Attributes attributes_of(MPSGraphPooling2DOpDescriptor* d) {
  ir::Attributes attributes = window_attributes(d, @"pooling2D");
  attributes.set(Attr::kWindow, pair([d kernelHeight], [d kernelWidth]));
  attributes.set(Attr::kCeilMode, static_cast<bool>([d ceilMode]));
  attributes.set(Attr::kIncludePadding, static_cast<bool>([d includeZeroPadToAverage]));
  return attributes;
}

}  // namespace

@implementation MPSGraph (MPSGraphConvolutionOps)

- (MPSGraphTensor*)convolution2DWithSourceTensor:(MPSGraphTensor*)source
                                   weightsTensor:(MPSGraphTensor*)weights
                                      descriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                            name:(NSString*)name {
  return add(self, OpCode::conv2d, {value_of(self, source), value_of(self, weights)}, attributes_of(descriptor), name);
}

- (MPSGraphTensor*)convolution2DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                         weightsTensor:(MPSGraphTensor*)weights
                                                           outputShape:(MPSShape*)outputShape
                                          forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                  name:(NSString*)name {
  const ir::Value g = value_of(self, gradient), w = value_of(self, weights);
  return add(self, OpCode::conv2d_data_gradient, {g, w, empty(self, outputShape, g.dtype())}, attributes_of(descriptor),
             name);
}

- (MPSGraphTensor*)convolution2DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                         weightsTensor:(MPSGraphTensor*)weights
                                                     outputShapeTensor:(MPSGraphTensor*)shapeTensor
                                          forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                  name:(NSString*)name {
  const ir::Value g = value_of(self, gradient), w = value_of(self, weights);
  const ir::Value like = shaped(self, shapeTensor, g.dtype());
  return add(self, OpCode::conv2d_data_gradient, {g, w, like}, attributes_of(descriptor), name);
}

- (MPSGraphTensor*)convolution2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                             sourceTensor:(MPSGraphTensor*)source
                                                              outputShape:(MPSShape*)outputShape
                                             forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                     name:(NSString*)name {
  const ir::Value g = value_of(self, gradient), x = value_of(self, source);
  return add(self, OpCode::conv2d_weights_gradient, {g, x, empty(self, outputShape, g.dtype())},
             attributes_of(descriptor), name);
}

- (MPSGraphTensor*)convolution2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                             sourceTensor:(MPSGraphTensor*)source
                                                        outputShapeTensor:(MPSGraphTensor*)shapeTensor
                                             forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                     name:(NSString*)name {
  const ir::Value g = value_of(self, gradient), x = value_of(self, source);
  const ir::Value like = shaped(self, shapeTensor, g.dtype());
  return add(self, OpCode::conv2d_weights_gradient, {g, x, like}, attributes_of(descriptor), name);
}

@end

namespace {

// A pooling of images, or of one image without its batch axis; every operand is an image.
MPSGraphTensor* pool(MPSGraph* graph, OpCode code, std::vector<ir::Value> operands,
                     MPSGraphPooling2DOpDescriptor* descriptor, NSString* name) {
  const ir::Attributes attributes = attributes_of(descriptor);
  const ir::Shape shape = operands.back().shape();
  if (!shape.ranked() || shape.rank() != 3) return add(graph, code, operands, attributes, name);
  const ir::Attributes batch{{Attr::kAxes, ir::Dims{0}}};
  for (ir::Value& v : operands) v = value_of(add(graph, OpCode::expand_dims, {v}, batch, nil));
  return add(graph, OpCode::squeeze, {value_of(add(graph, code, operands, attributes, nil))}, batch, name);
}

}  // namespace

@implementation MPSGraph (MPSGraphPoolingOps)

- (MPSGraphTensor*)maxPooling2DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                           name:(NSString*)name {
  return pool(self, OpCode::max_pool2d, {value_of(self, source)}, descriptor, name);
}

- (MPSGraphTensor*)maxPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  return pool(self, OpCode::max_pool2d_gradient, {value_of(self, gradient), value_of(self, source)}, descriptor, name);
}

- (MPSGraphTensor*)avgPooling2DWithSourceTensor:(MPSGraphTensor*)source
                                     descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                           name:(NSString*)name {
  return pool(self, OpCode::avg_pool2d, {value_of(self, source)}, descriptor, name);
}

- (MPSGraphTensor*)avgPooling2DGradientWithGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                               descriptor:(MPSGraphPooling2DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  return pool(self, OpCode::avg_pool2d_gradient, {value_of(self, gradient), value_of(self, source)}, descriptor, name);
}

@end

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
  for (size_t i = 0; i < std::min({from.size(), to.size(), by.size(), size_t{32}}); ++i) {
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

}  // namespace

namespace {

// Of tensors that are concatenated Apple's header asks to be broadcast-compatible along the other dimensions: where one
// is longer, those of extent 1 are repeated.
MPSGraphTensor* concatenation(MPSGraph* self, std::vector<ir::Value> values, NSInteger dimension, NSString* name) {
  const ir::Shape first = values.empty() ? ir::Shape::unranked() : values[0].shape();
  const auto along = first.ranked() ? ir::normalize_axis(dimension, first.rank()) : std::nullopt;
  const bool alike = along && std::all_of(values.begin(), values.end(), [&](const ir::Value& v) {
                       return v.shape().ranked() && v.shape().rank() == first.rank();
                     });
  ir::Dims longest = alike ? first.dims() : ir::Dims();
  for (size_t i = 0; i < longest.size(); ++i) {
    for (const ir::Value& v : values) longest[i] = std::max(longest[i], v.shape().dims()[i]);
  }
  for (ir::Value& v : values) {
    if (!alike) break;
    ir::Dims dims = v.shape().dims();
    for (int64_t i = 0; i < first.rank(); ++i) {
      int64_t& extent = dims[static_cast<size_t>(i)];
      if (i != *along && extent == 1) extent = longest[static_cast<size_t>(i)];
    }
    if (dims != v.shape().dims()) {
      v = value_of(add(self, OpCode::broadcast_to, {v}, {{Attr::kShape, ir::Shape(dims)}}, nil));
    }
  }
  return add(self, OpCode::concat, values, {{Attr::kAxis, int64_t{dimension}}}, name);
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
  return add(self, OpCode::reshape_like, {x, shaped(self, shapeTensor, x.dtype())}, {}, name);
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
  const auto rank = static_cast<size_t>(x.shape().rank());
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
  starts[static_cast<size_t>(*axis)] = from;
  ends[static_cast<size_t>(*axis)] = from < 0 && from + length == 0 ? ir::kSliceToEnd : from + length;
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
  const ir::Value like = shaped(self, shapeTensor, g.dtype());
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
  return add(self, OpCode::broadcast_like, {x, shaped(self, shapeTensor, x.dtype())}, {}, name);
}

- (MPSGraphTensor*)shapeOfTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add(self, OpCode::shape_of, {value_of(self, tensor)}, {}, name);
}

- (MPSGraphTensor*)castTensor:(MPSGraphTensor*)tensor toType:(MPSDataType)type name:(NSString*)name {
  return add(self, OpCode::cast, {value_of(self, tensor)}, {{Attr::kDtype, dtype_of(type)}}, name);
}

@end

@implementation MPSGraph (MPSGraphOptimizerOps)

- (MPSGraphTensor*)stochasticGradientDescentWithLearningRateTensor:(MPSGraphTensor*)rate
                                                      valuesTensor:(MPSGraphTensor*)values
                                                    gradientTensor:(MPSGraphTensor*)gradient
                                                              name:(NSString*)name {
  return add(self, OpCode::sgd, {value_of(self, rate), value_of(self, values), value_of(self, gradient)}, {}, name);
}

- (MPSGraphOperation*)applyStochasticGradientDescentWithLearningRateTensor:(MPSGraphTensor*)rate
                                                                  variable:(MPSGraphVariableOp*)variable
                                                            gradientTensor:(MPSGraphTensor*)gradient
                                                                      name:(NSString*)name {
  MPSGraphTensor* values = tensor_of(graph_of(self), {op_of(self, variable), 0});
  MPSGraphTensor* updated = [self stochasticGradientDescentWithLearningRateTensor:rate
                                                                     valuesTensor:values
                                                                   gradientTensor:gradient
                                                                             name:nil];
  return [self assignVariable:values withValueOfTensor:updated name:name];
}

- (NSArray<MPSGraphTensor*>*)adamWithLearningRateTensor:(MPSGraphTensor*)rate
                                            beta1Tensor:(MPSGraphTensor*)beta1
                                            beta2Tensor:(MPSGraphTensor*)beta2
                                          epsilonTensor:(MPSGraphTensor*)epsilon
                                       beta1PowerTensor:(MPSGraphTensor*)beta1Power
                                       beta2PowerTensor:(MPSGraphTensor*)beta2Power
                                           valuesTensor:(MPSGraphTensor*)values
                                         momentumTensor:(MPSGraphTensor*)momentum
                                         velocityTensor:(MPSGraphTensor*)velocity
                                  maximumVelocityTensor:(MPSGraphTensor*)maximumVelocity
                                         gradientTensor:(MPSGraphTensor*)gradient
                                                   name:(NSString*)name {
  const ir::Expr lr = expr_of(self, rate), power1 = expr_of(self, beta1Power), power2 = expr_of(self, beta2Power);
  MPSGraphTensor* corrected = compose(self, nil, [&] { return lr * ir::sqrt(1.0 - power2) / (1.0 - power1); });
  return [self adamWithCurrentLearningRateTensor:corrected
                                     beta1Tensor:beta1
                                     beta2Tensor:beta2
                                   epsilonTensor:epsilon
                                    valuesTensor:values
                                  momentumTensor:momentum
                                  velocityTensor:velocity
                           maximumVelocityTensor:maximumVelocity
                                  gradientTensor:gradient
                                            name:name];
}

- (NSArray<MPSGraphTensor*>*)adamWithCurrentLearningRateTensor:(MPSGraphTensor*)rate
                                                   beta1Tensor:(MPSGraphTensor*)beta1
                                                   beta2Tensor:(MPSGraphTensor*)beta2
                                                 epsilonTensor:(MPSGraphTensor*)epsilon
                                                  valuesTensor:(MPSGraphTensor*)values
                                                momentumTensor:(MPSGraphTensor*)momentum
                                                velocityTensor:(MPSGraphTensor*)velocity
                                         maximumVelocityTensor:(MPSGraphTensor*)maximumVelocity
                                                gradientTensor:(MPSGraphTensor*)gradient
                                                          name:(NSString*)name {
  std::vector<ir::Value> operands;
  for (MPSGraphTensor* tensor : {rate, beta1, beta2, epsilon, values, momentum, velocity}) {
    operands.push_back(value_of(self, tensor));
  }
  if (maximumVelocity != nil) operands.push_back(value_of(self, maximumVelocity));
  operands.push_back(value_of(self, gradient));
  return [operation_of(graph_of(self), add_op(self, OpCode::adam, operands, {}, name)) outputTensors];
}

@end
