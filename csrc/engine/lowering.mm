#import "engine/lowering.h"

#import "engine/graph_impl.h"
#include "engine/stats.h"
#include "ir/windows.h"

namespace alloy::engine {
namespace {

using ir::Attr;
using ir::Dims;
using ir::OpCode;
using ir::Shape;

NSArray<NSNumber*>* numbers(const Dims& dims) {
  NSMutableArray* array = [NSMutableArray arrayWithCapacity:dims.size()];
  for (int64_t d : dims) [array addObject:[NSNumber numberWithLongLong:d]];
  return array;
}

NSString* string(const std::string& text) { return text.empty() ? nil : [NSString stringWithUTF8String:text.c_str()]; }

MPSGraphTensorNamedDataLayout layout(const std::string& word) {
  return word == "NCHW"   ? MPSGraphTensorNamedDataLayoutNCHW
         : word == "NHWC" ? MPSGraphTensorNamedDataLayoutNHWC
         : word == "OIHW" ? MPSGraphTensorNamedDataLayoutOIHW
                          : MPSGraphTensorNamedDataLayoutHWIO;
}

// The window geometry with its padding resolved: the framework gets explicit numbers, so that only ir decides what "same" means.
struct Geometry {
  const ir::Attributes& attributes;
  ir::Window height, width;

  Geometry(const ir::Op& op, const Shape& source, int64_t window_height, int64_t window_width) : attributes(op.attributes) {
    const auto axes = ir::LayoutAxes::of_data(attributes.word(Attr::kDataLayout));
    height = ir::window_of(attributes, 0, window_height, source[axes.height]);
    width = ir::window_of(attributes, 1, window_width, source[axes.width]);
  }
};

MPSGraphConvolution2DOpDescriptor* convolution(const ir::Op& op, const Shape& source, const Shape& weights) {
  const auto axes = ir::WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout));
  const Geometry g(op, source, weights[axes.height], weights[axes.width]);
  return [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:static_cast<NSUInteger>(g.width.stride)
                                                          strideInY:static_cast<NSUInteger>(g.height.stride)
                                                    dilationRateInX:static_cast<NSUInteger>(g.width.dilation)
                                                    dilationRateInY:static_cast<NSUInteger>(g.height.dilation)
                                                             groups:static_cast<NSUInteger>(op.attributes.integer(Attr::kGroups))
                                                        paddingLeft:static_cast<NSUInteger>(g.width.before)
                                                       paddingRight:static_cast<NSUInteger>(g.width.after)
                                                         paddingTop:static_cast<NSUInteger>(g.height.before)
                                                      paddingBottom:static_cast<NSUInteger>(g.height.after)
                                                       paddingStyle:MPSGraphPaddingStyleExplicit
                                                         dataLayout:layout(op.attributes.word(Attr::kDataLayout))
                                                      weightsLayout:layout(op.attributes.word(Attr::kWeightsLayout))];
}

MPSGraphPooling2DOpDescriptor* pooling(const ir::Op& op, const Shape& source) {
  const Dims& window = op.attributes.ints(Attr::kWindow);
  const Geometry g(op, source, window[0], window[1]);
  MPSGraphPooling2DOpDescriptor* descriptor =
      [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:static_cast<NSUInteger>(window[1])
                                                  kernelHeight:static_cast<NSUInteger>(window[0])
                                                     strideInX:static_cast<NSUInteger>(g.width.stride)
                                                     strideInY:static_cast<NSUInteger>(g.height.stride)
                                               dilationRateInX:static_cast<NSUInteger>(g.width.dilation)
                                               dilationRateInY:static_cast<NSUInteger>(g.height.dilation)
                                                   paddingLeft:static_cast<NSUInteger>(g.width.before)
                                                  paddingRight:static_cast<NSUInteger>(g.width.after)
                                                    paddingTop:static_cast<NSUInteger>(g.height.before)
                                                 paddingBottom:static_cast<NSUInteger>(g.height.after)
                                                  paddingStyle:MPSGraphPaddingStyleExplicit
                                                    dataLayout:layout(op.attributes.word(Attr::kDataLayout))];
  [descriptor setCeilMode:op.attributes.flag(Attr::kCeilMode)];
  [descriptor setIncludeZeroPadToAverage:op.attributes.flag(Attr::kIncludePadding)];
  return descriptor;
}

