// Slices and their gradients, and elements by indices.

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#import "engine/lowering/ops.h"
#import "engine/lowering/state.h"
#include "ir/rules/windows.h"

namespace alloy::engine {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Shape;

// The arguments of the framework's slice: every start and end resolved, and a mask bit for each backward slice that
// runs past the first element.
struct SliceWords {
  Dims starts, ends, strides;
  uint32_t end_mask = 0;

  SliceWords(const ir::Op& op, const Shape& source) {
    for (int64_t i = 0; i < source.rank(); ++i) {
      if (source[i] == ir::kUnknown) {  // taken whole
        starts.push_back(0);
        ends.push_back(0);
        strides.push_back(1);
        end_mask |= 1u << i;
        continue;
      }
      const auto s = ir::resolve_slice(op.attributes.ints(Attr::kStarts)[i], op.attributes.ints(Attr::kEnds)[i],
                                       op.attributes.ints(Attr::kStrides)[i], source[i]);
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

MPSGraphTensor* zeros(const Lowering& lowering, Dims dims, size_t axis, int64_t extent, ir::DType dtype) {
  dims[axis] = extent;
  return zeros(lowering, {dtype, Shape(dims)});
}

// The adjoint of a strided slice along one axis. It concatenates zeros between, before and after the elements.
Shaped spread(const Lowering& lowering, Shaped g, size_t axis, const ir::SliceAxis& s, int64_t extent,
              ir::DType dtype) {
  MPSGraph* graph = lowering.graph();
  const auto along = static_cast<NSInteger>(axis);
  const int64_t stride = std::abs(s.stride), length = g.dims[axis];
  if (s.stride < 0) {
    Dims starts(g.dims.size(), 0), strides(g.dims.size(), 1);
    starts[axis] = length - 1;
    strides[axis] = -1;
    g.tensor = [graph sliceTensor:g.tensor
                           starts:mps_numbers(starts)
                             ends:mps_numbers(g.dims)
                          strides:mps_numbers(strides)
                        startMask:0
                          endMask:1u << axis
                      squeezeMask:0
                             name:nil];
  }
  if (stride > 1) {
    Dims split = g.dims;
    split.insert(split.begin() + along + 1, 1);
    MPSGraphTensor* column = [graph reshapeTensor:g.tensor withShape:mps_numbers(split) name:nil];
    g.tensor = [graph concatTensors:@[ column, zeros(lowering, split, axis + 1, stride - 1, dtype) ]
                          dimension:along + 1
                               name:nil];
    g.dims[axis] = length * stride;
    g.tensor = [graph reshapeTensor:g.tensor withShape:mps_numbers(g.dims) name:nil];
    g.dims[axis] = (length - 1) * stride + 1;
    g.tensor = [graph sliceTensor:g.tensor dimension:axis start:0 length:g.dims[axis] name:nil];
  }
  const int64_t first = s.stride < 0 ? s.start + (s.length - 1) * s.stride : s.start;
  NSMutableArray* parts = [NSMutableArray array];
  if (first > 0) [parts addObject:zeros(lowering, g.dims, axis, first, dtype)];
  [parts addObject:g.tensor];
  if (const int64_t rest = extent - first - g.dims[axis]; rest > 0) {
    [parts addObject:zeros(lowering, g.dims, axis, rest, dtype)];
  }
  if ([parts count] > 1) g.tensor = [graph concatTensors:parts dimension:along name:nil];
  g.dims[axis] = extent;
  return g;
}

// Avoids Apple's slice gradient, which is wrong for strides other than 1.
MPSGraphTensor* slice_gradient_by_parts(const Lowering& lowering, const ir::Op& op) {
  const ir::Type& type = op.results[0];
  Shaped g = lowering.shaped_x(op);
  for (int64_t axis = 0; axis < g.dims.size(); ++axis) {
    const int64_t extent = type.shape.dims()[axis];
    const auto s = ir::resolve_slice(op.attributes.ints(Attr::kStarts)[axis], op.attributes.ints(Attr::kEnds)[axis],
                                     op.attributes.ints(Attr::kStrides)[axis], extent);
    g = spread(lowering, std::move(g), axis, s, extent, type.dtype);
  }
  return g.tensor;
}

MPSGraphScatterMode mode_of(const ir::Op& op) {
  constexpr std::pair<std::string_view, MPSGraphScatterMode> modes[] = {
      {"add", MPSGraphScatterModeAdd},    {"subtract", MPSGraphScatterModeSub}, {"multiply", MPSGraphScatterModeMul},
      {"divide", MPSGraphScatterModeDiv}, {"minimum", MPSGraphScatterModeMin},  {"maximum", MPSGraphScatterModeMax},
      {"set", MPSGraphScatterModeSet},
  };
  const std::string& mode = op.attributes.word(Attr::kMode);
  return std::find_if(std::begin(modes), std::end(modes), [&](const auto& m) { return m.first == mode; })->second;
}

// The type in which a scatter is computed.
ir::DType scattered_in(const Lowering& lowering, const ir::Op& op) {
  const ir::DType dtype = op.results[0].dtype;
  const bool is_wrong =
      dtype == ir::DType::float16 && op.code != ir::OpCode::scatter && lowering.has(ir::Quirk::half_scatter_nd);
  const bool aborts = ir::is_narrow(dtype) && lowering.has(ir::Quirk::narrow_scatter);
  return is_wrong || aborts ? computed_in(dtype) : dtype;
}

// Runs a scatter on its first two operands. The second operand has the type of the elements only if the first is the
// data.
using Scatter = std::function<MPSGraphTensor*(MPSGraphTensor* x, MPSGraphTensor* other, NSString* name)>;
MPSGraphTensor* scattered(const Lowering& lowering, const ir::Op& op, bool has_data, const Scatter& work,
                          NSString* name) {
  MPSGraph* graph = lowering.graph();
  const ir::DType dtype = op.results[0].dtype, wide = scattered_in(lowering, op);
  MPSGraphTensor* x = as_type(graph, lowering.x(op), dtype, wide);
  MPSGraphTensor* other = has_data ? as_type(graph, lowering.x(op, 1), dtype, wide) : lowering.x(op, 1);
  return as_type(graph, work(x, other, wide == dtype ? name : nil), wide, dtype, name);
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
  const Shape& shape = op.results[0].shape;
  if (op.operands[0].shape().element_count() == 0) {
    return zeros(lowering, op.results[0]);
  }
  const SliceWords s(op, shape);
  const bool is_contiguous =
      std::all_of(s.strides.begin(), s.strides.end(), [](int64_t stride) { return stride == 1; });
  if (!is_contiguous && lowering.has(ir::Quirk::strided_slice_gradient)) return slice_gradient_by_parts(lowering, op);
  MPSGraphTensor* length = [graph constantWithData:words(shape.dims())
                                             shape:mps_numbers({shape.rank()})
                                          dataType:MPSDataTypeInt32];
  return [graph sliceGradientTensor:lowering.x(op)
                   fwdInShapeTensor:length
                             starts:mps_numbers(s.starts)
                               ends:mps_numbers(s.ends)
                            strides:mps_numbers(s.strides)
                          startMask:0
                            endMask:s.end_mask
                        squeezeMask:0
                               name:name];
}

Nodes lower_gather(Lowering& lowering, const ir::Op& op, NSString* name) {
  const int64_t rank = op.operands[0].shape().rank();
  return [lowering.graph()
      gatherWithUpdatesTensor:lowering.x(op)
                indicesTensor:lowering.x(op, 1)
                         axis:static_cast<NSUInteger>(*ir::normalize_axis(op.attributes.integer(Attr::kAxis), rank))
              batchDimensions:static_cast<NSUInteger>(op.attributes.integer(Attr::kBatchDims))
                         name:name];
}

Nodes lower_scatter_nd(Lowering& lowering, const ir::Op& op, NSString* name) {
  const Scatter work = [&](MPSGraphTensor* updates, MPSGraphTensor* indices, NSString* as) {
    return [lowering.graph() scatterNDWithUpdatesTensor:updates
                                          indicesTensor:indices
                                                  shape:mps_shape(op.results[0].shape)
                                        batchDimensions:static_cast<NSUInteger>(op.attributes.integer(Attr::kBatchDims))
                                                   name:as];
  };
  return scattered(lowering, op, false, work, name);
}

Nodes lower_gather_nd(Lowering& lowering, const ir::Op& op, NSString* name) {
  return [lowering.graph() gatherNDWithUpdatesTensor:lowering.x(op)
                                       indicesTensor:lowering.x(op, 1)
                                     batchDimensions:static_cast<NSUInteger>(op.attributes.integer(Attr::kBatchDims))
                                                name:name];
}

Nodes lower_scatter(Lowering& lowering, const ir::Op& op, NSString* name) {
  const Scatter work = [&](MPSGraphTensor* data, MPSGraphTensor* updates, NSString* as) {
    return [lowering.graph() scatterWithDataTensor:data
                                     updatesTensor:updates
                                     indicesTensor:lowering.x(op, 2)
                                              axis:op.attributes.integer(Attr::kAxis)
                                              mode:mode_of(op)
                                              name:as];
  };
  return scattered(lowering, op, true, work, name);
}

Nodes lower_scatter_nd_update(Lowering& lowering, const ir::Op& op, NSString* name) {
  const Scatter work = [&](MPSGraphTensor* data, MPSGraphTensor* updates, NSString* as) {
    return [lowering.graph() scatterNDWithDataTensor:data
                                       updatesTensor:updates
                                       indicesTensor:lowering.x(op, 2)
                                     batchDimensions:static_cast<NSUInteger>(op.attributes.integer(Attr::kBatchDims))
                                                mode:mode_of(op)
                                                name:as];
  };
  return scattered(lowering, op, true, work, name);
}

}  // namespace alloy::engine
