#include "runtime/passes.h"

#include <map>
#include <optional>
#include <tuple>

namespace alloy::portable {
namespace {

using ir::Attr;
using ir::Graph;
using ir::Op;
using ir::OpCode;
using ir::Shape;
using ir::Type;
using ir::Value;
using Replacement = std::optional<std::vector<Value>>;

Value constant(Graph& graph, const Type& type, double value) {
  return graph.value(OpCode::constant, {}, {{Attr::kValue, ir::Literal::splat(type, value)}});
}

Value empty_like(Graph& graph, Value v) {
  return graph.value(OpCode::empty, {}, {{Attr::kShape, v.shape()}, {Attr::kDtype, v.dtype()}});
}

double reduced_count(const Op& op, const Shape& shape) {
  std::vector<bool> reduced(static_cast<size_t>(shape.rank()), false);
  for (int64_t axis : op.attributes.ints(Attr::kAxes)) reduced[static_cast<size_t>(*ir::normalize_axis(axis, shape.rank()))] = true;
  double count = 1;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (reduced[i]) count *= static_cast<double>(shape.dims()[i]);
  }
  return count;
}

Value shape_constant(Graph& graph, const Shape& shape) {
  std::vector<int32_t> dims(shape.dims().begin(), shape.dims().end());
  const Type type{ir::DType::int32, Shape({shape.rank()})};
  return graph.value(OpCode::constant, {}, {{Attr::kValue, std::make_shared<ir::Literal>(type, std::as_bytes(std::span(dims)))}});
}

Replacement resolve(ir::Rewriter& rewriter, const Op& op, const std::vector<Value>& operands) {
  Graph& copy = rewriter.copy();
  for (const Type& type : op.results) {
    // The unused branch of what a gradient borrows is empty, of whatever shape the other branch has.
    if (!type.is_static() && op.code != OpCode::empty) op.fail("The result " + to_string(type) + " is not of a known shape");
  }
  auto one = [](Value v) { return Replacement({v}); };
  auto same_shape = [&] { return operands[0].shape() == op.results[0].shape; };
  auto shaped = [&](OpCode code) { return one(copy.value(code, {operands[0]}, {{Attr::kShape, op.results[0].shape}})); };
  auto with_empty = [&](size_t like) {
    std::vector<Value> resolved = operands;
    resolved[like] = empty_like(copy, operands[like]);
    return one(copy.value(op.code, resolved, op.attributes));
  };
  switch (op.code) {
    case OpCode::identity:
    case OpCode::stop_gradient: return one(operands[0]);
    case OpCode::cast: return operands[0].dtype() == op.results[0].dtype ? one(operands[0]) : std::nullopt;
    case OpCode::reshape:
    case OpCode::reshape_like:
    case OpCode::squeeze:
    case OpCode::expand_dims: return same_shape() ? one(operands[0]) : shaped(OpCode::reshape);
    case OpCode::broadcast_to:
    case OpCode::broadcast_like: return same_shape() ? one(operands[0]) : shaped(OpCode::broadcast_to);
    case OpCode::reduce_like: return same_shape() ? one(operands[0]) : with_empty(1);
    case OpCode::slice_gradient:
    case OpCode::avg_pool2d_gradient: return with_empty(1);
    case OpCode::conv2d_data_gradient:
    case OpCode::conv2d_weights_gradient: return with_empty(2);
    case OpCode::count: return one(constant(copy, op.results[0], reduced_count(op, operands[0].shape())));
    case OpCode::shape_of: return one(shape_constant(copy, operands[0].shape()));
    default: return std::nullopt;
  }
}

}  // namespace

std::unique_ptr<Graph> resolve_shapes(const Graph& graph) {
  return ir::Rewriter(resolve).run(graph);
}

namespace {

// Follows the value of every variable through the ops in their order.
class EffectRemover {
 public:
  Pure run(const Graph& graph) {
    Pure out;
    ir::Rewriter rewriter([this](ir::Rewriter& r, const Op& op, const std::vector<Value>& operands) { return replace(r, op, operands); });
    out.graph = rewriter.run(graph);
    for (const auto& [slot, value] : state_) {
      out.slots.push_back(slot);
      out.graph->body().results.push_back(value);
    }
    return out;
  }

 private:
  using State = std::map<int64_t, Value>;

  Replacement replace(ir::Rewriter& r, const Op& op, const std::vector<Value>& operands) {
    if (op.code == OpCode::variable) {
      const int64_t slot = op.attributes.integer(Attr::kSlot);
      Value& variable = variables_[slot];
      if (!variable) {
        variable = r.copy().value(OpCode::variable, {}, op.attributes);
        variable.op->attributes.set(Attr::kSlot, slot);
      }
      return {{variable}};
    }
    if (op.code == OpCode::if_else) return replace_branches(r, op, operands);
    if (op.code != OpCode::read_variable && op.code != OpCode::assign) return std::nullopt;
    const int64_t slot = operands[0].op->attributes.integer(Attr::kSlot);
    if (op.code == OpCode::assign) {
      state_[slot] = operands[1];
      return std::vector<Value>{};
    }
    return {{current(slot)}};
  }

  Value current(int64_t slot) const {
    const auto known = state_.find(slot);
    return known == state_.end() ? variables_.at(slot) : known->second;
  }

  // Each branch gives, beside its results, the value of every variable that one of them assigns.
  Replacement replace_branches(ir::Rewriter& r, const Op& op, const std::vector<Value>& operands) {
    const State before = state_;
    Graph& copy = r.copy();
    const auto label = std::tuple(copy.name, copy.location, copy.after);
    // A negative zero is zero, but not byte by byte.
    const bool floating = kind(operands[0].dtype()) == ir::DTypeKind::kFloating;
    const Value predicate = floating ? copy.value(OpCode::cast, operands, {{Attr::kDtype, ir::DType::boolean}}) : operands[0];
    std::vector<std::unique_ptr<ir::Block>> regions;
    std::vector<State> after;
    for (const auto& region : op.regions) {
      state_ = before;
      r.copy().open_region();
      regions.push_back(r.copy().close_region(r.copy_block(*region)));
      after.push_back(state_);
    }
    state_ = before;
    State changed;
    for (const State& state : after) {
      for (const auto& [slot, value] : state) {
        if (!before.contains(slot) || before.at(slot) != value) changed[slot] = {};
      }
    }
    for (size_t i = 0; i < regions.size(); ++i) {
      for (const auto& [slot, unset] : changed) {
        const auto known = after[i].find(slot);
        regions[i]->results.push_back(known == after[i].end() ? variables_.at(slot) : known->second);
      }
    }
    std::tie(copy.name, copy.location, copy.after) = label;
    Op* made = copy.add(OpCode::if_else, {predicate}, {}, std::move(regions));
    std::vector<Value> results;
    for (uint32_t i = 0; i < op.results.size(); ++i) results.push_back({made, i});
    uint32_t next = static_cast<uint32_t>(op.results.size());
    for (const auto& [slot, unset] : changed) state_[slot] = {made, next++};
    return results;
  }

  State variables_;  // by slot, their values at the start of the run
  State state_;      // the last value assigned to each that was
};

}  // namespace

Pure remove_effects(const Graph& graph) { return EffectRemover().run(graph); }

}  // namespace alloy::portable
