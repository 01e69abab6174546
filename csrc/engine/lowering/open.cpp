#include "engine/lowering/open.h"

#include <algorithm>
#include <cstdint>

#include "ir/quirks.h"
#include "ir/rules/windows.h"

namespace alloy::engine {
namespace {

using ir::Shape;

size_t unknown_axes(const Shape& shape) {
  return static_cast<size_t>(std::count(shape.dims().begin(), shape.dims().end(), ir::kUnknown));
}

// For more axes a stand-in counts elements, which must be known.
bool has_few_axes(const ir::Op& op) {
  return std::all_of(op.operands.begin(), op.operands.end(),
                     [](const ir::Value& v) { return v.shape().rank() <= ir::kMostRank; });
}

bool takes_the_whole(const ir::Op& op) {
  const Shape& source = op.operands[0].shape();
  for (int64_t i = 0; i < source.rank(); ++i) {
    const bool is_whole = op.attributes.ints(ir::Attr::kStarts)[i] == 0 &&
                          op.attributes.ints(ir::Attr::kEnds)[i] == INT64_MAX &&
                          op.attributes.ints(ir::Attr::kStrides)[i] == 1;
    if (source[i] == ir::kUnknown && !is_whole) return false;
  }
  return true;
}

bool has_known_windows(const ir::Op& op) {
  const Shape& result = op.results[0].shape;
  const ir::Dims axes = ir::window_axes(op.attributes, result.rank());
  return std::all_of(axes.begin(), axes.end(), [&](int64_t axis) { return result[axis] != ir::kUnknown; }) &&
         (op.operands.size() < 2 || op.operands[1].type().is_static());
}

// Apple's padding takes only a constant of a floating type.
bool has_known_filler(const ir::Op& op) {
  const ir::Value filler = op.operands.back();
  return filler.op->code == ir::OpCode::constant && accepts(ir::TypeClass::floating, filler.dtype());
}

// True if the op fulfils the condition of its row for open shapes.
bool is_lowered_open(const ir::Op& op) {
  switch (op.info().facts.open) {
    case ir::Open::never: return false;
    case ir::Open::always: return true;
    case ir::Open::few_axes: return has_few_axes(op);
    case ir::Open::one_length: return unknown_axes(op.results[0].shape) <= 1;
    case ir::Open::whole: return takes_the_whole(op);
    case ir::Open::windows: return has_known_windows(op);
    case ir::Open::filler: return has_known_filler(op);
  }
  return false;
}

}  // namespace

void require_open(const ir::Op& op) {
  const auto is_known = [](const ir::Type& type) { return type.is_static(); };
  const auto is_ranked = [](const ir::Type& type) { return type.shape.ranked(); };
  const auto all = [&](const auto& holds) {
    return std::all_of(op.operands.begin(), op.operands.end(), [&](const ir::Value& v) { return holds(v.type()); }) &&
           std::all_of(op.results.begin(), op.results.end(), holds);
  };
  if (all(is_known) || (all(is_ranked) && is_lowered_open(op))) return;
  const auto open =
      std::find_if(op.operands.begin(), op.operands.end(), [](const ir::Value& v) { return !v.type().is_static(); });
  const Shape& shape = open != op.operands.end() ? open->shape() : op.results[0].shape;
  op.fail("The shape " + to_string(shape) + " is open, with which the op cannot be exported; give the shapes of the " +
          "feeds");
}

}  // namespace alloy::engine