// A slice in the framework's terms: every start and end resolved, and a mask where a backward slice runs past the first element.
struct SliceWords {
  Dims starts, ends, strides;
  uint32_t end_mask = 0;

  SliceWords(const ir::Op& op, const Shape& source) {
    for (int64_t i = 0; i < source.rank(); ++i) {
      const auto at = static_cast<size_t>(i);
      const auto s = ir::resolve_slice(op.attributes.ints(Attr::kStarts)[at], op.attributes.ints(Attr::kEnds)[at],
                                       op.attributes.ints(Attr::kStrides)[at], source[i]);
      const int64_t end = s.start + s.length * s.stride;
      starts.push_back(s.start);
      ends.push_back(std::min(std::max<int64_t>(end, 0), source[i]));
      strides.push_back(s.stride);
      if (s.stride < 0 && end < 0) end_mask |= 1u << i;
    }
  }
};

MPSGraphTensor* made_constant(MPSGraph* graph, const ir::Literal& literal) {
  const ir::Type& type = literal.type();
  if (literal.is_splat()) return [graph constantWithScalar:literal.at(0) shape:mps_shape(type.shape) dataType:mps_type(type.dtype)];
  NSData* data = [NSData dataWithBytes:literal.bytes().data() length:literal.bytes().size()];
  if (type.shape.rank() > 0) return [graph constantWithData:data shape:mps_shape(type.shape) dataType:mps_type(type.dtype)];
  // Apple's framework refuses an empty shape here.
  MPSGraphTensor* one = [graph constantWithData:data shape:numbers({1}) dataType:mps_type(type.dtype)];
  return [graph reshapeTensor:one withShape:numbers({}) name:nil];
}

MPSGraphTensor* zeros(MPSGraph* graph, Dims dims, size_t axis, int64_t extent, ir::DType dtype) {
  dims[axis] = extent;
  return [graph constantWithScalar:0 shape:numbers(dims) dataType:mps_type(dtype)];
}

// The adjoint of a strided slice along one axis: zeros between the elements, before and after. Made of concatenations, because Apple's
// slice gradient is wrong for strides other than 1.
MPSGraphTensor* spread(MPSGraph* graph, MPSGraphTensor* g, Dims& dims, size_t axis, const ir::SliceAxis& s, int64_t extent, ir::DType dtype) {
  const auto along = static_cast<NSInteger>(axis);
  const int64_t stride = std::abs(s.stride), length = dims[axis];
  if (s.stride < 0) {
    Dims starts(dims.size(), 0), ends = dims, strides(dims.size(), 1);
    starts[axis] = length - 1;
    strides[axis] = -1;
    g = [graph sliceTensor:g starts:numbers(starts) ends:numbers(ends) strides:numbers(strides) startMask:0
                   endMask:1u << axis squeezeMask:0 name:nil];
  }
  if (stride > 1) {
    Dims split = dims;
    split.insert(split.begin() + along + 1, 1);
    MPSGraphTensor* column = [graph reshapeTensor:g withShape:numbers(split) name:nil];
    g = [graph concatTensors:@[ column, zeros(graph, split, axis + 1, stride - 1, dtype) ] dimension:along + 1 name:nil];
    dims[axis] = length * stride;
    g = [graph reshapeTensor:g withShape:numbers(dims) name:nil];
    dims[axis] = (length - 1) * stride + 1;
    g = [graph sliceTensor:g dimension:axis start:0 length:dims[axis] name:nil];
  }
  const int64_t first = s.stride < 0 ? s.start + (s.length - 1) * s.stride : s.start;
  NSMutableArray* parts = [NSMutableArray array];
  if (first > 0) [parts addObject:zeros(graph, dims, axis, first, dtype)];
  [parts addObject:g];
  if (const int64_t rest = extent - first - dims[axis]; rest > 0) [parts addObject:zeros(graph, dims, axis, rest, dtype)];
  dims[axis] = extent;
  return [parts count] == 1 ? g : [graph concatTensors:parts dimension:along name:nil];
}

