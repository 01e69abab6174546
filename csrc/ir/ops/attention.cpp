// Attention: the softmax of the products of queries and keys weights the values.
#include <algorithm>

#include "ir/rules/composites.h"
#include "ir/rules/rules.h"

namespace alloy::ir {
namespace {

Shape leading(const Shape& shape) { return Shape(Dims(shape.dims().begin(), shape.dims().end() - 2)); }
int64_t steps(const Shape& shape) { return shape[shape.rank() - 2]; }
int64_t features(const Shape& shape) { return shape[shape.rank() - 1]; }
bool differ(int64_t a, int64_t b) { return a != b && a != kUnknown && b != kUnknown; }

Shape with_last(const Shape& leading, int64_t rows, int64_t columns) {
  Dims dims = leading.dims();
  dims.push_back(rows);
  dims.push_back(columns);
  return Shape(dims);
}

// The shape with the heads before the steps, or back; the same if the op has no such layout.
Shape heads_first(const Op& op, const Shape& shape) {
  if (!op.attributes.flag(Attr::kStepsFirst)) return shape;
  if (shape.rank() != 4) op.fail("Expected (batch, steps, heads, features), got shape " + to_string(shape));
  return {shape[0], shape[2], shape[1], shape[3]};
}

// The number of operands but the random state and the rate of a dropout.
size_t tensor_count(const Op& op) { return op.operands.size() - (op.attributes.flag(Attr::kDropout) ? 2 : 0); }

// The type of the query. `fewest` is the number of operands without a mask and a dropout.
DType attention_dtype(const Op& op, size_t fewest) {
  if (tensor_count(op) != fewest && tensor_count(op) != fewest + 1) {
    op.fail("Expected " + std::to_string(fewest) + " or " + std::to_string(fewest + 1) + " tensors, got " +
            std::to_string(tensor_count(op)));
  }
  const DType dtype = operand(op, 0).dtype;
  for (size_t i = 0; i < tensor_count(op); ++i) {
    if (!accepts(TypeClass::floating, operand(op, i).dtype)) {
      op.fail("Expected operands of a floating type, got " + text(operand(op, i)), Error::Kind::kType);
    }
    if (i < 3 && operand(op, i).dtype != dtype) {
      op.fail("Operands of different types: " + text(operand(op, 0)) + " and " + text(operand(op, i)),
              Error::Kind::kType);
    }
  }
  return dtype;
}

// The scores with a mask. A mask of rank 2 or more may be longer than the scores, except along its last two axes.
Shape masked(const Op& op, const Shape& scores, const Shape& mask) {
  const auto both = broadcast(scores, mask);
  if (!both || differ(steps(*both), steps(scores)) || differ(features(*both), features(scores))) {
    op.fail("The mask has shape " + to_string(mask) + " but the scores have shape " + to_string(scores));
  }
  return *both;
}

bool all_ranked(const Op& op) {
  return std::all_of(op.operands.begin(), op.operands.end(), [](const Value& v) { return v.shape().ranked(); });
}

// The result's shape, with the heads first, for operands of known rank; `mask` is the number of the mask.
Shape attended(const Op& op, size_t mask) {
  const Shape query = heads_first(op, operand(op, 0).shape), key = heads_first(op, operand(op, 1).shape),
              value = heads_first(op, operand(op, 2).shape);
  if (std::min({query.rank(), key.rank(), value.rank()}) < 2) {
    op.fail("Expected operands of rank 2 or more, got shapes " + to_string(query) + ", " + to_string(key) + " and " +
            to_string(value));
  }
  if (differ(features(query), features(key))) {
    op.fail("The query has " + std::to_string(features(query)) + " features (shape " + to_string(query) +
            ") but the key has " + std::to_string(features(key)) + " (shape " + to_string(key) + ")");
  }
  if (differ(steps(key), steps(value))) {
    op.fail("The key has " + std::to_string(steps(key)) + " steps (shape " + to_string(key) + ") but the value has " +
            std::to_string(steps(value)) + " (shape " + to_string(value) + ")");
  }
  auto batch = broadcast(leading(query), leading(key));
  if (batch && tensor_count(op) > mask) {
    batch = leading(masked(op, with_last(*batch, steps(query), steps(key)), operand(op, mask).shape));
  }
  if (batch) batch = broadcast(*batch, leading(value));
  if (!batch) {
    op.fail("Leading dimensions of shapes " + to_string(query) + ", " + to_string(key) + " and " + to_string(value) +
            " do not broadcast");
  }
  return with_last(*batch, steps(query), features(value));
}

}  // namespace

Types infer_scaled_dot_product_attention(const Op& op) {
  const DType dtype = attention_dtype(op, 3);
  return {{dtype, all_ranked(op) ? heads_first(op, attended(op, 3)) : Shape::unranked()}};
}

Types infer_scaled_dot_product_attention_gradient(const Op& op) {
  attention_dtype(op, 4);
  if (all_ranked(op)) {
    const Shape result = heads_first(op, attended(op, 4)), &incoming = operand(op, 3).shape;
    if (!unify(result, incoming)) {
      op.fail("Expected an incoming gradient of shape " + to_string(result) + ", got " + to_string(incoming));
    }
  }
  return {operand(op, 0), operand(op, 1), operand(op, 2)};
}

namespace {

// The op's operands and weights, in the type in which its elements are computed.
struct Attention {
  Attention(Expr query, Expr key, Expr value, Expr mask, double scale) {
    const DType dtype = computed_in(query.value().dtype());
    q = cast(query, dtype) * scale;
    k = cast(key, dtype);
    v = cast(value, dtype);
    Expr scores = matmul(q, k, false, true);
    if (mask) scores = scores + cast(mask, dtype);
    weights = softmax(scores, scores.shape().ranked() ? rank_of(scores) - 1 : -1);
  }
  Expr q, k, v, weights;  // q times the scale
};

}  // namespace

Exprs compose_scaled_dot_product_attention(const Composition& c) {
  const Expr mask = c.operands.size() > 3 ? c.x(3) : none;
  const Attention of(c.x(0), c.x(1), c.x(2), mask, c.attributes.number(Attr::kScale));
  return {cast(matmul(of.weights, of.v), c.x(0).value().dtype())};
}

// Computes the weights again; if forward and backward pass are one program, equal ops are merged.
void gradient_scaled_dot_product_attention(GradientRule& r) {
  const bool has_mask = r.op().operands.size() > 3;
  const double scale = r.op().attributes.number(Attr::kScale);
  const Attention of(r.x(0), r.x(1), r.x(2), has_mask ? r.x(3) : none, scale);
  const Expr g = cast(r.g(), of.v.value().dtype());
  const Expr scores = softmax_gradient(matmul(g, of.v, false, true), of.weights, -1);
  const auto give = [&](size_t i, Expr gradient) {
    r.give(i, cast(reduce_like(gradient, r.x(i)), r.x(i).value().dtype()));
  };
  if (r.wants(0)) give(0, matmul(scores, of.k) * scale);
  if (r.wants(1)) give(1, matmul(scores, of.q, true, false));
  if (r.wants(2)) give(2, matmul(of.weights, g, true, false));
  if (has_mask && r.wants(3)) give(3, scores);
}

void gradient_scaled_dot_product_attention_gradient(GradientRule& r) { r.op().fail("The op has no gradient"); }

// The scaling, and for each score the two products, the softmax and the mask.
Cost cost_scaled_dot_product_attention(const Op& op) {
  const Shape query = heads_first(op, op.operands[0].shape()), value = heads_first(op, op.operands[2].shape());
  const auto width = static_cast<uint64_t>(features(value));
  const uint64_t rows = width == 0 ? 0 : element_count(op.result()) / width;
  const uint64_t of_score = 2 * (static_cast<uint64_t>(features(query)) + width) + (tensor_count(op) > 3 ? 6 : 5);
  return cost_of(op, element_count(op.operands[0]) + rows * static_cast<uint64_t>(steps(value)) * of_score);
}

// For each score three products of the query's features and two of the value's, the softmax with its gradient (4
// operations), the scale and the mask.
Cost cost_scaled_dot_product_attention_gradient(const Op& op) {
  const Shape query = heads_first(op, op.operands[0].shape()), value = heads_first(op, op.operands[2].shape());
  const auto width = static_cast<uint64_t>(features(value)), depth = static_cast<uint64_t>(features(query));
  const uint64_t rows = width == 0 ? 0 : element_count(op.operands[3]) / width;
  const uint64_t of_score = 2 * (3 * depth + 2 * width) + 5 + 4 + 2 + (tensor_count(op) > 4 ? 1 : 0);
  return cost_of(op, rows * static_cast<uint64_t>(steps(value)) * of_score);
}

}  // namespace alloy::ir
