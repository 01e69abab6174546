// Matrices: products, inverses, distances between rows.
#include "ir/rules/composites.h"
#include "ir/rules/rules.h"

namespace alloy::ir {

Types infer_matmul(const Op& op) {
  const DType dtype = same_dtype(op);
  if (!accepts(TypeClass::floating, dtype)) {
    op.fail("Expected operands of a floating type, got " + text(operand(op, 0)), Error::Kind::kType);
  }
  const Shape &a = operand(op, 0).shape, &b = operand(op, 1).shape;
  if (!a.ranked() || !b.ranked()) return {{dtype, Shape::unranked()}};
  if (a.rank() < 2 || b.rank() < 2) {
    op.fail("Expected operands of rank 2 or more, got shapes " + to_string(a) + " and " + to_string(b));
  }
  Dims batch_a(a.dims().begin(), a.dims().end() - 2), batch_b(b.dims().begin(), b.dims().end() - 2);
  int64_t rows = a[a.rank() - 2], inner_a = a[a.rank() - 1], inner_b = b[b.rank() - 2], columns = b[b.rank() - 1];
  if (op.attributes.flag(Attr::kTransposeA)) std::swap(rows, inner_a);
  if (op.attributes.flag(Attr::kTransposeB)) std::swap(inner_b, columns);
  if (inner_a != inner_b && inner_a != kUnknown && inner_b != kUnknown) {
    op.fail("Inner dimensions differ: " + std::to_string(inner_a) + " of shape " + to_string(a) + " and " +
            std::to_string(inner_b) + " of shape " + to_string(b));
  }
  auto batch = broadcast(Shape(batch_a), Shape(batch_b));
  if (!batch) op.fail("Leading dimensions of shapes " + to_string(a) + " and " + to_string(b) + " do not broadcast");
  Dims dims = batch->dims();
  dims.push_back(rows);
  dims.push_back(columns);
  return {{dtype, Shape(dims)}};
}

namespace {

Expr transposed(Expr x) {
  if (!x.shape().ranked()) x.value().op->fail("The gradient of a matrix product of unknown rank is not available");
  Dims permutation;
  for (int64_t i = 0; i < x.shape().rank(); ++i) permutation.push_back(i);
  std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
  return apply(OpCode::transpose, {x}, {{Attr::kPermutation, permutation}});
}

// True if all matrices of a stack are multiplied by one matrix from the right. Then its gradient, a sum over the stack,
// is one product of matrices with all rows of the stack.
bool multiplies_rows(const Expr& stack, const Expr& matrix) {
  const Shape &a = stack.shape(), &b = matrix.shape();
  return a.ranked() && a.rank() > 2 && b.is_static() && b.rank() == 2 && b.element_count() > 0;
}

Expr all_rows(Expr x, int64_t columns) { return reshape(x, {kUnknown, columns}); }

}  // namespace

void gradient_matmul(GradientRule& r) {
  const bool ta = r.op().attributes.flag(Attr::kTransposeA), tb = r.op().attributes.flag(Attr::kTransposeB);
  auto product_of = [](Expr a, Expr b) { return apply(OpCode::matmul, {a, b}); };
  const Expr a = ta ? transposed(r.x(0)) : r.x(0), b = tb ? transposed(r.x(1)) : r.x(1);
  if (r.wants(0)) {
    const Expr da = product_of(r.g(), transposed(b));
    r.give(0, ta ? transposed(da) : da);
  }
  if (r.wants(1)) {
    const bool is_flat = !ta && multiplies_rows(a, b);
    const Expr left = is_flat ? all_rows(a, b.shape()[0]) : a, g = is_flat ? all_rows(r.g(), b.shape()[1]) : r.g();
    const Expr db = product_of(transposed(left), g);
    r.give(1, tb ? transposed(db) : db);
  }
}

// 2 n k m for each matrix.
Cost cost_matmul(const Op& op) {
  const Shape& a = op.operands[0].shape();
  const int64_t inner = a[a.rank() - (op.attributes.flag(Attr::kTransposeA) ? 2 : 1)];
  return cost_of(op, 2 * element_count(op.result()) * static_cast<uint64_t>(inner));
}

// ---- inverses ----

Types infer_inverse(const Op& op) {
  const Type& x = operand(op, 0);
  if (!accepts(TypeClass::floating, x.dtype)) {
    op.fail("Expected an operand of a floating type, got " + text(x), Error::Kind::kType);
  }
  if (!x.shape.ranked()) return {x};
  const int64_t rank = x.shape.rank();
  const bool is_square = rank >= 2 && (x.shape[rank - 1] == x.shape[rank - 2] || x.shape[rank - 1] == kUnknown ||
                                       x.shape[rank - 2] == kUnknown);
  if (!is_square) op.fail("Expected square matrices, got " + text(x.shape));
  return {x};
}

// With y the inverse, -y^T g y^T.
void gradient_inverse(GradientRule& r) { r.give(0, -matmul(matmul(r.y(), r.g(), true, false), r.y(), false, true)); }

// 2 n^3 for each matrix.
Cost cost_inverse(const Op& op) {
  const Shape& x = op.results[0].shape;
  return cost_of(op, 2 * element_count(op.result()) * static_cast<uint64_t>(x[x.rank() - 1]));
}

// ---- composites ----

Exprs compose_hamming_distance(const Composition& c) {
  const auto dtype = c.attributes.get<DType>(Attr::kDtype);
  if (dtype != DType::uint16 && dtype != DType::uint32) {
    c.fail("Expected a result of uint16 or uint32, got " + std::string(name(dtype)), Error::Kind::kType);
  }
  for (const Expr& x : c.all()) {
    if (rank_of(x) < 2) c.fail("Expected operands of rank 2 or more, got " + text(x.shape()));
  }
  const Dims &a = c.x(0).shape().dims(), &b = c.x(1).shape().dims();
  if (a.back() != b.back() && a.back() != kUnknown && b.back() != kUnknown) {
    c.fail("The last dimensions of " + text(c.x(0).shape()) + " and " + text(c.x(1).shape()) + " differ");
  }
  const Expr differing = bitwise_xor(expand_dims(c.x(0), {-2}), expand_dims(c.x(1), {-3}));
  const Expr bits = cast(population_count(differing), DType::int32);  // a sum of narrow numbers would wrap around
  return {cast(squeeze(sum(bits, {-1}), {-1}), dtype)};
}

}  // namespace alloy::ir
