#import "engine/lowering.h"

#include <algorithm>
#include <limits>

#include "engine/device_info.h"
#import "engine/graph_impl.h"
#include "engine/stats.h"
#include "ir/windows.h"

namespace alloy::engine {
namespace {

using ir::Attr;
using ir::Dims;
using ir::kMostImages;
using ir::kMostOfMatrix;
using ir::kMostRank;
using ir::OpCode;
using ir::Quirk;
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

// The window geometry with its padding resolved: the framework gets explicit numbers, so that only ir decides what
// "same" means.
struct Geometry {
  const ir::Attributes& attributes;
  ir::Window height, width;

  Geometry(const ir::Op& op, const Shape& source, int64_t window_height, int64_t window_width)
      : attributes(op.attributes) {
    const auto axes = ir::LayoutAxes::of_data(attributes.word(Attr::kDataLayout));
    height = ir::window_of(attributes, 0, window_height, source[axes.height]);
    width = ir::window_of(attributes, 1, window_width, source[axes.width]);
  }
};

MPSGraphConvolution2DOpDescriptor* convolution(const ir::Op& op, const Shape& source, const Shape& weights) {
  const auto axes = ir::WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout));
  const Geometry g(op, source, weights[axes.height], weights[axes.width]);
  return [MPSGraphConvolution2DOpDescriptor
      descriptorWithStrideInX:static_cast<NSUInteger>(g.width.stride)
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

// A slice in the framework's terms: every start and end resolved, and a mask where a backward slice runs past the first
// element.
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
  // A scalar travels as a double, which holds no int64 above 2^53, and Apple's true is 255 then.
  const bool by_bytes = !literal.is_splat() || type.dtype == ir::DType::boolean || size_of(type.dtype) == 8;
  if (!by_bytes) {
    return [graph constantWithScalar:literal.at(0) shape:mps_shape(type.shape) dataType:mps_type(type.dtype)];
  }
  const size_t bytes = literal.is_splat() ? size_of(type.dtype) : literal.bytes().size();
  NSData* data = [NSData dataWithBytes:literal.bytes().data() length:bytes];
  if (!literal.is_splat() && type.shape.rank() > 0) {
    return [graph constantWithData:data shape:mps_shape(type.shape) dataType:mps_type(type.dtype)];
  }
  // Apple's framework refuses an empty shape here.
  MPSGraphTensor* one = [graph constantWithData:data shape:numbers({1}) dataType:mps_type(type.dtype)];
  if (type.shape.rank() > 0) return [graph broadcastTensor:one toShape:mps_shape(type.shape) name:nil];
  return [graph reshapeTensor:one withShape:numbers({}) name:nil];
}

NSData* words(const Dims& dims) {
  const std::vector<int32_t> narrow(dims.begin(), dims.end());
  return [NSData dataWithBytes:narrow.data() length:narrow.size() * sizeof(int32_t)];
}

MPSGraphTensor* zeros(MPSGraph* graph, Dims dims, size_t axis, int64_t extent, ir::DType dtype) {
  dims[axis] = extent;
  return [graph constantWithScalar:0 shape:numbers(dims) dataType:mps_type(dtype)];
}

// The adjoint of a strided slice along one axis: zeros between the elements, before and after, by concatenation.
MPSGraphTensor* spread(MPSGraph* graph, MPSGraphTensor* g, Dims& dims, size_t axis, const ir::SliceAxis& s,
                       int64_t extent, ir::DType dtype) {
  const auto along = static_cast<NSInteger>(axis);
  const int64_t stride = std::abs(s.stride), length = dims[axis];
  if (s.stride < 0) {
    Dims starts(dims.size(), 0), ends = dims, strides(dims.size(), 1);
    starts[axis] = length - 1;
    strides[axis] = -1;
    g = [graph sliceTensor:g
                    starts:numbers(starts)
                      ends:numbers(ends)
                   strides:numbers(strides)
                 startMask:0
                   endMask:1u << axis
               squeezeMask:0
                      name:nil];
  }
  if (stride > 1) {
    Dims split = dims;
    split.insert(split.begin() + along + 1, 1);
    MPSGraphTensor* column = [graph reshapeTensor:g withShape:numbers(split) name:nil];
    g = [graph concatTensors:@[ column, zeros(graph, split, axis + 1, stride - 1, dtype) ]
                   dimension:along + 1
                        name:nil];
    dims[axis] = length * stride;
    g = [graph reshapeTensor:g withShape:numbers(dims) name:nil];
    dims[axis] = (length - 1) * stride + 1;
    g = [graph sliceTensor:g dimension:axis start:0 length:dims[axis] name:nil];
  }
  const int64_t first = s.stride < 0 ? s.start + (s.length - 1) * s.stride : s.start;
  NSMutableArray* parts = [NSMutableArray array];
  if (first > 0) [parts addObject:zeros(graph, dims, axis, first, dtype)];
  [parts addObject:g];
  if (const int64_t rest = extent - first - dims[axis]; rest > 0) {
    [parts addObject:zeros(graph, dims, axis, rest, dtype)];
  }
  dims[axis] = extent;
  return [parts count] == 1 ? g : [graph concatTensors:parts dimension:along name:nil];
}

// Without Apple's slice gradient, which is wrong for strides other than 1.
MPSGraphTensor* slice_gradient_by_parts(MPSGraph* graph, const ir::Op& op, MPSGraphTensor* g) {
  const Shape& shape = op.results[0].shape;
  const ir::DType dtype = op.results[0].dtype;
  Dims dims = op.operands[0].shape().dims();
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const auto s = ir::resolve_slice(op.attributes.ints(Attr::kStarts)[axis], op.attributes.ints(Attr::kEnds)[axis],
                                     op.attributes.ints(Attr::kStrides)[axis], shape.dims()[axis]);
    g = spread(graph, g, dims, axis, s, shape.dims()[axis], dtype);
  }
  return g;
}

