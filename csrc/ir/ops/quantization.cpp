// Floats as small integers, and back.
#include "ir/rules/composites.h"
#include "ir/rules/rules.h"

namespace alloy::ir {
namespace {

Expr wide(Expr x) { return cast(x, DType::float32); }

DType float_of(const Composition& c) {
  const auto dtype = c.attributes.get<DType>(Attr::kDtype);
  if (!accepts(TypeClass::floating, dtype)) {
    c.fail("Expected a floating type of the result, got " + std::string(name(dtype)), Error::Kind::kType);
  }
  return dtype;
}

// How often each element of `few` is repeated along each axis to give the shape of x; once if the lengths are equal or
// unknown, or if the length is 1, which broadcasts.
Dims blocks_of(const Composition& c, const Shape& few, const Shape& x) {
  Dims counts;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const bool is_alike = few[i] == x[i] || few[i] == 1;
    if (!is_alike && (few[i] < 1 || x[i] == kUnknown || x[i] % few[i] != 0)) {
      c.fail("The dimensions of " + text(few) + " do not divide those of " + text(x));
    }
    counts.push_back(is_alike ? 1 : x[i] / few[i]);
  }
  return counts;
}

// Repeats each element along each axis.
Expr repeated(Expr x, const Dims& counts) {
  for (int64_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 1) continue;
    Dims wider = x.shape().dims(), joined = wider;
    wider.insert(wider.begin() + i + 1, counts[i]);
    joined[i] *= counts[i];
    x = reshape(broadcast_to(expand_dims(x, {i + 1}), Shape(wider)), joined);
  }
  return x;
}

// A scale or zero point in float32, in a shape that broadcasts to x. It is given as a scalar, as a vector along the
// axis, or, with `blocks`, as one element for each block of x.
Expr spread(const Composition& c, size_t operand, bool blocks) {
  const Expr given = wide(c.x(operand));
  const int64_t rank = rank_of(c.x()), own = rank_of(given);
  if (own == 0) return given;
  if (blocks && own == rank) return repeated(given, blocks_of(c, given.shape(), c.x().shape()));
  if (own != 1) {
    c.fail("Expected a scale and a zero point that are scalars or vectors" + std::string(blocks ? ", or blocks" : "") +
           ", got " + text(given.shape()) + " for " + text(c.x().shape()));
  }
  const int64_t word = c.attributes.integer(Attr::kAxis);
  const auto axis = normalize_axis(word, rank);
  if (!axis) c.fail("Axis " + std::to_string(word) + " is outside a tensor of rank " + std::to_string(rank));
  if (given.shape()[0] != c.x().shape()[*axis] && given.shape()[0] != kUnknown && c.x().shape()[*axis] != kUnknown) {
    c.fail("Expected as many elements as axis " + std::to_string(*axis) + " of " + text(c.x().shape()) + " has, got " +
           text(given.shape()));
  }
  Dims behind;
  for (int64_t i = *axis + 1; i < rank; ++i) behind.push_back(i - *axis);
  return behind.empty() ? given : expand_dims(given, behind);
}

}  // namespace

Exprs compose_quantize(const Composition& c) {
  const auto dtype = c.attributes.get<DType>(Attr::kDtype);
  if (dtype != DType::int8 && dtype != DType::uint8) {
    c.fail("Expected a result of int8 or uint8, got " + std::string(name(dtype)), Error::Kind::kType);
  }
  if (!accepts(TypeClass::floating, c.x().value().dtype())) {
    c.fail("Expected numbers of a floating type, got " + text(c.x().value().type()), Error::Kind::kType);
  }
  const Expr steps = rint(wide(c.x()) / spread(c, 1, false) + spread(c, 2, false));
  const double least = dtype == DType::int8 ? -128 : 0;
  return {cast(minimum(maximum(steps, steps.scalar(least)), steps.scalar(least + 255)), dtype)};
}

Exprs compose_dequantize(const Composition& c) {
  const DType dtype = float_of(c);
  if (!accepts(TypeClass::integer, c.x().value().dtype())) {
    c.fail("Expected quantized numbers of an integer type, got " + text(c.x().value().type()), Error::Kind::kType);
  }
  return {cast((wide(c.x()) - spread(c, 2, true)) * spread(c, 1, true), dtype)};
}

Exprs compose_dequantize_lut(const Composition& c) {
  const Expr x = c.x(0), table = c.x(1);
  const int64_t rank = rank_of(x), more = rank_of(table) - rank;
  const bool vectors = more == 2;
  const Dims& given = table.shape().dims();
  if (x.value().dtype() != DType::uint8) {
    c.fail("Expected quantized numbers of uint8, got " + text(x.value().type()), Error::Kind::kType);
  }
  if ((more != 1 && !vectors) || given[rank] != 256 || !table.shape().is_static()) {
    c.fail("Expected tables of 256 entries for " + text(x.shape()) + ", got " + text(table.shape()));
  }
  const Shape blocks(Dims(given.begin(), given.begin() + rank));
  const Dims counts = blocks_of(c, blocks, x.shape());
  // 256 times the index of each element's table, plus the element.
  Expr entry = cast(x, DType::int32);
  int64_t tables = 1;
  for (int64_t i = rank - 1; i >= 0; --i) {
    if (blocks[i] > 1) {
      std::vector<int64_t> first(blocks[i] * counts[i]);
      for (size_t k = 0; k < first.size(); ++k) first[k] = static_cast<int64_t>(k) / counts[i] * tables * 256;
      Dims along(rank - i, 1);
      along[0] = static_cast<int64_t>(first.size());
      entry = entry + integers(c.graph, DType::int32, along, first);
    }
    tables *= blocks[i];
  }
  if (!vectors) return {gather(reshape(table, {tables * 256}), entry, 0)};
  const int64_t length = given.back(), word = c.attributes.integer(Attr::kAxis);
  const auto axis = normalize_axis(word, rank);
  if (!axis) c.fail("Axis " + std::to_string(word) + " is outside a tensor of rank " + std::to_string(rank));
  const Expr rows = gather(reshape(table, {tables * 256, length}), entry, 0);
  Dims order, dims = x.shape().dims();
  for (int64_t i = 0; i < rank; ++i) {
    order.push_back(i);
    if (i == *axis) order.push_back(rank);
  }
  if (dims[*axis] != kUnknown) dims[*axis] *= length;
  return {reshape(transpose(rows, order), dims)};
}

}  // namespace alloy::ir
