// Ops with regions, and fused ops.
#include <algorithm>
#include <optional>

#include "ir/rules/elements.h"
#include "ir/rules/rules.h"
#include "ir/transform/regions.h"

namespace alloy::ir {

Types infer_stop_gradient(const Op& op) { return {operand(op, 0)}; }

void gradient_stop_gradient(GradientRule&) {}

Cost cost_stop_gradient(const Op&) { return {}; }

// ---- checks of regions ----

namespace {

void require_one_element(const Op& op, const std::string& what, const Type& type) {
  if (type.shape.is_static() && type.shape.element_count() != 1) {
    op.fail("Expected " + what + " of one element, got " + text(type));
  }
}

Cost operator+(const Cost& a, const Cost& b) {
  return {a.flops + b.flops, a.bytes_read + b.bytes_read, a.bytes_written + b.bytes_written};
}

Cost total(const Block& block) {
  Cost sum;
  for (const auto& op : block.ops) sum = sum + cost(*op);
  return sum;
}

}  // namespace

Types infer_argument(const Op& op) { return {{op.attributes.get<DType>(Attr::kDtype), given_shape(op)}}; }

void gradient_argument(GradientRule&) {}

Cost cost_argument(const Op&) { return {}; }

// ---- custom gradients ----

Types infer_custom_gradient(const Op& op) {
  const auto count = static_cast<size_t>(op.attributes.integer(Attr::kCount));
  if (count < 1 || count > op.operands.size()) {
    op.fail("Expected a count of 1 to " + std::to_string(op.operands.size()) + ", got " + std::to_string(count));
  }
  const Block& region = *op.regions[0];
  if (!region.effects.empty()) region.effects[0]->fail("A gradient of one's own cannot assign a variable");
  if (region.results.size() != op.operands.size() - count) {
    op.fail("Expected a gradient for each of " + std::to_string(op.operands.size() - count) + " operands, got " +
            std::to_string(region.results.size()));
  }
  for (size_t i = 0; i < region.results.size(); ++i) {
    const Type &given = region.results[i].type(), &expected = operand(op, count + i);
    if (given.dtype == expected.dtype && unify(given.shape, expected.shape)) continue;
    op.fail("Expected a gradient of the type of its operand, " + text(expected) + ", got " + text(given),
            given.dtype == expected.dtype ? Error::Kind::kValue : Error::Kind::kType);
  }
  Types types;
  for (size_t i = 0; i < count; ++i) types.push_back(operand(op, i));
  return types;
}

// The reverse walk handles custom gradients itself (transform/gradients.cpp).
void gradient_custom_gradient(GradientRule&) {}

Cost cost_custom_gradient(const Op&) { return {}; }

// ---- conditionals ----

Types infer_if_else(const Op& op) {
  require_one_element(op, "a predicate", operand(op, 0));
  const auto& yes = op.regions[0]->results;
  const auto& no = op.regions[1]->results;
  if (yes.size() != no.size()) {
    op.fail("The branches give " + std::to_string(yes.size()) + " and " + std::to_string(no.size()) + " results");
  }
  Types types;
  for (size_t i = 0; i < yes.size(); ++i) {
    const Type &a = yes[i].type(), &b = no[i].type();
    auto shape = unify(a.shape, b.shape);
    if (a.dtype != b.dtype || !shape) {
      op.fail("Result " + std::to_string(i) + " is " + text(a) + " in one branch and " + text(b) + " in the other");
    }
    types.push_back({a.dtype, *shape});
  }
  return types;
}

// The reverse walk differentiates conditionals itself.
void gradient_if_else(GradientRule&) {}

namespace {

Cost dearer(const Cost& a, const Cost& b) {
  return {std::max(a.flops, b.flops), std::max(a.bytes_read, b.bytes_read), std::max(a.bytes_written, b.bytes_written)};
}

}  // namespace

Cost cost_if_else(const Op& op) {
  Cost branch = dearer(total(*op.regions[0]), total(*op.regions[1]));
  branch.bytes_read += op.operands[0].type().byte_count();
  return branch;
}

// ---- loops ----

namespace {

// Checks that a loop's carried values keep their types: the operands, the arguments and the results of the last region
// agree.
void require_carried(const Op& op) {
  const Regions& regions = op.info().facts.regions;
  for (size_t k = 0; k < op.regions.size(); ++k) {
    const auto& arguments = op.regions[k]->arguments;
    const Types passed = argument_types(op.code, op.operands, std::span(op.regions).first(k));
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Type& type = arguments[i]->results[0];
      if (type.dtype != passed[i].dtype || !unify(type.shape, passed[i].shape)) {
        op.fail("Argument " + std::to_string(i) + " of region " + std::to_string(k) + " is " + text(type) +
                " and is passed " + text(passed[i]));
      }
    }
  }
  const size_t own = regions.own_results[op.regions.size() - 1];
  const std::vector<Value>& given = op.regions.back()->results;
  const size_t carried = op.operands.size() - regions.own_operands;
  const bool stacks = regions.run == RegionRun::kCounted;  // counted loops also give values that they stack
  if (given.size() - own < carried || (given.size() - own > carried && !stacks)) {
    op.fail("The loop begins with " + std::to_string(carried) + " values and an iteration gives " +
            std::to_string(given.size() - own));
  }
  for (size_t i = 0; i < carried; ++i) {
    const Type &before = operand(op, regions.own_operands + i), &behind = given[own + i].type();
    if (before.dtype != behind.dtype || !unify(before.shape, behind.shape)) {
      op.fail("Value " + std::to_string(i) + " is " + text(before) + " before an iteration and " + text(behind) +
              " behind it");
    }
  }
}

}  // namespace