MPSGraphTensor* log_softmax(MPSGraph* graph, MPSGraphTensor* x, NSInteger axis, NSString* name) {
  MPSGraphTensor* shifted = [graph subtractionWithPrimaryTensor:x
                                                secondaryTensor:[graph reductionMaximumWithTensor:x axis:axis name:nil]
                                                           name:nil];
  MPSGraphTensor* total = [graph reductionSumWithTensor:[graph exponentWithTensor:shifted name:nil] axis:axis name:nil];
  return [graph subtractionWithPrimaryTensor:shifted
                             secondaryTensor:[graph logarithmWithTensor:total name:nil]
                                        name:name];
}

MPSGraphTensor* slice_gradient(MPSGraph* graph, const ir::Op& op, MPSGraphTensor* g, bool strides_are_wrong,
                               NSString* name) {
  const Shape& shape = op.results[0].shape;
  if (op.operands[0].shape().element_count() == 0) {
    return [graph constantWithScalar:0 shape:mps_shape(shape) dataType:mps_type(op.results[0].dtype)];
  }
  const SliceWords s(op, shape);
  const bool is_contiguous =
      std::all_of(s.strides.begin(), s.strides.end(), [](int64_t stride) { return stride == 1; });
  if (strides_are_wrong && !is_contiguous) return slice_gradient_by_parts(graph, op, g);
  MPSGraphTensor* length = [graph constantWithData:words(shape.dims())
                                             shape:numbers({shape.rank()})
                                          dataType:MPSDataTypeInt32];
  return [graph sliceGradientTensor:g
                   fwdInShapeTensor:length
                             starts:numbers(s.starts)
                               ends:numbers(s.ends)
                            strides:numbers(s.strides)
                          startMask:0
                            endMask:s.end_mask
                        squeezeMask:0
                               name:name];
}