MPSGraphTensor* slice_gradient(MPSGraph* graph, const ir::Op& op, MPSGraphTensor* g) {
  const Shape& shape = op.results[0].shape;
  const ir::DType dtype = op.results[0].dtype;
  if (op.operands[0].shape().element_count() == 0) return [graph constantWithScalar:0 shape:mps_shape(shape) dataType:mps_type(dtype)];
  Dims dims = op.operands[0].shape().dims();
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const auto s = ir::resolve_slice(op.attributes.ints(Attr::kStarts)[axis], op.attributes.ints(Attr::kEnds)[axis],
                                     op.attributes.ints(Attr::kStrides)[axis], shape.dims()[axis]);
    g = spread(graph, g, dims, axis, s, shape.dims()[axis], dtype);
  }
  return g;
}

MPSGraphTensor* log_softmax(MPSGraph* graph, MPSGraphTensor* x, NSInteger axis, NSString* name) {
  MPSGraphTensor* shifted = [graph subtractionWithPrimaryTensor:x secondaryTensor:[graph reductionMaximumWithTensor:x axis:axis name:nil] name:nil];
  MPSGraphTensor* total = [graph reductionSumWithTensor:[graph exponentWithTensor:shifted name:nil] axis:axis name:nil];
  return [graph subtractionWithPrimaryTensor:shifted secondaryTensor:[graph logarithmWithTensor:total name:nil] name:name];
}

// Sums `x` down to `shape`, which broadcasts to it.
MPSGraphTensor* reduce_to(MPSGraph* graph, MPSGraphTensor* x, const Shape& from, const Shape& shape, NSString* name) {
  Dims axes;
  const int64_t offset = from.rank() - shape.rank();
  for (int64_t i = 0; i < from.rank(); ++i) {
    if (i < offset || (shape[i - offset] == 1 && from[i] != 1)) axes.push_back(i);
  }
  if (!axes.empty()) x = [graph reductionSumWithTensor:x axes:numbers(axes) name:name];
  return [graph reshapeTensor:x withShape:mps_shape(shape) name:name];
}

double reduced_count(const ir::Op& op) {
  double count = 1;
  const Shape& shape = op.operands[0].shape();
  std::vector<bool> seen(static_cast<size_t>(shape.rank()), false);
  for (int64_t axis : op.attributes.ints(Attr::kAxes)) {
    const auto i = static_cast<size_t>(*ir::normalize_axis(axis, shape.rank()));
    if (!seen[i]) count *= static_cast<double>(shape.dims()[i]);
    seen[i] = true;
  }
  return count;
}

}  // namespace

MPSDataType mps_type(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::float32: return MPSDataTypeFloat32;
    case ir::DType::float16: return MPSDataTypeFloat16;
    case ir::DType::bfloat16: return static_cast<MPSDataType>(0x90000010);  // named in macOS 14's headers and newer
    case ir::DType::int8: return MPSDataTypeInt8;
    case ir::DType::int16: return MPSDataTypeInt16;
    case ir::DType::int32: return MPSDataTypeInt32;
    case ir::DType::int64: return MPSDataTypeInt64;
    case ir::DType::uint8: return MPSDataTypeUInt8;
    case ir::DType::uint16: return MPSDataTypeUInt16;
    case ir::DType::uint32: return MPSDataTypeUInt32;
    case ir::DType::uint64: return MPSDataTypeUInt64;
    case ir::DType::boolean: return MPSDataTypeBool;
    case ir::DType::complex32: return static_cast<MPSDataType>(0x11000020);
    case ir::DType::complex64: return static_cast<MPSDataType>(0x11000040);
  }
  return MPSDataTypeInvalid;
}

