#include "engine/lowering/open.h"

#include <algorithm>
#include <cstdint>

#include "ir/quirks.h"
#include "ir/rules/windows.h"

namespace alloy::engine {
namespace {

using ir::Family;
using ir::OpCode;
using ir::Shape;

size_t unknown_axes(const Shape& shape) {
  return static_cast<size_t>(std::count(shape.dims().begin(), shape.dims().end(), ir::kUnknown));
}

// What stands in for a sum or a product of more axes counts elements.
bool has_few_axes(const ir::Op& op) {
  return std::all_of(op.operands.begin(), op.operands.end(),
                     [](const ir::Value& v) { return v.shape().rank() <= ir::kMostRank; });
}

// Along open axes the whole of the source.
bool is_slice_of_known_axes(const ir::Op& op) {
  const Shape& source = op.operands[0].shape();
  for (int64_t i = 0; i < source.rank(); ++i) {
    const bool is_whole = op.attributes.ints(ir::Attr::kStarts)[i] == 0 &&
                          op.attributes.ints(ir::Attr::kEnds)[i] == INT64_MAX &&
                          op.attributes.ints(ir::Attr::kStrides)[i] == 1;
    if (source[i] == ir::kUnknown && !is_whole) return false;
  }
  return true;
}

// Windows lie along axes that are known.
bool has_windows_of_known_axes(const ir::Op& op, const Shape& source) {
  const ir::Dims axes = ir::window_axes(op.attributes, source.rank());
  return std::all_of(axes.begin(), axes.end(), [&](int64_t axis) { return source[axis] != ir::kUnknown; });
}

// With a float that is known, as Apple's own padding wants.
bool is_pad_with_constant(const ir::Op& op) {
  return op.operands[1].op->code == OpCode::constant && accepts(ir::TypeClass::floating, op.results[0].dtype);
}

bool is_lowered_open(const ir::Op& op) {
  switch (op.info().family) {
    case Family::kReduction:
    case Family::kMoment:
    case Family::kArgReduction: return has_few_axes(op);
    case Family::kStructured: break;
    default: return true;
  }
  switch (op.code) {
    case OpCode::placeholder:
    case OpCode::cast:
    case OpCode::transpose:
    case OpCode::concat:
    case OpCode::gather:
    case OpCode::gather_nd:
    case OpCode::shape_of:
    case OpCode::shaped:
    case OpCode::stop_gradient:
    case OpCode::broadcast_like:
    case OpCode::reshape_like:
    case OpCode::rnn:
    case OpCode::lstm:
    case OpCode::gru:
    case OpCode::if_else:
    case OpCode::while_loop:
    case OpCode::for_loop: return true;
    case OpCode::reshape:
    case OpCode::squeeze:
    case OpCode::expand_dims: return unknown_axes(op.results[0].shape) <= 1;
    case OpCode::slice: return is_slice_of_known_axes(op);
    case OpCode::softmax:
    case OpCode::log_softmax:
    case OpCode::matmul: return has_few_axes(op);
    case OpCode::pad: return is_pad_with_constant(op);
    case OpCode::conv2d:
    case OpCode::conv3d:
      return has_windows_of_known_axes(op, op.operands[0].shape()) && op.operands[1].type().is_static();
    case OpCode::conv2d_data_gradient:
      return has_windows_of_known_axes(op, op.results[0].shape) && op.operands[1].type().is_static();
    case OpCode::max_pool2d:
    case OpCode::avg_pool2d: return has_windows_of_known_axes(op, op.operands[0].shape());
    default: return false;
  }
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
