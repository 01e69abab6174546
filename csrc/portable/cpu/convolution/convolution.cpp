// Convolutions and their gradients by oneDNN.
#include "cpu/convolution/convolution.h"

#include <cstring>

#include "cpu/amx/convolution.h"
#include "cpu/families.h"
#include "cpu/onednn/onednn.h"
#include "cpu/shape/packed.h"
#include "cpu/threads/parallel.h"
#include "ir/rules/windows.h"

namespace alloy::cpu {
namespace {

using dnnl::memory;
using ir::Attr;
using ir::Dims;
using ir::Op;
using ir::OpCode;
using ir::Shape;

// Values of two axes and then of the spatial axes, which is oneDNN's order.
Dims pick(const Dims& values, int64_t first, int64_t second, const Dims& spatial) {
  Dims picked{values[first], values[second]};
  for (int64_t axis : spatial) picked.push_back(values[axis]);
  return picked;
}

// Describes the forward convolution of elements of one type. Its gradients are computed from the same description.
struct Problem {
  memory::desc source, weights, result;  // with plain layouts
  memory::dims strides, dilations, before, after;
  bool channels_last;

  Problem(const Op& op, const ConvolutionShapes& shapes) {
    const auto& [x, w, y] = shapes;
    const ir::DType dtype = op.results[0].dtype;
    const ir::LayoutAxes data = ir::LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout));
    const ir::WeightsAxes kernel = ir::WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout));
    channels_last = data.channels > data.spatial.back();
    source = data_desc(data, x, dtype);
    result = data_desc(data, y, dtype);
    weights = weights_desc(kernel, w, op.attributes.integer(Attr::kGroups), dtype);
    for (int64_t i = 0; i < data.spatial.size(); ++i) {
      const ir::Window window = ir::window_of(op.attributes, i, w[kernel.spatial[i]], x[data.spatial[i]]);
      strides.push_back(window.stride);
      dilations.push_back(window.dilation - 1);
      before.push_back(window.before);
      after.push_back(window.after);
    }
  }

  static memory::desc data_desc(const ir::LayoutAxes& l, const Shape& shape, ir::DType dtype) {
    return strided(pick(shape.dims(), l.batch, l.channels, l.spatial),
                   pick(packed_strides(shape), l.batch, l.channels, l.spatial), dtype);
  }

  // Groups become an axis of their own, before the filters of a group.
  static memory::desc weights_desc(const ir::WeightsAxes& l, const Shape& shape, int64_t groups, ir::DType dtype) {
    Dims dims = pick(shape.dims(), l.out, l.in, l.spatial);
    Dims strides = pick(packed_strides(shape), l.out, l.in, l.spatial);
    if (groups > 1) {
      dims[0] /= groups;
      dims.insert(dims.begin(), groups);
      strides.insert(strides.begin(), strides[0] * dims[1]);
    }
    return strided(dims, strides, dtype);
  }
};

// The same tensor in the layout that oneDNN chooses.
memory::desc any_layout(const memory::desc& desc) {
  return {desc.get_dims(), desc.get_data_type(), memory::format_tag::any};
}

// Reference implementations and products of patches are slow.
bool is_fast(const dnnl::primitive_desc_base& desc) {
  const char* name = desc.impl_info_str();
  return std::strstr(name, "ref") == nullptr && std::strstr(name, "gemm") == nullptr;
}

// Data keep their layout if oneDNN is fast on it, as it mostly is with channels last; otherwise oneDNN chooses. It
// always chooses the layout of weights.
template <class Make>
auto best(const Problem& p, const Make& make) {
  const auto free = [&] { return make(any_layout(p.source), any_layout(p.weights), any_layout(p.result)); };
  if (!p.channels_last) return free();
  auto plain = make(p.source, any_layout(p.weights), p.result);
  if (is_fast(plain)) return plain;
  auto chosen = free();
  return is_fast(chosen) ? chosen : plain;
}

constexpr auto kDirect = dnnl::algorithm::convolution_direct;

dnnl::convolution_forward::primitive_desc forward(const Problem& p, const memory::desc& x, const memory::desc& w,
                                                  const memory::desc& y) {
  return dnnl::convolution_forward::primitive_desc(onednn_engine(), dnnl::prop_kind::forward_training, kDirect, x, w, y,
                                                   p.strides, p.dilations, p.before, p.after, onednn_attributes());
}

std::unique_ptr<Kernel> make_forward(const Problem& p) {
  const auto desc = best(p, [&](const auto& x, const auto& w, const auto& y) { return forward(p, x, w, y); });
  return std::make_unique<PrimitiveKernel>(
      dnnl::convolution_forward(desc), desc.scratchpad_desc(),
      std::vector<PrimitiveKernel::Argument>{{DNNL_ARG_SRC, 0, false, p.source, desc.src_desc()},
                                             {DNNL_ARG_WEIGHTS, 1, false, p.weights, desc.weights_desc()},
                                             {DNNL_ARG_DST, 0, true, p.result, desc.dst_desc()}});
}