// The axes of an op, from the front, in ascending order and each once.
Dims axes_of(const ir::Op& op) {
  Dims axes;
  for (int64_t axis : op.attributes.ints(Attr::kAxes)) {
    axes.push_back(*ir::normalize_axis(axis, op.operands[0].shape().rank()));
  }
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

double reduced_count(const ir::Op& op) {
  double count = 1;
  for (int64_t axis : axes_of(op)) count *= static_cast<double>(op.operands[0].shape()[axis]);
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

Lowering::Lowering(Graph& graph)
    : owner_(graph), graph_(graph.impl().framework->graph.get()), system_(device_system()) {}

void Lowering::lower(const ir::Graph& graph) {
  for (const auto& op : graph.body().ops) lower(*op);
}

void Lowering::lower_assignments() {
  if (has(Quirk::read_after_assign)) {
    // Whoever uses one of these variables from here on means what it holds now.
    for (const ir::Op* op : assignments_) {
      MPSGraphTensor*& now = tensors_.at(op->operands[0]);
      if (now == variable(*op->operands[0].op)) now = [graph_ identityWithTensor:now name:nil];
    }
  }
  for (const ir::Op* op : assignments_) lower_now(*op);
  assignments_.clear();
}

void Lowering::lower(const ir::Op& op) {
  if (op.code == OpCode::assign && op.after.empty()) {
    assignments_.push_back(&op);
    return;
  }
  // Whoever says when a variable is read or written means the assignments so far.
  if (op.code == OpCode::read_variable || !op.after.empty()) lower_assignments();
  if (op.after.empty()) return lower_now(op);
  NSMutableArray* before = [NSMutableArray array];
  for (const ir::Op* other : op.after) {
    const auto found = operations_.find(other);
    [before addObject:found != operations_.end() ? found->second
                                                 : [tensors_.at({const_cast<ir::Op*>(other), 0}) operation]];
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
    operations_[&op] = [graph_ assignVariable:variable(*op.operands[0].op) withValueOfTensor:x(op, 1) name:name];
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
    for (uint32_t i = 0; i < op.results.size(); ++i) {
      MPSGraphTensor* made = [results objectAtIndex:i];
      // By broadcasting with coefficients of shape (1,).
      if (op.results[i].shape.rank() == 0 && has(Quirk::optimizer_of_scalar)) {
        made = [graph_ reshapeTensor:made withShape:@[] name:nil];
      }
      tensors_[{const_cast<ir::Op*>(&op), i}] = made;
    }
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

MPSGraphTensor* Lowering::reduced(const Shaped& x, const Dims& axes, const Reduction& reduction, NSString* name) {
  if (static_cast<int64_t>(x.dims.size()) > kMostRank && has(Quirk::reduction_beyond_rank4)) {
    return reduced_flat(graph_, x, axes, reduction, name);
  }
  return reduction(x.tensor, numbers(axes), name);
}

MPSGraphTensor* Lowering::reduced(const ir::Op& op, const Reduction& reduction, NSString* name) {
  const Dims axes = axes_of(op);
  if (!axes.empty()) return reduced(operand(op, 0), axes, reduction, name);
  if (op.code != OpCode::variance) return [graph_ identityWithTensor:x(op) name:name];
  return [graph_ subtractionWithPrimaryTensor:x(op) secondaryTensor:x(op) name:name];
}

// Sums the first operand down to the shape of the second, which broadcasts to it.
MPSGraphTensor* Lowering::reduce_to(const ir::Op& op, NSString* name) {
  const Shape &from = op.operands[0].shape(), &shape = op.results[0].shape;
  Dims axes;
  const int64_t offset = from.rank() - shape.rank();
  for (int64_t i = 0; i < from.rank(); ++i) {
    if (i < offset || (shape[i - offset] == 1 && from[i] != 1)) axes.push_back(i);
  }
  const Reduction sum = [&](MPSGraphTensor* t, NSArray<NSNumber*>* along, NSString* as) {
    return [graph_ reductionSumWithTensor:t axes:along name:as];
  };
  MPSGraphTensor* out = axes.empty() ? x(op) : reduced(operand(op, 0), axes, sum, name);
  return [graph_ reshapeTensor:out withShape:mps_shape(shape) name:name];
}

MPSGraphTensor* Lowering::along_axis(const ir::Op& op, const AlongAxis& work, NSString* name) {
  const Dims& dims = op.operands[0].shape().dims();
  const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), static_cast<int64_t>(dims.size()));
  if (static_cast<int64_t>(dims.size()) <= kMostRank || !has(Quirk::reduction_beyond_rank4)) {
    return work(x(op), static_cast<NSInteger>(axis), name);
  }
  const auto at = dims.begin() + axis;
  const Dims flat{Shape(Dims(dims.begin(), at)).element_count(), *at, Shape(Dims(at + 1, dims.end())).element_count()};
  MPSGraphTensor* out = work([graph_ reshapeTensor:x(op) withShape:numbers(flat) name:nil], 1, nil);
  return [graph_ reshapeTensor:out withShape:mps_shape(op.results[0].shape) name:name];
}

MPSGraphTensor* Lowering::product(const ir::Op& op, NSString* name) {
  Shaped a = operand(op, 0), b = operand(op, 1);
  if (op.operands[0].op->code == OpCode::softmax && has(Quirk::product_of_softmax)) {
    a.tensor = [graph_ identityWithTensor:a.tensor name:nil];
  }
  const Shape& shape = op.results[0].shape;
  const bool is_flat = shape.rank() > kMostRank && has(Quirk::product_beyond_rank4);
  if (is_flat) {
    const Dims batch(shape.dims().begin(), shape.dims().end() - 2);
    a = flat_operand(graph_, a, batch);
    b = flat_operand(graph_, b, batch);
  }
  const auto transpose = [&](Shaped& x) {
    const size_t rank = x.dims.size();
    x.tensor = [graph_ transposeTensor:x.tensor dimension:rank - 2 withDimension:rank - 1 name:nil];
    std::swap(x.dims[rank - 2], x.dims[rank - 1]);
  };
  if (op.attributes.flag(Attr::kTransposeA)) transpose(a);
  if (op.attributes.flag(Attr::kTransposeB)) transpose(b);
  const int64_t any = std::numeric_limits<int64_t>::max();
  MPSGraphTensor* out = product_in_pieces(graph_, a, b, has(Quirk::long_inner_product) ? kMostOfMatrix : any,
                                          has(Quirk::large_matrix) ? kMostOfMatrix : any, is_flat ? nil : name);
  return is_flat ? [graph_ reshapeTensor:out withShape:mps_shape(shape) name:name] : out;
}

// Of at most kMostImages images at a time, where the framework is wrong about more.
MPSGraphTensor* Lowering::convolution_gradient(const ir::Op& op, NSString* name) {
  const bool to_data = op.code == OpCode::conv2d_data_gradient;
  const Shape& shape = op.results[0].shape;
  const Shape& source = to_data ? shape : op.operands[1].shape();
  const int64_t axis = ir::LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout)).batch;
  const int64_t images = source[axis];
  const auto part = [&](const Shaped& gradient, const Shaped& other, int64_t count, NSString* as) {
    Dims whole = source.dims();
    whole[static_cast<size_t>(axis)] = count;
    if (to_data) {
      return [graph_ convolution2DDataGradientWithIncomingGradientTensor:gradient.tensor
                                                           weightsTensor:other.tensor
                                                             outputShape:numbers(whole)
                                            forwardConvolutionDescriptor:convolution(op, whole, op.operands[1].shape())
                                                                    name:as];
    }
    return [graph_ convolution2DWeightsGradientWithIncomingGradientTensor:gradient.tensor
                                                             sourceTensor:other.tensor
                                                              outputShape:mps_shape(shape)
                                             forwardConvolutionDescriptor:convolution(op, whole, shape)
                                                                     name:as];
  };
  const Shaped gradient = operand(op, 0), other = operand(op, 1);
  if (images <= kMostImages || !has(Quirk::convolution_of_many_images)) return part(gradient, other, images, name);
  NSMutableArray* parts = [NSMutableArray array];
  MPSGraphTensor* sum = nil;
  for (int64_t start = 0; start < images; start += kMostImages) {
    const int64_t count = std::min(kMostImages, images - start);
    const Shaped some = slice_along(graph_, gradient, axis, start, count);
    MPSGraphTensor* made = part(some, to_data ? other : slice_along(graph_, other, axis, start, count), count, nil);
    if (to_data) [parts addObject:made];
    else sum = sum == nil ? made : [graph_ additionWithPrimaryTensor:sum secondaryTensor:made name:nil];
  }
  return to_data ? [graph_ concatTensors:parts dimension:static_cast<NSInteger>(axis) name:name]
                 : [graph_ identityWithTensor:sum name:name];
}

