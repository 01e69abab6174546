// Weighted reductions of windows over the last four axes.

#include "facade/ops/windows/window.h"
#include "ir/rules/windows.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::Expr;

namespace {

// One of the last four axes, with `count` windows.
struct StencilAxis {
  ir::Window window;
  int64_t count;
};

std::vector<StencilAxis> axes_of(const WindowLists& lists, const ir::Shape& source, const ir::Shape& weights) {
  if (lists.paddingStyle == MPSGraphPaddingStyleExplicitOffset) {
    raise_invalid(
        @"[stencil] The position of windows in the padding style ExplicitOffset is not documented; use Explicit.");
  }
  if (lists.reductionMode > MPSGraphReductionModeProduct) {
    raise_invalid(
        @"[stencil] The results of the reduction modes ArgumentMin and ArgumentMax are not documented; use Min, "
        @"Max, Sum or Product.");
  }
  const int64_t rank = source.ranked() ? source.rank() : 0;
  bool fits = rank >= 4 && weights.is_static() && weights.rank() == 4;
  for (int64_t i = 0; fits && i < 4; ++i) fits = source[rank - 4 + i] > 0 && weights[i] > 0;
  if (!fits) {
    raise_invalid(
        @"[stencil] A source whose last four extents are known and weights of rank 4 were expected, got %s and "
        @"%s.",
        to_string(source).c_str(), to_string(weights).c_str());
  }
  const ir::Attributes attributes = list_attributes(lists, @"stencil");
  std::vector<StencilAxis> axes;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t extent = source[rank - 4 + i];
    const ir::Window window = ir::window_of(attributes, i, weights[i], extent);
    axes.push_back({window, ir::output_extent(window, extent, false)});
    if (axes.back().count < 1) {
      raise_invalid(@"[stencil] Windows of %s do not fit the source %s and its padding.", to_string(weights).c_str(),
                    to_string(source).c_str());
    }
  }
  return axes;
}

Expr padded(Expr x, const WindowLists& lists, const std::vector<StencilAxis>& axes) {
  static constexpr const char* kWords[] = {"constant", "reflect", "symmetric",   "edge",
                                           "constant", "wrap",    "antiperiodic"};
  ir::Dims padding(2 * (x.shape().rank() - 4), 0);
  for (const StencilAxis& axis : axes) {
    padding.push_back(axis.window.before);
    padding.push_back(axis.window.after);
  }
  if (padding == ir::Dims(padding.size(), 0)) return x;
  std::vector<ir::Value> operands{x.value()};
  if (lists.boundaryMode == MPSGraphPaddingModeConstant) operands.push_back(x.scalar(lists.paddingConstant).value());
  const ir::Attributes attributes{{Attr::kPadding, padding}, {Attr::kPadMode, std::string(kWords[lists.boundaryMode])}};
  return Expr(x.graph(), ir::compose(x.graph(), ir::Composite::pad_edges, operands, attributes).front());
}

// Reduces along the last axis, which gets length 1.
Expr reduced(Expr x, MPSGraphReductionMode mode) {
  switch (mode) {
    case MPSGraphReductionModeMin: return min(x, {-1});
    case MPSGraphReductionModeMax: return max(x, {-1});
    case MPSGraphReductionModeSum: return sum(x, {-1});
    default: return product(x, {-1});
  }
}

Expr stencil(Expr x, Expr weights, const WindowLists& lists, const std::vector<StencilAxis>& axes) {
  const int64_t first = x.shape().rank() - 4, taps = weights.shape().element_count();
  ir::Dims dims(x.shape().dims().begin(), x.shape().dims().end() - 4), order;
  x = padded(x, lists, axes);
  // Turns each axis into two: windows, and the taps of each window.
  for (int64_t i = 3; i >= 0; --i) {
    const auto& [window, count] = axes[i];
    std::vector<int64_t> places;
    for (int64_t k = 0; k < count; ++k) {
      for (int64_t tap = 0; tap < window.size; ++tap) places.push_back(k * window.stride + tap * window.dilation);
    }
    x = gather(x, ir::integers(x.graph(), ir::DType::int32, {count, window.size}, places), first + i);
  }
  // Makes one row for each window, because imitated systems reduce no tensor of more than four axes.
  for (int64_t i = 0; i < first; ++i) order.push_back(i);
  for (int64_t i = 0; i < 8; ++i) order.push_back(first + 2 * (i % 4) + i / 4);
  for (const StencilAxis& axis : axes) dims.push_back(axis.count);
  const Expr rows = reshape(transpose(x, order), {ir::kUnknown, taps});
  return reshape(reduced(rows * reshape(weights, {taps}), lists.reductionMode), dims);
}

}  // namespace

@implementation MPSGraph (MPSGraphStencilOps)

- (MPSGraphTensor*)stencilWithSourceTensor:(MPSGraphTensor*)source
                             weightsTensor:(MPSGraphTensor*)weights
                                descriptor:(MPSGraphStencilOpDescriptor*)descriptor
                                      name:(NSString*)name {
  const WindowLists& lists = fields_of(descriptor);
  const Expr x = expr_of(self, source), w = expr_of(self, weights);
  if (x.value().dtype() != w.value().dtype()) {
    raise_invalid(@"[stencil] Weights of the source's type were expected, got %s for %s.",
                  to_string(w.value().type()).c_str(), to_string(x.value().type()).c_str());
  }
  const std::vector<StencilAxis> axes = axes_of(lists, x.shape(), w.shape());
  const auto work = [&](Expr a, Expr b) { return stencil(a, b, lists, axes); };
  return compose(self, name, [&] { return ir::rounded_once(work, x, w); });
}

@end
