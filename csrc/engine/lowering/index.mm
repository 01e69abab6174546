// Slices and their gradients.

#include <algorithm>

#import "engine/lowering/ops.h"
#include "ir/windows.h"

namespace alloy::engine {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Shape;

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

NSData* words(const Dims& dims) {
  const std::vector<int32_t> narrow(dims.begin(), dims.end());
  return [NSData dataWithBytes:narrow.data() length:narrow.size() * sizeof(int32_t)];
}

MPSGraphTensor* zeros(MPSGraph* graph, Dims dims, size_t axis, int64_t extent, ir::DType dtype) {
  dims[axis] = extent;
  return [graph constantWithScalar:0 shape:mps_numbers(dims) dataType:mps_type(dtype)];
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
                    starts:mps_numbers(starts)
                      ends:mps_numbers(ends)
                   strides:mps_numbers(strides)
                 startMask:0
                   endMask:1u << axis
               squeezeMask:0
                      name:nil];
  }
  if (stride > 1) {
    Dims split = dims;
    split.insert(split.begin() + along + 1, 1);
    MPSGraphTensor* column = [graph reshapeTensor:g withShape:mps_numbers(split) name:nil];
    g = [graph concatTensors:@[ column, zeros(graph, split, axis + 1, stride - 1, dtype) ]
                   dimension:along + 1
                        name:nil];
    dims[axis] = length * stride;
    g = [graph reshapeTensor:g withShape:mps_numbers(dims) name:nil];
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

}  // namespace

Nodes lower_slice(Lowering& lowering, const ir::Op& op, NSString* name) {
  const SliceWords s(op, op.operands[0].shape());
  return [lowering.graph() sliceTensor:lowering.x(op)
                                starts:mps_numbers(s.starts)
                                  ends:mps_numbers(s.ends)
                               strides:mps_numbers(s.strides)
                             startMask:0
                               endMask:s.end_mask
                           squeezeMask:0
                                  name:name];
}

Nodes lower_slice_gradient(Lowering& lowering, const ir::Op& op, NSString* name) {
  MPSGraph* graph = lowering.graph();
  MPSGraphTensor* g = lowering.x(op);
  const Shape& shape = op.results[0].shape;
  if (op.operands[0].shape().element_count() == 0) {
    return [graph constantWithScalar:0 shape:mps_shape(shape) dataType:mps_type(op.results[0].dtype)];
  }
  const SliceWords s(op, shape);
  const bool is_contiguous =
      std::all_of(s.strides.begin(), s.strides.end(), [](int64_t stride) { return stride == 1; });
  if (!is_contiguous && lowering.has(ir::Quirk::strided_slice_gradient)) return slice_gradient_by_parts(graph, op, g);
  MPSGraphTensor* length = [graph constantWithData:words(shape.dims())
                                             shape:mps_numbers({shape.rank()})
                                          dataType:MPSDataTypeInt32];
  return [graph sliceGradientTensor:g
                   fwdInShapeTensor:length
                             starts:mps_numbers(s.starts)
                               ends:mps_numbers(s.ends)
                            strides:mps_numbers(s.strides)
                          startMask:0
                            endMask:s.end_mask
                        squeezeMask:0
                               name:name];
}

}  // namespace alloy::engine
