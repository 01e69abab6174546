// Replaces convolutions of 1x1 kernels by matrix products. On small images a product is many times faster, and it can
// be fused.
#include <optional>

#include "cpu/convolution/convolution.h"
#include "cpu/passes/pointwise.h"
#include "ir/rules/windows.h"
#include "ir/transform/rewrite.h"

namespace alloy::cpu {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Graph;
using ir::Op;
using ir::OpCode;
using ir::Replacement;
using ir::Shape;
using ir::Value;

// A 1x1 convolution (channels last) as products of matrices with a row for each position that the kernel visits.
class Pointwise {
 public:
  Pointwise(Graph& graph, const Op& op, const Shape& source, const Shape& weights, const Shape& result)
      : graph_(graph), source_(source), result_(result), matrix_({weights[2], weights[3]}) {
    const Dims& steps = op.attributes.ints(Attr::kStrides);
    for (int64_t i = 0; i < source.rank(); ++i) {
      const int64_t stride = i == 1 || i == 2 ? steps[i - 1] : 1;
      const int64_t extent = i == 3 ? source[3] : result[i];
      starts_.push_back(0);
      ends_.push_back((extent - 1) * stride + 1);
      strides_.push_back(stride);
      taken_.push_back(extent);
    }
  }

  Value forward(Value x, Value w) const { return reshape(product({taken(x), matrix(w)}, false, false), result_); }

  Value data_gradient(Value g, Value w, Value like) const {
    const Value rows = reshape(product({flat(g), matrix(w)}, false, true), Shape(taken_));
    if (rows.shape() == source_) return rows;
    return graph_.value(OpCode::slice_gradient, {rows, like}, slice());
  }

  Value weights_gradient(Value g, Value x, const Shape& weights) const {
    return reshape(product({taken(x), flat(g)}, true, false), weights);
  }

 private:
  Value reshape(Value v, const Shape& shape) const {
    return v.shape() == shape ? v : graph_.value(OpCode::reshape, {v}, {{Attr::kShape, shape}});
  }
  Value flat(Value v) const { return reshape(v, {v.shape()[0] * v.shape()[1] * v.shape()[2], v.shape()[3]}); }
  Value matrix(Value w) const { return reshape(w, matrix_); }
  Value taken(Value x) const { return flat(Shape(taken_) == source_ ? x : graph_.value(OpCode::slice, {x}, slice())); }
  Value product(std::vector<Value> factors, bool transpose_a, bool transpose_b) const {
    return graph_.value(OpCode::matmul, std::move(factors),
                        {{Attr::kTransposeA, transpose_a}, {Attr::kTransposeB, transpose_b}});
  }
  ir::Attributes slice() const { return {{Attr::kStarts, starts_}, {Attr::kEnds, ends_}, {Attr::kStrides, strides_}}; }

  Graph& graph_;
  Shape source_, result_, matrix_;
  Dims starts_, ends_, strides_, taken_;
};

bool is_pointwise(const Op& op, const Shape& source, const Shape& weights) {
  if (op.attributes.word(Attr::kDataLayout) != "NHWC" || op.attributes.word(Attr::kWeightsLayout) != "HWIO") {
    return false;
  }
  if (weights[0] != 1 || weights[1] != 1 || op.attributes.integer(Attr::kGroups) != 1) return false;
  for (int axis : {0, 1}) {
    const ir::Window window = ir::window_of(op.attributes, axis, 1, source[axis + 1]);
    if (window.before != 0 || window.after != 0) return false;
  }
  return true;
}

Replacement lower(ir::Rewriter& rewriter, const Op& op, const std::vector<Value>& operands) {
  if (!is_convolution(op) || op.results[0].shape.element_count() == 0) return std::nullopt;
  const auto& [source, weights, result] = ConvolutionShapes(op);
  if (!is_pointwise(op, source, weights)) return std::nullopt;
  const Pointwise pointwise(rewriter.copy(), op, source, weights, result);
  switch (op.code) {
    case OpCode::conv2d: return {{pointwise.forward(operands[0], operands[1])}};
    case OpCode::conv2d_data_gradient: return {{pointwise.data_gradient(operands[0], operands[1], operands[2])}};
    default: return {{pointwise.weights_gradient(operands[0], operands[1], weights)}};
  }
}

}  // namespace

std::unique_ptr<Graph> lower_convolutions(const Graph& graph) { return ir::Rewriter(lower).run(graph); }

}  // namespace alloy::cpu
