// Convolutions and their gradients by oneDNN.
#include "cpu/convolution/convolution.h"

#include <cstring>
#include <optional>

#include "cpu/amx/convolution.h"
#include "cpu/families.h"
#include "cpu/onednn/divided.h"
#include "cpu/shape/packed.h"
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
  // Where the source and the result of a part begin, in bytes.
  size_t source_begin = 0, result_begin = 0;

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

  int64_t images() const { return source.get_dims()[0]; }
  int64_t rows() const { return result.get_dims()[kRows]; }

  Problem of_images(Section images) const {
    Problem part = *this;
    part.source_begin += take(part.source, 0, images);
    part.result_begin += take(part.result, 0, images);
    return part;
  }

  // Along the first spatial axis of the result. Null if some rows see padding alone.
  std::optional<Problem> of_rows(Section rows) const {
    const int64_t source_rows = source.get_dims()[kRows], stride = strides[0],
                  taps = weights.get_dims()[weights.get_dims().size() - strides.size()],
                  seen = (taps - 1) * (dilations[0] + 1) + 1, begin = rows.begin * stride - before[0],
                  end = (rows.end - 1) * stride - before[0] + seen;
    const Section sources{std::max<int64_t>(begin, 0), std::min(end, source_rows)};
    if (sources.length() <= 0) return std::nullopt;
    Problem part = *this;
    part.before[0] = sources.begin - begin;
    part.after[0] = end - sources.end;
    part.source_begin += take(part.source, kRows, sources);
    part.result_begin += take(part.result, kRows, rows);
    return part;
  }

 private:
  static constexpr int64_t kRows = 2;  // in oneDNN's order

  // Cuts the description to a section of an axis. Returns where it begins, in bytes.
  static size_t take(memory::desc& desc, int64_t axis, Section section) {
    memory::dims dims = desc.get_dims(), strides = desc.get_strides();
    const size_t begin = section.begin * strides[axis] * memory::data_type_size(desc.get_data_type());
    dims[axis] = section.length();
    // oneDNN knows a layout by all strides, even that of a single image.
    if (dims[0] == 1) strides[0] = strides[1] == 1 ? dims[kRows] * strides[kRows] : dims[1] * strides[1];
    desc = {dims, desc.get_data_type(), strides};
    return begin;
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
auto best(const Problem& p, const memory::desc& weights, const Make& make) {
  const auto free = [&] { return make(any_layout(p.source), weights, any_layout(p.result)); };
  if (!p.channels_last) return free();
  auto plain = make(p.source, weights, p.result);
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

// A kernel for a part, and the layout of weights that it wants. `weights` is the layout of the other parts' weights, or
// any.
struct Made {
  std::unique_ptr<PrimitiveKernel> kernel;
  memory::desc weights;
};
using MakePart = Made (*)(const Problem& part, const memory::desc& weights);

Made make_forward(const Problem& p, const memory::desc& weights) {
  const auto desc = best(p, weights, [&](const auto& x, const auto& w, const auto& y) { return forward(p, x, w, y); });
  return {std::make_unique<PrimitiveKernel>(
              dnnl::convolution_forward(desc), desc.scratchpad_desc(),
              std::vector<PrimitiveKernel::Argument>{{DNNL_ARG_SRC, 0, false, p.source, desc.src_desc()},
                                                     {DNNL_ARG_WEIGHTS, 1, false, p.weights, desc.weights_desc()},
                                                     {DNNL_ARG_DST, 0, true, p.result, desc.dst_desc()}}),
          desc.weights_desc()};
}

Made make_data_gradient(const Problem& p, const memory::desc& weights) {
  const auto desc = best(p, weights, [&](const auto& x, const auto& w, const auto& y) {
    return dnnl::convolution_backward_data::primitive_desc(onednn_engine(), kDirect, x, w, y, p.strides, p.dilations,
                                                           p.before, p.after, forward(p, x, w, y), onednn_attributes());
  });
  return {std::make_unique<PrimitiveKernel>(
              dnnl::convolution_backward_data(desc), desc.scratchpad_desc(),
              std::vector<PrimitiveKernel::Argument>{{DNNL_ARG_DIFF_DST, 0, false, p.result, desc.diff_dst_desc()},
                                                     {DNNL_ARG_WEIGHTS, 1, false, p.weights, desc.weights_desc()},
                                                     {DNNL_ARG_DIFF_SRC, 0, true, p.source, desc.diff_src_desc()}}),
          desc.weights_desc()};
}

Made make_weights_gradient(const Problem& p, const memory::desc& weights) {
  const auto desc = best(p, weights, [&](const auto& x, const auto& w, const auto& y) {
    return dnnl::convolution_backward_weights::primitive_desc(onednn_engine(), kDirect, x, w, y, p.strides, p.dilations,
                                                              p.before, p.after, forward(p, x, w, y),
                                                              onednn_attributes());
  });
  return {std::make_unique<PrimitiveKernel>(dnnl::convolution_backward_weights(desc), desc.scratchpad_desc(),
                                            std::vector<PrimitiveKernel::Argument>{
                                                {DNNL_ARG_DIFF_DST, 0, false, p.result, desc.diff_dst_desc()},
                                                {DNNL_ARG_SRC, 1, false, p.source, desc.src_desc()},
                                                {DNNL_ARG_DIFF_WEIGHTS, 0, true, p.weights, desc.diff_weights_desc()}}),
          desc.diff_weights_desc()};
}

// The parts of a convolution: images, or rows of the result if there are fewer images than parts.
std::vector<Problem> divide(const Problem& problem, int64_t count, bool may_take_rows) {
  std::vector<Problem> parts;
  for (const Section& images : sections(problem.images(), count)) parts.push_back(problem.of_images(images));
  if (std::ssize(parts) >= count || !may_take_rows) return parts;
  std::vector<Problem> bands;
  for (const Problem& part : parts) {
    for (const Section& rows : sections(part.rows(), count / std::ssize(parts))) {
      const std::optional<Problem> band = part.of_rows(rows);
      if (!band) return parts;
      bands.push_back(*band);
    }
  }
  return bands;
}

// The parts of a convolution's gradient of the weights are summands.
std::unique_ptr<Kernel> make_direct(const Op& op, const ConvolutionShapes& shapes) {
  const bool of_weights = op.code == OpCode::conv2d_weights_gradient || op.code == OpCode::conv3d_weights_gradient,
             of_data = op.code == OpCode::conv2d_data_gradient || op.code == OpCode::conv3d_data_gradient;
  const MakePart make = of_weights ? &make_weights_gradient : of_data ? &make_data_gradient : &make_forward;
  const Problem problem(op, shapes);
  const auto& [x, w, y] = shapes;
  const auto count = [](const Shape& shape) { return static_cast<double>(shape.element_count()); };
  // Each weight meets every image and position of its filter's results.
  int64_t parts = parts_for(count(w) * count(y) / static_cast<double>(problem.result.get_dims()[1]));
  if (of_weights && op.results[0].dtype != ir::DType::float32) parts = 1;

  const OnednnCall alone;
  memory::desc weights = any_layout(problem.weights);
  std::vector<DividedKernel::Part> kernels;
  for (const Problem& part : divide(problem, parts, !of_weights && !of_data)) {
    Made made = make(part, weights);
    weights = made.weights;
    const size_t source = part.source_begin, result = part.result_begin;
    if (of_weights) kernels.push_back({std::move(made.kernel), result, source, 0});
    else if (of_data) kernels.push_back({std::move(made.kernel), result, 0, source});
    else kernels.push_back({std::move(made.kernel), source, 0, result});
  }
  if (of_weights) return std::make_unique<DividedKernel>(std::move(kernels), w.element_count());
  return std::make_unique<DividedKernel>(std::move(kernels));
}

// Two-dimensional convolutions of float32 may go to other kernels (csrc/README.md).
std::unique_ptr<Kernel> make_convolution(const Op& op) {
  const ConvolutionShapes shapes(op);
  const auto& [x, w, y] = shapes;
  if (!onednn_multiplies(op.results[0].dtype)) refuse(op, op.operands[0].type());
  if (x.element_count() == 0 || w.element_count() == 0 || y.element_count() == 0) return make_zeros(op);
  try {
    if (x.rank() != 4 || op.results[0].dtype != ir::DType::float32) return make_direct(op, shapes);
    std::unique_ptr<Kernel> kernel = make_dense_convolution(op);
    if (!kernel) kernel = make_direct(op, shapes);
    return amx::make_convolution(op, std::move(kernel));
  } catch (const dnnl::error& error) {
    op.fail(std::string("oneDNN has no kernel for this convolution: ") + error.what());
  }
}

}  // namespace

bool is_convolution(const Op& op) { return op.attributes.has(Attr::kWeightsLayout); }

bool convolves_halves(const Op& convolution) {
  // oneDNN takes twice as long for float16 as AMX takes for float32. Summands of a gradient of weights are floats. For
  // small images the kernels for floats are faster.
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

std::unique_ptr<Kernel> make_conv2d(const Op& op) { return make_convolution(op); }
std::unique_ptr<Kernel> make_conv3d(const Op& op) { return make_convolution(op); }
std::unique_ptr<Kernel> make_conv2d_data_gradient(const Op& op) { return make_convolution(op); }
std::unique_ptr<Kernel> make_conv3d_data_gradient(const Op& op) { return make_convolution(op); }
std::unique_ptr<Kernel> make_conv2d_weights_gradient(const Op& op) { return make_convolution(op); }
std::unique_ptr<Kernel> make_conv3d_weights_gradient(const Op& op) { return make_convolution(op); }

}  // namespace alloy::cpu