MPSGraphTensor* Lowering::result(const ir::Op& op, NSString* name) {
  const ir::Type& type = op.results[0];
  const auto axis = [&] {
    return static_cast<NSInteger>(
        *ir::normalize_axis(op.attributes.integer(Attr::kAxis), op.operands[0].shape().rank()));
  };
  if (op.code == OpCode::divide && kind(type.dtype) == ir::DTypeKind::kSigned && has(Quirk::integer_quotient)) {
    return exact_quotient(graph_, x(op, 0), x(op, 1), type.dtype, name);
  }
  if (op.code == OpCode::sign && has(Quirk::sign_of_negative_zero)) {
    return sign_by_comparison(graph_, x(op), type.dtype, name);
  }
  if (op.code == OpCode::power && has(Quirk::power_of_negative)) {
    return power_of_any_base(graph_, x(op, 0), x(op, 1), type.dtype, name);
  }
  switch (op.code) {
#define ALLOY_UNARY(op_name, stem, ...) \
  case OpCode::op_name: return [graph_ stem##WithTensor:x(op) name:name];
#define ALLOY_ACTIVATION ALLOY_UNARY
#define ALLOY_PREDICATE ALLOY_UNARY
#define ALLOY_BINARY(op_name, stem, ...) \
  case OpCode::op_name: return [graph_ stem##WithPrimaryTensor:x(op, 0) secondaryTensor:x(op, 1) name:name];
#define ALLOY_COMPARISON ALLOY_BINARY
#define ALLOY_ACTIVATION_GRADIENT(op_name, stem, ...) \
  case OpCode::op_name: return [graph_ stem##WithIncomingGradient:x(op, 0) sourceTensor:x(op, 1) name:name];
#define ALLOY_REDUCTION(op_name, stem, ...)                              \
  case OpCode::op_name:                                                  \
    return reduced(                                                      \
        op,                                                              \
        [&](MPSGraphTensor* t, NSArray<NSNumber*>* axes, NSString* as) { \
          return [graph_ stem##WithTensor:t axes:axes name:as];          \
        },                                                               \
        name);
#define ALLOY_MOMENT(op_name, stem, ...)                                 \
  case OpCode::op_name:                                                  \
    return reduced(                                                      \
        op,                                                              \
        [&](MPSGraphTensor* t, NSArray<NSNumber*>* axes, NSString* as) { \
          return [graph_ stem##OfTensor:t axes:axes name:as];            \
        },                                                               \
        name);
#define ALLOY_ARG_REDUCTION(op_name, stem, ...)                  \
  case OpCode::op_name:                                          \
    return along_axis(                                           \
        op,                                                      \
        [&](MPSGraphTensor* t, NSInteger along, NSString* as) {  \
          return [graph_ stem##WithTensor:t axis:along name:as]; \
        },                                                       \
        name);
#include "ir/ops.def"
    case OpCode::select: {
      MPSGraphTensor* flag = x(op, 0);
      const ir::DType dtype = op.operands[0].dtype();
      if (dtype != ir::DType::boolean && has(Quirk::select_by_number)) {
        flag = [graph_ notEqualWithPrimaryTensor:flag
                                 secondaryTensor:[graph_ constantWithScalar:0 dataType:mps_type(dtype)]
                                            name:nil];
      }
      return [graph_ selectWithPredicateTensor:flag
                           truePredicateTensor:x(op, 1)
                          falsePredicateTensor:x(op, 2)
                                          name:name];
    }
    case OpCode::clamp:
      return [graph_ clampWithTensor:x(op, 0) minValueTensor:x(op, 1) maxValueTensor:x(op, 2) name:name];
    case OpCode::placeholder:
      return [graph_ placeholderWithShape:mps_shape(type.shape) dataType:mps_type(type.dtype) name:name];
    case OpCode::constant: return constant(op);
    case OpCode::empty:
    case OpCode::shaped: return [graph_ constantWithScalar:0 shape:mps_shape(type.shape) dataType:mps_type(type.dtype)];
    case OpCode::variable: return variable(op);
    case OpCode::read_variable: return [graph_ readVariable:variable(*op.operands[0].op) name:name];
    case OpCode::stop_gradient: return [graph_ identityWithTensor:x(op) name:name];
    case OpCode::reshape:
    case OpCode::reshape_like:
    case OpCode::squeeze:
    case OpCode::expand_dims: return [graph_ reshapeTensor:x(op) withShape:mps_shape(type.shape) name:name];
    case OpCode::transpose:
      return [graph_ transposeTensor:x(op) permutation:numbers(op.attributes.ints(Attr::kPermutation)) name:name];
    case OpCode::broadcast_to:
    case OpCode::broadcast_like: return [graph_ broadcastTensor:x(op) toShape:mps_shape(type.shape) name:name];
    case OpCode::reduce_like: return reduce_to(op, name);
    case OpCode::slice: {
      const SliceWords s(op, op.operands[0].shape());
      return [graph_ sliceTensor:x(op)
                          starts:numbers(s.starts)
                            ends:numbers(s.ends)
                         strides:numbers(s.strides)
                       startMask:0
                         endMask:s.end_mask
                     squeezeMask:0
                            name:name];
    }
    case OpCode::slice_gradient: return slice_gradient(graph_, op, x(op), has(Quirk::strided_slice_gradient), name);
    case OpCode::concat: {
      NSMutableArray* parts = [NSMutableArray array];
      for (size_t i = 0; i < op.operands.size(); ++i) [parts addObject:x(op, i)];
      return [graph_ concatTensors:parts dimension:axis() name:name];
    }
    case OpCode::cast: return [graph_ castTensor:x(op) toType:mps_type(type.dtype) name:name];
    case OpCode::shape_of: return [graph_ shapeOfTensor:x(op) name:name];
    case OpCode::count: return [graph_ constantWithScalar:reduced_count(op) dataType:mps_type(type.dtype)];
    case OpCode::matmul: return product(op, name);
    case OpCode::softmax:
      return along_axis(
          op,
          [&](MPSGraphTensor* t, NSInteger along, NSString* as) {
            return [graph_ softMaxWithTensor:t axis:along name:as];
          },
          name);
    case OpCode::log_softmax:
      return along_axis(
          op, [&](MPSGraphTensor* t, NSInteger along, NSString* as) { return log_softmax(graph_, t, along, as); },
          name);
    case OpCode::softmax_cross_entropy: {
      const std::string& reduction = op.attributes.word(Attr::kReduction);
      const auto kind = reduction == "none"  ? MPSGraphLossReductionTypeAxis
                        : reduction == "sum" ? MPSGraphLossReductionTypeSum
                                             : MPSGraphLossReductionTypeMean;
      const AlongAxis loss = [&](MPSGraphTensor* source, NSInteger along, NSString* as) {
        MPSGraphTensor* labels =
            source == x(op, 0) ? x(op, 1) : [graph_ reshapeTensor:x(op, 1) withShape:[source shape] name:nil];
        return [graph_ softMaxCrossEntropyWithSourceTensor:source
                                              labelsTensor:labels
                                                      axis:along
                                             reductionType:kind
                                                      name:as];
      };
      // What shape a reduced loss has is not documented.
      return [graph_ reshapeTensor:along_axis(op, loss, name) withShape:mps_shape(type.shape) name:nil];
    }
    case OpCode::conv2d:
      return [graph_ convolution2DWithSourceTensor:x(op, 0)
                                     weightsTensor:x(op, 1)
                                        descriptor:convolution(op, op.operands[0].shape(), op.operands[1].shape())
                                              name:name];
    case OpCode::conv2d_data_gradient:
    case OpCode::conv2d_weights_gradient: return convolution_gradient(op, name);
    case OpCode::max_pool2d:
      return [graph_ maxPooling2DWithSourceTensor:x(op) descriptor:pooling(op, op.operands[0].shape()) name:name];
    case OpCode::max_pool2d_gradient:
      return [graph_ maxPooling2DGradientWithGradientTensor:x(op, 0)
                                               sourceTensor:x(op, 1)
                                                 descriptor:pooling(op, type.shape)
                                                       name:name];
    case OpCode::avg_pool2d:
      return [graph_ avgPooling2DWithSourceTensor:x(op) descriptor:pooling(op, op.operands[0].shape()) name:name];
    case OpCode::avg_pool2d_gradient:
      return [graph_ avgPooling2DGradientWithGradientTensor:x(op, 0)
                                               sourceTensor:x(op, 1)
                                                 descriptor:pooling(op, type.shape)
                                                       name:name];
    case OpCode::sgd: {
      MPSGraphTensor* made = [graph_ stochasticGradientDescentWithLearningRateTensor:x(op, 0)
                                                                        valuesTensor:x(op, 1)
                                                                      gradientTensor:x(op, 2)
                                                                                name:name];
      return type.shape.rank() == 0 && has(Quirk::optimizer_of_scalar)
                 ? [graph_ reshapeTensor:made withShape:@[] name:nil]
                 : made;
    }
    default: op.fail("The op cannot be lowered");
  }
}

}  // namespace alloy::engine