MPSShape* mps_shape(const ir::Shape& shape) { return numbers(shape.dims()); }

Lowering::Lowering(Graph& graph) : owner_(graph), graph_(graph.impl().framework->graph.get()) {}

void Lowering::lower(const ir::Graph& graph) {
  for (const auto& op : graph.body().ops) lower(*op);
}

void Lowering::lower(const ir::Op& op) {
  if (op.after.empty()) return lower_now(op);
  NSMutableArray* before = [NSMutableArray array];
  for (const ir::Op* other : op.after) {
    const auto found = operations_.find(other);
    [before addObject:found != operations_.end() ? found->second : [tensors_.at({const_cast<ir::Op*>(other), 0}) operation]];
  }
  const ir::Op* pointer = &op;
  [graph_ controlDependencyWithOperations:before
                           dependentBlock:^NSArray<MPSGraphTensor*>* {
                             lower_now(*pointer);
                             return @[];
                           }
                                     name:nil];
}

void Lowering::lower_now(const ir::Op& op) {
  NSString* name = string(op.name);
  if (op.code == OpCode::assign) {
    operations_[&op] = [graph_ assignVariable:x(op, 0) withValueOfTensor:x(op, 1) name:name];
  } else if (op.code == OpCode::adam) {
    const bool has_maximum = op.operands.size() == 9;
    NSArray* results = [graph_ adamWithCurrentLearningRateTensor:x(op, 0)
                                                     beta1Tensor:x(op, 1)
                                                     beta2Tensor:x(op, 2)
                                                   epsilonTensor:x(op, 3)
                                                    valuesTensor:x(op, 4)
                                                  momentumTensor:x(op, 5)
                                                  velocityTensor:x(op, 6)
                                           maximumVelocityTensor:has_maximum ? x(op, 7) : nil
                                                  gradientTensor:x(op, op.operands.size() - 1)
                                                            name:name];
    for (uint32_t i = 0; i < op.results.size(); ++i) tensors_[{const_cast<ir::Op*>(&op), i}] = [results objectAtIndex:i];
  } else {
    tensors_[{const_cast<ir::Op*>(&op), 0}] = result(op, name);
  }
}

MPSGraphTensor* Lowering::variable(const ir::Op& op) {
  VariableTensors& variables = owner_.impl().framework->variables;
  const int64_t slot = op.attributes.integer(Attr::kSlot);
  if (const auto known = variables.find(slot); known != variables.end()) return known->second;
  const ir::Type& type = op.results[0];
  NSString* name = string(op.name);
  MPSGraphTensor* tensor = nil;
  if (owner_.storage() == Storage::kBuffers) {
    owner_.impl().buffers_of(slot);
    tensor = [graph_ placeholderWithShape:mps_shape(type.shape) dataType:mps_type(type.dtype) name:name];
  } else {
    const auto data = Ref<NSMutableData*>::adopt([[NSMutableData alloc] initWithLength:type.byte_count()]);
    owner_.initial_value(slot)->fill(static_cast<std::byte*>([data.get() mutableBytes]));
    tensor = [graph_ variableWithData:data.get() shape:mps_shape(type.shape) dataType:mps_type(type.dtype) name:name];
    counters().bytes_to_device += type.byte_count();
    owner_.forget_initial(slot);
  }
  variables.emplace(slot, tensor);
  return tensor;
}

MPSGraphTensor* Lowering::constant(const ir::Op& op) {
  ConstantTensors& constants = owner_.impl().framework->constants;
  const auto& literal = op.attributes.get<ir::LiteralRef>(Attr::kValue);
  if (const auto known = constants.find(literal); known != constants.end()) return known->second;
  MPSGraphTensor* tensor = made_constant(graph_, *literal);
  constants.emplace(literal, tensor);
  return tensor;
}