Types infer_while_loop(const Op& op) {
  const auto& given = op.regions[0]->results;
  require_one_element(op, "a predicate", given[0].type());
  require_carried(op);
  Types types;
  for (size_t i = 1; i < given.size(); ++i) types.push_back(given[i].type());
  return types;
}

std::optional<int64_t> iterations(const Op& op) {
  int64_t bounds[3];
  for (size_t i = 0; i < 3; ++i) {
    const std::optional<Elements> known = known_elements(op.operands[i]);
    if (!known || known->size() != 1 || !known->front()) return std::nullopt;
    bounds[i] = *known->front();
  }
  const auto [lower, upper, step] = bounds;
  if (lower >= upper || step <= 0) return 0;
  const uint64_t distance = static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower);
  return static_cast<int64_t>((distance - 1) / static_cast<uint64_t>(step) + 1);
}

Types infer_for_loop(const Op& op) {
  const DType index = operand(op, 0).dtype;
  const bool is_integer = kind(index) == DTypeKind::kSigned || kind(index) == DTypeKind::kUnsigned;
  for (size_t i = 0; i < 3; ++i) {
    require_one_element(op, "bounds and a step", operand(op, i));
    if (operand(op, i).dtype == index && is_integer) continue;
    op.fail("Expected bounds and a step of one integer type, got " + text(operand(op, i)), Error::Kind::kType);
  }
  const std::optional<Elements> step = known_elements(op.operands[2]);
  if (step && step->size() == 1 && step->front().value_or(1) <= 0) {
    op.fail("Expected a step above 0, got " + std::to_string(*step->front()));
  }
  require_carried(op);
  Types types;
  for (size_t i = 3; i < op.operands.size(); ++i) {
    const Type &before = operand(op, i), &behind = op.regions[0]->results[i - 3].type();
    types.push_back({before.dtype, *unify(before.shape, behind.shape)});
  }
  const int64_t count = iterations(op).value_or(kUnknown);
  for (size_t i = types.size(); i < op.regions[0]->results.size(); ++i) {
    const Type& each = op.regions[0]->results[i].type();
    Dims dims = {count};
    if (each.shape.ranked()) dims.insert(dims.end(), each.shape.dims().begin(), each.shape.dims().end());
    types.push_back({each.dtype, each.shape.ranked() ? Shape(dims) : Shape::unranked()});
  }
  return types;
}

// The reverse walk differentiates counted loops itself and refuses other loops: captured values may need a gradient,
// too.
void gradient_while_loop(GradientRule&) {}
void gradient_for_loop(GradientRule&) {}

Cost cost_while_loop(const Op& op) { return total(*op.regions[0]) + total(*op.regions[1]); }

// The region's cost times the number of iterations, if that is known, else once. Stacking writes each value once more.
Cost cost_for_loop(const Op& op) {
  const Cost one = total(*op.regions[0]);
  const uint64_t times = iterations(op).value_or(1);
  Cost all{one.flops * times, one.bytes_read * times, one.bytes_written * times};
  for (size_t i = op.operands.size() - 3; i < op.results.size(); ++i) all.bytes_written += op.results[i].byte_count();
  return all;
}

// ---- fused ----

Types infer_fused(const Op& op) {
  Types types;
  for (const Value& v : op.regions[0]->results) types.push_back(v.type());
  return types;
}

void gradient_fused(GradientRule& r) { r.op().fail("What the compiler has fused has no gradient"); }

Cost cost_fused(const Op& op) { return cost_of(op, total(*op.regions[0]).flops); }

}  // namespace alloy::ir
