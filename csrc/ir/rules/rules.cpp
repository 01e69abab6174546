// The types of an op's results, by the rule of its row; and functions that rules share.
#include "ir/rules/rules.h"

#include <algorithm>

namespace alloy::ir {

std::string text(const Type& type) { return to_string(type); }
std::string text(const Shape& shape) { return "shape " + to_string(shape); }
std::string text(const Dims& numbers) {
  std::string list = "(";
  for (int64_t i = 0; i < numbers.size(); ++i) list += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
  return list + (numbers.size() == 1 ? ",)" : ")");
}

namespace {

std::string_view describe(TypeClass types) {
  switch (types) {
    case TypeClass::floating: return "floating type";
    case TypeClass::numeric: return "number";
    case TypeClass::integer: return "integer type";
    case TypeClass::any: return "type";
  }
  return {};
}

}  // namespace

static void require(const Op& op, TypeClass types) {
  for (const Value& v : op.operands) {
    if (accepts(types, v.dtype())) continue;
    op.fail("Expected operands of a " + std::string(describe(types)) + ", got " + text(v.type()), Error::Kind::kType);
  }
}

void require_types(const Op& op) { require(op, op.info().types); }
void require_numbers(const Op& op) { require(op, TypeClass::numeric); }

DType same_dtype(const Op& op, size_t first) {
  const DType dtype = operand(op, first).dtype;
  for (size_t i = first + 1; i < op.operands.size(); ++i) {
    if (operand(op, i).dtype != dtype) {
      op.fail("Operands of different types: " + text(operand(op, first)) + " and " + text(operand(op, i)),
              Error::Kind::kType);
    }
  }
  return dtype;
}

int64_t axis_of(const Op& op, int64_t axis, int64_t rank) {
  auto normal = normalize_axis(axis, rank);
  if (!normal) op.fail("Axis " + std::to_string(axis) + " is outside a tensor of rank " + std::to_string(rank));
  return *normal;
}

Dims axes_of(const Op& op, int64_t rank) {
  Dims axes;
  for (int64_t axis : op.attributes.ints(Attr::kAxes)) axes.push_back(axis_of(op, axis, rank));
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

const Shape& given_shape(const Op& op) {
  const Shape& shape = op.attributes.get<Shape>(Attr::kShape);
  if (shape.ranked() && std::any_of(shape.dims().begin(), shape.dims().end(), [](int64_t d) { return d < kUnknown; })) {
    op.fail("Expected dimensions of 0 or more, got " + text(shape));
  }
  return shape;
}

namespace {

Types infer_by_row(const Op& op) {
  switch (op.code) {
#define ALLOY_ROW(name) \
  case OpCode::name: return infer_elementwise(op);
#define ALLOY_PREDICATE(name, ...) \
  case OpCode::name: return infer_comparison(op);
#define ALLOY_COMPARISON ALLOY_PREDICATE
#define ALLOY_TERNARY(name, ...) \
  case OpCode::name: return infer_ternary(op);
#define ALLOY_REDUCTION(name, ...) \
  case OpCode::name: return infer_reduction(op);
#define ALLOY_MOMENT ALLOY_REDUCTION
#define ALLOY_ARG_REDUCTION(name, ...) \
  case OpCode::name: return infer_arg_reduction(op);
#define ALLOY_OP(name, ...) \
  case OpCode::name: return infer_##name(op);
#include "ir/ops.def"
  }
  op.fail("Unknown op");
}

}  // namespace

std::vector<Type> infer(const Op& op) {
  Types types = infer_by_row(op);
  for (const Type& type : types) {
    if (!type.is_addressable()) op.fail("The result " + text(type) + " is larger than any memory");
  }
  return types;
}

}  // namespace alloy::ir