MPSGraphTensor* Lowering::matrix(const ir::Op& op, size_t i, Attr transposes) {
  if (!op.attributes.flag(transposes)) return x(op, i);
  const auto rank = static_cast<NSUInteger>(op.operands[i].shape().rank());
  return [graph_ transposeTensor:x(op, i) dimension:rank - 2 withDimension:rank - 1 name:nil];
}

MPSGraphTensor* Lowering::result(const ir::Op& op, NSString* name) {
  const ir::Type& type = op.results[0];
  const auto axis = [&] { return static_cast<NSInteger>(*ir::normalize_axis(op.attributes.integer(Attr::kAxis), op.operands[0].shape().rank())); };
  [[maybe_unused]] const auto axes = [&] {
    Dims normal;
    for (int64_t a : op.attributes.ints(Attr::kAxes)) normal.push_back(*ir::normalize_axis(a, op.operands[0].shape().rank()));
    return numbers(normal);
  };
  switch (op.code) {
#define ALLOY_UNARY(op_name, stem, ...) \
  case OpCode::op_name: return [graph_ stem##WithTensor:x(op) name:name];
#define ALLOY_ACTIVATION ALLOY_UNARY
#define ALLOY_BINARY(op_name, stem, ...) \
  case OpCode::op_name: return [graph_ stem##WithPrimaryTensor:x(op, 0) secondaryTensor:x(op, 1) name:name];
#define ALLOY_COMPARISON ALLOY_BINARY
#define ALLOY_ACTIVATION_GRADIENT(op_name, stem, ...) \
  case OpCode::op_name: return [graph_ stem##WithIncomingGradient:x(op, 0) sourceTensor:x(op, 1) name:name];
#define ALLOY_REDUCTION(op_name, stem, ...) \
  case OpCode::op_name: return [graph_ stem##WithTensor:x(op) axes:axes() name:name];
#define ALLOY_MOMENT(op_name, stem, ...) \
  case OpCode::op_name: return [graph_ stem##OfTensor:x(op) axes:axes() name:name];
#define ALLOY_ARG_REDUCTION(op_name, stem, ...) \
  case OpCode::op_name: return [graph_ stem##WithTensor:x(op) axis:axis() name:name];
#include "ir/ops.def"
    case OpCode::select:
      return [graph_ selectWithPredicateTensor:x(op, 0) truePredicateTensor:x(op, 1) falsePredicateTensor:x(op, 2) name:name];
    case OpCode::clamp: return [graph_ clampWithTensor:x(op, 0) minValueTensor:x(op, 1) maxValueTensor:x(op, 2) name:name];
    case OpCode::placeholder: return [graph_ placeholderWithShape:mps_shape(type.shape) dataType:mps_type(type.dtype) name:name];
    case OpCode::constant: return constant(op);
    case OpCode::empty:
    case OpCode::shaped: return [graph_ constantWithScalar:0 shape:mps_shape(type.shape) dataType:mps_type(type.dtype)];
    case OpCode::variable: return variable(op);
    case OpCode::read_variable: return [graph_ readVariable:x(op) name:name];
    case OpCode::stop_gradient: return [graph_ identityWithTensor:x(op) name:name];
    case OpCode::reshape:
    case OpCode::reshape_like:
    case OpCode::squeeze:
    case OpCode::expand_dims: return [graph_ reshapeTensor:x(op) withShape:mps_shape(type.shape) name:name];
    case OpCode::transpose: return [graph_ transposeTensor:x(op) permutation:numbers(op.attributes.ints(Attr::kPermutation)) name:name];
    case OpCode::broadcast_to:
    case OpCode::broadcast_like: return [graph_ broadcastTensor:x(op) toShape:mps_shape(type.shape) name:name];
    case OpCode::reduce_like: return reduce_to(graph_, x(op), op.operands[0].shape(), type.shape, name);
    case OpCode::slice: {
      const SliceWords s(op, op.operands[0].shape());
      return [graph_ sliceTensor:x(op) starts:numbers(s.starts) ends:numbers(s.ends) strides:numbers(s.strides) startMask:0
                         endMask:s.end_mask squeezeMask:0 name:name];
    }
    case OpCode::slice_gradient: return slice_gradient(graph_, op, x(op));
    case OpCode::concat: {
      NSMutableArray* parts = [NSMutableArray array];
      for (size_t i = 0; i < op.operands.size(); ++i) [parts addObject:x(op, i)];
      return [graph_ concatTensors:parts dimension:axis() name:name];
    }
    case OpCode::cast: return [graph_ castTensor:x(op) toType:mps_type(type.dtype) name:name];
    case OpCode::shape_of: return [graph_ shapeOfTensor:x(op) name:name];
    case OpCode::count: return [graph_ constantWithScalar:reduced_count(op) dataType:mps_type(type.dtype)];
    case OpCode::matmul:
      return [graph_ matrixMultiplicationWithPrimaryTensor:matrix(op, 0, Attr::kTransposeA) secondaryTensor:matrix(op, 1, Attr::kTransposeB) name:name];
    case OpCode::softmax: return [graph_ softMaxWithTensor:x(op) axis:axis() name:name];
    case OpCode::log_softmax: return log_softmax(graph_, x(op), axis(), name);
    case OpCode::softmax_cross_entropy: {
      const std::string& reduction = op.attributes.word(Attr::kReduction);
      const auto kind = reduction == "none" ? MPSGraphLossReductionTypeAxis
                        : reduction == "sum" ? MPSGraphLossReductionTypeSum : MPSGraphLossReductionTypeMean;
      MPSGraphTensor* loss = [graph_ softMaxCrossEntropyWithSourceTensor:x(op, 0) labelsTensor:x(op, 1) axis:axis() reductionType:kind name:name];
      // What shape a reduced loss has is not documented.
      return [graph_ reshapeTensor:loss withShape:mps_shape(type.shape) name:nil];
    }
    case OpCode::conv2d:
      return [graph_ convolution2DWithSourceTensor:x(op, 0) weightsTensor:x(op, 1)
                                        descriptor:convolution(op, op.operands[0].shape(), op.operands[1].shape()) name:name];
    case OpCode::conv2d_data_gradient:
      return [graph_ convolution2DDataGradientWithIncomingGradientTensor:x(op, 0) weightsTensor:x(op, 1) outputShape:mps_shape(type.shape)
                                            forwardConvolutionDescriptor:convolution(op, type.shape, op.operands[1].shape()) name:name];
    case OpCode::conv2d_weights_gradient:
      return [graph_ convolution2DWeightsGradientWithIncomingGradientTensor:x(op, 0) sourceTensor:x(op, 1) outputShape:mps_shape(type.shape)
                                               forwardConvolutionDescriptor:convolution(op, op.operands[1].shape(), type.shape) name:name];
    case OpCode::max_pool2d:
      return [graph_ maxPooling2DWithSourceTensor:x(op) descriptor:pooling(op, op.operands[0].shape()) name:name];
    case OpCode::max_pool2d_gradient:
      return [graph_ maxPooling2DGradientWithGradientTensor:x(op, 0) sourceTensor:x(op, 1) descriptor:pooling(op, type.shape) name:name];
    case OpCode::avg_pool2d:
      return [graph_ avgPooling2DWithSourceTensor:x(op) descriptor:pooling(op, op.operands[0].shape()) name:name];
    case OpCode::avg_pool2d_gradient:
      return [graph_ avgPooling2DGradientWithGradientTensor:x(op, 0) sourceTensor:x(op, 1) descriptor:pooling(op, type.shape) name:name];
    case OpCode::sgd:
      return [graph_ stochasticGradientDescentWithLearningRateTensor:x(op, 0) valuesTensor:x(op, 1) gradientTensor:x(op, 2) name:name];
    default: op.fail("The op cannot be lowered");
  }
}

}  // namespace alloy::engine