std::unique_ptr<Kernel> make_data_gradient(const Problem& p) {
  const auto desc = best(p, [&](const auto& x, const auto& w, const auto& y) {
    return dnnl::convolution_backward_data::primitive_desc(onednn_engine(), kDirect, x, w, y, p.strides, p.dilations,
                                                           p.before, p.after, forward(p, x, w, y), onednn_attributes());
  });
  return std::make_unique<PrimitiveKernel>(
      dnnl::convolution_backward_data(desc), desc.scratchpad_desc(),
      std::vector<PrimitiveKernel::Argument>{{DNNL_ARG_DIFF_DST, 0, false, p.result, desc.diff_dst_desc()},
                                             {DNNL_ARG_WEIGHTS, 1, false, p.weights, desc.weights_desc()},
                                             {DNNL_ARG_DIFF_SRC, 0, true, p.source, desc.diff_src_desc()}});
}

std::unique_ptr<Kernel> make_weights_gradient(const Problem& p) {
  const auto desc = best(p, [&](const auto& x, const auto& w, const auto& y) {
    return dnnl::convolution_backward_weights::primitive_desc(onednn_engine(), kDirect, x, w, y, p.strides, p.dilations,
                                                              p.before, p.after, forward(p, x, w, y),
                                                              onednn_attributes());
  });
  return std::make_unique<PrimitiveKernel>(
      dnnl::convolution_backward_weights(desc), desc.scratchpad_desc(),
      std::vector<PrimitiveKernel::Argument>{{DNNL_ARG_DIFF_DST, 0, false, p.result, desc.diff_dst_desc()},
                                             {DNNL_ARG_SRC, 1, false, p.source, desc.src_desc()},
                                             {DNNL_ARG_DIFF_WEIGHTS, 0, true, p.weights, desc.diff_weights_desc()}});
}

using MakeDirect = std::unique_ptr<Kernel> (*)(const Problem&);

// Two-dimensional convolutions of float32 may go to other kernels (csrc/README.md).
std::unique_ptr<Kernel> make_convolution(const Op& op, MakeDirect make_direct) {
  const ConvolutionShapes shapes(op);
  const auto& [x, w, y] = shapes;
  if (!onednn_multiplies(op.results[0].dtype)) refuse(op, op.operands[0].type());
  if (x.element_count() == 0 || w.element_count() == 0 || y.element_count() == 0) return make_zeros(op);
  try {
    const Team team;
    if (x.rank() != 4 || op.results[0].dtype != ir::DType::float32) return make_direct(Problem(op, shapes));
    std::unique_ptr<Kernel> kernel = make_dense_convolution(op);
    if (!kernel) kernel = make_direct(Problem(op, shapes));
    return amx::make_convolution(op, std::move(kernel));
  } catch (const dnnl::error& error) {
    op.fail(std::string("oneDNN has no kernel for this convolution: ") + error.what());
  }
}

}  // namespace

bool is_convolution(const Op& op) { return op.attributes.has(Attr::kWeightsLayout); }

bool convolves_halves(const Op& convolution) {
  // oneDNN takes twice as long for float16 as AMX takes for float32. In its gradients of weights of halves, threads
  // wait for each other without sleeping: beside other programs they took 20 times as long as with floats. For small
  // images the kernels for floats are faster.
  const bool computes_weights =
      convolution.code == OpCode::conv2d_weights_gradient || convolution.code == OpCode::conv3d_weights_gradient;
  return convolution.results[0].dtype == ir::DType::bfloat16 && !computes_weights && !has_small_images(convolution);
}

bool has_small_images(const Op& convolution) {
  const ConvolutionShapes shapes(convolution);
  const ir::LayoutAxes data = ir::LayoutAxes::of_data(convolution.attributes.word(Attr::kDataLayout));
  const ir::WeightsAxes kernel = ir::WeightsAxes::of_weights(convolution.attributes.word(Attr::kWeightsLayout));
  int64_t positions = 1, taps = 1;
  for (int64_t axis : data.spatial) positions *= shapes.source[axis];
  for (int64_t axis : kernel.spatial) taps *= shapes.weights[axis];
  return positions < taps;
}

ConvolutionShapes::ConvolutionShapes(const Op& convolution)
    : source(convolution.operands[0].shape()),
      weights(convolution.operands[1].shape()),
      result(convolution.results[0].shape) {
  switch (convolution.code) {
    case OpCode::conv2d_data_gradient:
    case OpCode::conv3d_data_gradient: std::swap(source, result); break;
    case OpCode::conv2d_weights_gradient:
    case OpCode::conv3d_weights_gradient:
      std::swap(source, result);
      std::swap(source, weights);
      break;
    default: break;
  }
}

std::unique_ptr<Kernel> make_conv2d(const Op& op) { return make_convolution(op, &make_forward); }
std::unique_ptr<Kernel> make_conv3d(const Op& op) { return make_convolution(op, &make_forward); }
std::unique_ptr<Kernel> make_conv2d_data_gradient(const Op& op) { return make_convolution(op, &make_data_gradient); }
std::unique_ptr<Kernel> make_conv3d_data_gradient(const Op& op) { return make_convolution(op, &make_data_gradient); }
std::unique_ptr<Kernel> make_conv2d_weights_gradient(const Op& op) {
  return make_convolution(op, &make_weights_gradient);
}
std::unique_ptr<Kernel> make_conv3d_weights_gradient(const Op& op) {
  return make_convolution(op, &make_weights_gradient);
}

}  // namespace alloy::cpu
