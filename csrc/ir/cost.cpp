#include "ir/cost.h"

#include <algorithm>

#include "ir/elements.h"
#include "ir/regions.h"
#include "ir/windows.h"

namespace alloy::ir {
namespace {

uint64_t elements(const Value& v) { return static_cast<uint64_t>(v.shape().element_count()); }
uint64_t elements(const Op& op) { return static_cast<uint64_t>(op.results[0].shape.element_count()); }

// 2 for each result of the forward convolution and each weight of the filter that gives it.
uint64_t convolution_flops(const Op& op, const Value& weights, const Value& result) {
  const int64_t filters = weights.shape()[WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout)).out];
  return filters == 0 ? 0 : 2 * elements(result) * (elements(weights) / static_cast<uint64_t>(filters));
}

uint64_t window_flops(const Op& op, const Value& windows) {
  const Dims& window = op.attributes.ints(Attr::kWindow);
  return elements(windows) * static_cast<uint64_t>(window[0] * window[1]);
}

Cost total(const Block& block) {
  Cost sum;
  for (const auto& op : block.ops) {
    const Cost one = cost(*op);
    sum.flops += one.flops;
    sum.bytes_read += one.bytes_read;
    sum.bytes_written += one.bytes_written;
  }
  return sum;
}

// How often a loop's regions run, as far as constants say; once of a loop that does not say.
uint64_t iterations(const Op& op) {
  if (regions_of(op.code).run != Run::kCounted) return 1;
  int64_t bounds[3];
  for (size_t i = 0; i < 3; ++i) {
    const std::optional<Elements> known = known_elements(op.operands[i]);
    if (!known || known->size() != 1 || !known->front()) return 1;
    bounds[i] = *known->front();
  }
  const auto [lower, upper, step] = bounds;
  return lower >= upper ? 0 : (static_cast<uint64_t>(upper - lower) - 1) / static_cast<uint64_t>(step) + 1;
}

Cost of_loop(const Op& op) {
  Cost sum;
  for (const auto& region : op.regions) {
    const Cost one = total(*region);
    sum.flops += one.flops;
    sum.bytes_read += one.bytes_read;
    sum.bytes_written += one.bytes_written;
  }
  const uint64_t times = iterations(op);
  return {sum.flops * times, sum.bytes_read * times, sum.bytes_written * times};
}

Cost dearer(const Cost& a, const Cost& b) {
  return {std::max(a.flops, b.flops), std::max(a.bytes_read, b.bytes_read), std::max(a.bytes_written, b.bytes_written)};
}

uint64_t structured_flops(const Op& op) {
  const Value self{const_cast<Op*>(&op), 0};
  switch (op.code) {
    case OpCode::matmul: {
      const Shape& a = op.operands[0].shape();
      return 2 * elements(op) * static_cast<uint64_t>(a[a.rank() - (op.attributes.flag(Attr::kTransposeA) ? 2 : 1)]);
    }
    case OpCode::conv2d: return convolution_flops(op, op.operands[1], self);
    case OpCode::conv2d_data_gradient: return convolution_flops(op, op.operands[1], op.operands[0]);
    case OpCode::conv2d_weights_gradient: return convolution_flops(op, self, op.operands[0]);
    case OpCode::max_pool2d:
    case OpCode::avg_pool2d: return window_flops(op, self);
    case OpCode::max_pool2d_gradient:
    case OpCode::avg_pool2d_gradient: return window_flops(op, op.operands[0]);
    case OpCode::softmax:
    case OpCode::log_softmax: return 5 * elements(op.operands[0]);
    case OpCode::softmax_cross_entropy: return 7 * elements(op.operands[0]);
    case OpCode::reduce_like: return op.operands[0].shape() == op.results[0].shape ? 0 : elements(op.operands[0]);
    case OpCode::sgd: return 2 * elements(op);
    case OpCode::adam: return (op.operands.size() == 9 ? 13 : 12) * elements(op);
    case OpCode::fused: return total(*op.regions[0]).flops;
    default: return 0;
  }
}

uint64_t flops(const Op& op) {
  switch (op.info().family) {
    case Family::kReduction:
    case Family::kArgReduction: return elements(op.operands[0]);
    case Family::kMoment: return (op.code == OpCode::variance ? 4 : 1) * elements(op.operands[0]);
    case Family::kStructured: return structured_flops(op);
    default: return elements(op);
  }
}

// Whether the op only says what memory that is there already means.
bool is_name(const Op& op) {
  switch (op.code) {
    case OpCode::placeholder:
    case OpCode::argument:
    case OpCode::constant:
    case OpCode::empty:
    case OpCode::shaped:
    case OpCode::variable:
    case OpCode::read_variable:
    case OpCode::identity:
    case OpCode::stop_gradient:
    case OpCode::reshape:
    case OpCode::reshape_like:
    case OpCode::squeeze:
    case OpCode::expand_dims: return true;
    default: return false;
  }
}

uint64_t bytes_read(const Op& op) {
  if (op.code == OpCode::slice) return op.results[0].byte_count();
  uint64_t bytes = 0;
  // The variable that is assigned to is only written.
  for (size_t i = op.code == OpCode::assign ? 1 : 0; i < op.operands.size(); ++i) {
    if (reads(op, i)) bytes += op.operands[i].type().byte_count();
  }
  return bytes;
}

uint64_t bytes_written(const Op& op) {
  if (op.code == OpCode::assign) return op.operands[1].type().byte_count();
  uint64_t bytes = 0;
  for (const Type& type : op.results) bytes += type.byte_count();
  return bytes;
}

}  // namespace

Cost cost(const Op& op) {
  if (is_name(op)) return {};
  if (regions_of(op.code).is_loop()) return of_loop(op);
  if (regions_of(op.code).run == Run::kEither) {
    Cost branch = dearer(total(*op.regions[0]), total(*op.regions[1]));
    branch.bytes_read += bytes_read(op);
    return branch;
  }
  return {flops(op), bytes_read(op), bytes_written(op)};
}

}  // namespace alloy::ir
