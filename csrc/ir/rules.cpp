// Legality and shape rules: which operands an op takes and which types it gives, one function per family and per
// structured op. A dimension that is not known yet never makes an op illegal.
#include <algorithm>
#include <functional>
#include <numeric>

#include "ir/elements.h"
#include "ir/graph.h"
#include "ir/regions.h"
#include "ir/windows.h"

namespace alloy::ir {
namespace {

using Types = std::vector<Type>;

const Type& operand(const Op& op, size_t i) { return op.operands[i].type(); }

std::string text(const Type& type) { return to_string(type); }
std::string text(const Shape& shape) { return "shape " + to_string(shape); }
std::string text(const Dims& numbers) {
  std::string list = "(";
  for (size_t i = 0; i < numbers.size(); ++i) list += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
  return list + (numbers.size() == 1 ? ",)" : ")");
}

std::string_view describe(TypeClass types) {
  return types == TypeClass::floating ? "floating type" : types == TypeClass::numeric ? "number" : "type";
}

void require_types(const Op& op) {
  const OpInfo& row = op.info();
  for (const Value& v : op.operands) {
    if (accepts(row.types, v.dtype())) continue;
    op.fail("Expected operands of a " + std::string(describe(row.types)) + ", got " + text(v.type()),
            Error::Kind::kType);
  }
}

// All operands from `first` on must have one element type.
DType same_dtype(const Op& op, size_t first = 0) {
  const DType dtype = operand(op, first).dtype;
  for (size_t i = first + 1; i < op.operands.size(); ++i) {
    if (operand(op, i).dtype != dtype) {
      op.fail("Operands of different types: " + text(operand(op, first)) + " and " + text(operand(op, i)),
              Error::Kind::kType);
    }
  }
  return dtype;
}

Shape broadcast_all(const Op& op) {
  Shape shape = operand(op, 0).shape;
  for (size_t i = 1; i < op.operands.size(); ++i) {
    auto wider = broadcast(shape, operand(op, i).shape);
    if (!wider) op.fail("Shapes " + to_string(shape) + " and " + to_string(operand(op, i).shape) + " do not broadcast");
    shape = *wider;
  }
  return shape;
}

int64_t axis_of(const Op& op, int64_t axis, int64_t rank) {
  auto normal = normalize_axis(axis, rank);
  if (!normal) op.fail("Axis " + std::to_string(axis) + " is outside a tensor of rank " + std::to_string(rank));
  return *normal;
}

// The axes counted from the front, each once, ascending.
Dims axes_of(const Op& op, int64_t rank) {
  Dims axes;
  for (int64_t axis : op.attributes.ints(Attr::kAxes)) axes.push_back(axis_of(op, axis, rank));
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

Shape reduced(const Op& op) {
  Shape shape = operand(op, 0).shape;
  if (!shape.ranked()) return shape;
  Dims dims = shape.dims();
  for (int64_t axis : axes_of(op, shape.rank())) dims[static_cast<size_t>(axis)] = 1;
  return Shape(dims);
}

// ---- table families ----

Types infer_elementwise(const Op& op) {
  require_types(op);
  return {{same_dtype(op), broadcast_all(op)}};
}

Types infer_comparison(const Op& op) {
  require_types(op);
  same_dtype(op);
  return {{DType::boolean, broadcast_all(op)}};
}

Types infer_ternary(const Op& op) {
  require_types(op);
  const DType dtype = op.code == OpCode::select ? same_dtype(op, 1) : same_dtype(op);
  return {{dtype, broadcast_all(op)}};
}

Types infer_reduction(const Op& op) {
  require_types(op);
  return {{operand(op, 0).dtype, reduced(op)}};
}

Types infer_arg_reduction(const Op& op) {
  require_types(op);
  Shape shape = operand(op, 0).shape;
  if (shape.ranked()) {
    Dims dims = shape.dims();
    int64_t& extent = dims[static_cast<size_t>(axis_of(op, op.attributes.integer(Attr::kAxis), shape.rank()))];
    if (extent == 0) op.fail("Expected at least one element along the axis, got " + text(shape));
    extent = 1;
    shape = Shape(dims);
  }
  return {{DType::int32, shape}};
}

// ---- memory and control ----

// The shape that an attribute gives: unknown dimensions are legal, other negative ones are not.
const Shape& given_shape(const Op& op) {
  const Shape& shape = op.attributes.get<Shape>(Attr::kShape);
  if (shape.ranked() && std::any_of(shape.dims().begin(), shape.dims().end(), [](int64_t d) { return d < kUnknown; })) {
    op.fail("Expected dimensions of 0 or more, got " + text(shape));
  }
  return shape;
}

Types infer_placeholder(const Op& op) { return {{op.attributes.get<DType>(Attr::kDtype), given_shape(op)}}; }
const auto infer_empty = infer_placeholder;
const auto infer_argument = infer_placeholder;

Types infer_shaped(const Op& op) {
  const Type& x = operand(op, 0);
  const bool is_integer = kind(x.dtype) == DTypeKind::kSigned || kind(x.dtype) == DTypeKind::kUnsigned;
  if (!is_integer || (x.shape.ranked() && x.shape.rank() > 1)) {
    op.fail("Expected a shape as a vector of integers, got " + text(x));
  }
  const DType dtype = op.attributes.get<DType>(Attr::kDtype);
  const std::optional<Elements> elements = known_elements(op.operands[0]);
  if (!elements) return {{dtype, Shape::unranked()}};
  Dims dims;
  for (const auto& element : *elements) dims.push_back(element.value_or(kUnknown));
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < kUnknown; })) {
    op.fail("Expected dimensions of 0 or more, got " + text(dims));
  }
  return {{dtype, Shape(dims)}};
}

Types infer_constant(const Op& op) { return {op.attributes.get<LiteralRef>(Attr::kValue)->type()}; }
const auto infer_variable = infer_constant;

Types infer_read_variable(const Op& op) { return {operand(op, 0)}; }
Types infer_stop_gradient(const Op& op) { return {operand(op, 0)}; }

Types infer_assign(const Op& op) {
  const Type& variable = operand(op, 0);
  const Type& value = operand(op, 1);
  if (variable.dtype != value.dtype) {
    op.fail(
        "The variable is " + std::string(name(variable.dtype)) + " but the value is " + std::string(name(value.dtype)),
        Error::Kind::kType);
  }
  if (!unify(variable.shape, value.shape)) {
    op.fail("The variable has " + text(variable.shape) + " but the value has " + text(value.shape));
  }
  return {};
}

void expect_one_element(const Op& op, const std::string& what, const Type& type) {
  if (type.shape.is_static() && type.shape.element_count() != 1) {
    op.fail("Expected " + what + " of one element, got " + text(type));
  }
}

Types infer_if_else(const Op& op) {
  expect_one_element(op, "a predicate", operand(op, 0));
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

// What a loop carries keeps its types: those of the operands, which the last region gives to the first again.
void expect_carried(const Op& op) {
  const Regions regions = regions_of(op.code);
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
  const size_t own = static_cast<size_t>(regions.rows.back().own_results);
  const std::vector<Value>& given = op.regions.back()->results;
  const size_t carried = op.operands.size() - regions.own_operands;
  if (given.size() - own != carried) {
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

Types infer_while_loop(const Op& op) {
  const auto& given = op.regions[0]->results;
  expect_one_element(op, "a predicate", given[0].type());
  expect_carried(op);
  Types types;
  for (size_t i = 1; i < given.size(); ++i) types.push_back(given[i].type());
  return types;
}

Types infer_for_loop(const Op& op) {
  const DType index = operand(op, 0).dtype;
  const bool is_integer = kind(index) == DTypeKind::kSigned || kind(index) == DTypeKind::kUnsigned;
  for (size_t i = 0; i < 3; ++i) {
    expect_one_element(op, "bounds and a step", operand(op, i));
    if (operand(op, i).dtype == index && is_integer) continue;
    op.fail("Expected bounds and a step of one integer type, got " + text(operand(op, i)), Error::Kind::kType);
  }
  const std::optional<Elements> step = known_elements(op.operands[2]);
  if (step && step->size() == 1 && step->front().value_or(1) <= 0) {
    op.fail("Expected a step above 0, got " + std::to_string(*step->front()));
  }
  expect_carried(op);
  Types types;
  for (size_t i = 3; i < op.operands.size(); ++i) {
    const Type &before = operand(op, i), &behind = op.regions[0]->results[i - 3].type();
    types.push_back({before.dtype, *unify(before.shape, behind.shape)});
  }
  return types;
}

Types infer_fused(const Op& op) {
  Types types;
  for (const Value& v : op.regions[0]->results) types.push_back(v.type());
  return types;
}

// ---- shape ----

// The shape with its one unknown dimension, if there is one, as the elements of the operand need it.
Shape filled(const Op& op, const Shape& shape) {
  const Shape& from = operand(op, 0).shape;
  Dims dims = shape.dims();
  const auto unknown = std::count(dims.begin(), dims.end(), kUnknown);
  if (!from.is_static() || unknown > 1) return shape;
  const int64_t total = from.element_count();
  int64_t known = 1;
  bool counts = true;
  for (int64_t d : dims) counts = counts && (d == kUnknown || !__builtin_mul_overflow(known, d, &known));
  if (!counts || (unknown == 1 ? (known == 0 || total % known != 0) : known != total)) {
    op.fail("Shape " + to_string(from) + " has " + std::to_string(total) + " elements and does not fit into shape " +
            to_string(shape));
  }
  if (unknown == 1) *std::find(dims.begin(), dims.end(), kUnknown) = total / known;
  return Shape(dims);
}

Types infer_reshape(const Op& op) {
  const DType dtype = operand(op, 0).dtype;
  const Shape& target = op.attributes.get<Shape>(Attr::kShape);
  if (!target.ranked()) return {{dtype, target}};
  const Dims& dims = target.dims();
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < kUnknown; }) ||
      std::count(dims.begin(), dims.end(), kUnknown) > 1) {
    op.fail("Expected a shape with at most one unknown dimension, got " + to_string(target));
  }
  return {{dtype, filled(op, target)}};
}

Types infer_reshape_like(const Op& op) {
  const Shape& like = operand(op, 1).shape;
  return {{operand(op, 0).dtype, like.ranked() ? filled(op, like) : like}};
}

Types infer_squeeze(const Op& op) {
  const Type& x = operand(op, 0);
  if (!x.shape.ranked()) return {x};
  Dims dims = x.shape.dims();
  const Dims axes = axes_of(op, x.shape.rank());
  for (auto it = axes.rbegin(); it != axes.rend(); ++it) {
    const int64_t extent = dims[static_cast<size_t>(*it)];
    if (extent != 1 && extent != kUnknown) {
      op.fail("Axis " + std::to_string(*it) + " of " + text(x.shape) + " is not of size 1");
    }
    dims.erase(dims.begin() + *it);
  }
  return {{x.dtype, Shape(dims)}};
}

Types infer_expand_dims(const Op& op) {
  const Type& x = operand(op, 0);
  if (!x.shape.ranked()) return {x};
  Dims dims = x.shape.dims();
  const int64_t rank = x.shape.rank() + static_cast<int64_t>(op.attributes.ints(Attr::kAxes).size());
  const Dims axes = axes_of(op, rank);
  if (axes.size() != op.attributes.ints(Attr::kAxes).size()) op.fail("Axes repeat");
  for (int64_t axis : axes) dims.insert(dims.begin() + axis, 1);
  return {{x.dtype, Shape(dims)}};
}

Types infer_transpose(const Op& op) {
  const Type& x = operand(op, 0);
  const Dims& permutation = op.attributes.ints(Attr::kPermutation);
  Dims sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  Dims expected(x.shape.ranked() ? x.shape.dims().size() : permutation.size());
  std::iota(expected.begin(), expected.end(), 0);
  if (sorted != expected) {
    op.fail("Expected a permutation of the " + std::to_string(expected.size()) + " axes of " + text(x.shape) +
            ", got " + text(permutation));
  }
  if (!x.shape.ranked()) return {x};
  Dims dims;
  for (int64_t axis : permutation) dims.push_back(x.shape[axis]);
  return {{x.dtype, Shape(dims)}};
}

Types broadcast_into(const Op& op, const Shape& target) {
  const Type& x = operand(op, 0);
  auto wider = broadcast(x.shape, target);
  const bool grows = wider && (!wider->ranked() || !target.ranked() || unify(*wider, target));
  if (!grows) op.fail("Shape " + to_string(x.shape) + " does not broadcast to shape " + to_string(target));
  return {{x.dtype, target.ranked() && wider->ranked() ? *unify(*wider, target) : target}};
}

Types infer_broadcast_to(const Op& op) { return broadcast_into(op, given_shape(op)); }
Types infer_broadcast_like(const Op& op) { return broadcast_into(op, operand(op, 1).shape); }

Types infer_reduce_like(const Op& op) {
  const Type &x = operand(op, 0), &like = operand(op, 1);
  auto wider = broadcast(x.shape, like.shape);
  if (!wider || (wider->ranked() && x.shape.ranked() && !unify(*wider, x.shape))) {
    op.fail("Shape " + to_string(x.shape) + " is not a broadcast of shape " + to_string(like.shape));
  }
  return {{x.dtype, like.shape}};
}

Shape sliced(const Op& op, const Shape& shape) {
  const Dims &starts = op.attributes.ints(Attr::kStarts), &ends = op.attributes.ints(Attr::kEnds),
             &strides = op.attributes.ints(Attr::kStrides);
  const size_t n = starts.size();
  if (ends.size() != n || strides.size() != n) op.fail("Expected as many ends and strides as starts");
  if (std::find(strides.begin(), strides.end(), 0) != strides.end()) op.fail("A stride is 0");
  if (!shape.ranked()) return shape;
  if (static_cast<int64_t>(n) != shape.rank()) {
    op.fail("Expected " + std::to_string(shape.rank()) + " starts for " + text(shape) + ", got " + std::to_string(n));
  }
  Dims dims;
  for (size_t i = 0; i < n; ++i) {
    const int64_t extent = shape.dims()[i];
    dims.push_back(extent == kUnknown ? kUnknown : resolve_slice(starts[i], ends[i], strides[i], extent).length);
  }
  return Shape(dims);
}

Types infer_slice(const Op& op) { return {{operand(op, 0).dtype, sliced(op, operand(op, 0).shape)}}; }

Types infer_slice_gradient(const Op& op) {
  const Type &g = operand(op, 0), &like = operand(op, 1);
  const Shape expected = sliced(op, like.shape);
  if (!unify(g.shape, expected)) op.fail("Expected a gradient of " + text(expected) + ", got " + text(g.shape));
  return {{g.dtype, like.shape}};
}

Types infer_concat(const Op& op) {
  const DType dtype = same_dtype(op);
  const Shape& first = operand(op, 0).shape;
  for (const Value& v : op.operands) {
    if (!v.shape().ranked()) return {{dtype, Shape::unranked()}};
  }
  if (first.rank() == 0) op.fail("Expected operands of rank 1 or more, got scalars");
  const int64_t axis = axis_of(op, op.attributes.integer(Attr::kAxis), first.rank());
  Dims dims = first.dims();
  int64_t& total = dims[static_cast<size_t>(axis)];
  for (size_t i = 1; i < op.operands.size(); ++i) {
    const Shape& next = operand(op, i).shape;
    bool fits = next.rank() == first.rank();
    for (int64_t a = 0; fits && a < first.rank(); ++a) {
      int64_t& d = dims[static_cast<size_t>(a)];
      if (a == axis || next[a] == kUnknown) continue;
      if (d == kUnknown) d = next[a];
      fits = d == next[a];
    }
    if (!fits) {
      op.fail("Shapes " + to_string(first) + " and " + to_string(next) + " differ in more than axis " +
              std::to_string(axis));
    }
    total = total == kUnknown || next[axis] == kUnknown ? kUnknown : total + next[axis];
  }
  return {{dtype, Shape(dims)}};
}

Types infer_cast(const Op& op) {
  const DType to = op.attributes.get<DType>(Attr::kDtype);
  if (kind(to) == DTypeKind::kComplex || kind(operand(op, 0).dtype) == DTypeKind::kComplex) {
    op.fail("Complex types are reserved and cannot be cast yet", Error::Kind::kType);
  }
  return {{to, operand(op, 0).shape}};
}

Types infer_shape_of(const Op& op) {
  const Shape& shape = operand(op, 0).shape;
  return {{DType::int32, Shape({shape.ranked() ? shape.rank() : kUnknown})}};
}

Types infer_count(const Op& op) {
  const Type& x = operand(op, 0);
  if (x.shape.ranked()) axes_of(op, x.shape.rank());
  return {{x.dtype, Shape()}};
}

// ---- linear algebra and neural networks ----

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

Types infer_softmax(const Op& op) {
  const Type& x = operand(op, 0);
  if (!accepts(TypeClass::floating, x.dtype)) op.fail("Expected a floating type, got " + text(x), Error::Kind::kType);
  if (x.shape.ranked()) axis_of(op, op.attributes.integer(Attr::kAxis), x.shape.rank());
  return {x};
}
const auto infer_log_softmax = infer_softmax;

Types infer_softmax_cross_entropy(const Op& op) {
  const DType dtype = same_dtype(op);
  if (!accepts(TypeClass::floating, dtype)) {
    op.fail("Expected a floating type, got " + text(operand(op, 0)), Error::Kind::kType);
  }
  auto shape = unify(operand(op, 0).shape, operand(op, 1).shape);
  if (!shape) {
    op.fail("The source has shape " + to_string(operand(op, 0).shape) + " but the labels have shape " +
            to_string(operand(op, 1).shape));
  }
  const bool keeps = op.attributes.word(Attr::kReduction) == "none";
  if (!shape->ranked()) return {{dtype, keeps ? *shape : Shape({1})}};
  const int64_t axis = axis_of(op, op.attributes.integer(Attr::kAxis), shape->rank());
  if (!keeps) return {{dtype, Shape({1})}};
  Dims dims = shape->dims();
  dims[static_cast<size_t>(axis)] = 1;
  return {{dtype, Shape(dims)}};
}

// Four-dimensional floating operand, or a failure naming its role.
void require_image(const Op& op, const Type& type, const char* role) {
  if (!accepts(TypeClass::floating, type.dtype)) {
    op.fail(std::string("Expected ") + role + " of a floating type, got " + text(type), Error::Kind::kType);
  }
  if (type.shape.ranked() && type.shape.rank() != 4) {
    op.fail(std::string("Expected ") + role + " of rank 4, got " + text(type.shape));
  }
}

void require_window_attributes(const Op& op) {
  const auto& a = op.attributes;
  auto positive = [&](Attr attr) {
    const Dims& values = a.ints(attr);
    if (values.size() != 2 ||
        std::any_of(values.begin(), values.end(), [](int64_t v) { return v < 1 || v > INT32_MAX; })) {
      op.fail("Expected 2 positive " + std::string(name(attr)) + " (height, width), got " + text(values));
    }
  };
  positive(Attr::kStrides);
  positive(Attr::kDilations);
  if (a.has(Attr::kWindow)) positive(Attr::kWindow);
  const Dims& padding = a.ints(Attr::kPadding);
  if (padding.size() != 4 ||
      std::any_of(padding.begin(), padding.end(), [](int64_t v) { return v < 0 || v > INT32_MAX; })) {
    op.fail("Expected 4 paddings of 0 or more (top, bottom, left, right), got " + text(padding));
  }
}

// The output extent along a spatial axis, unknown where the input is.
int64_t window_extent(const Op& op, int axis, int64_t kernel, int64_t input, const Shape& source) {
  if (kernel == 0) op.fail("Expected a window of 1 or more, got 0");
  if (input == kUnknown || kernel == kUnknown) return kUnknown;
  const Window window = window_of(op.attributes, axis, kernel, input);
  // The extent of "same" is rounded up by its definition.
  const bool rounds_up =
      op.attributes.flag(Attr::kCeilMode) && !op.attributes.word(Attr::kPaddingStyle).starts_with("same");
  const int64_t extent = output_extent(window, input, rounds_up);
  if (extent < 1) {
    op.fail("A window of " + std::to_string(window.effective()) + " does not fit into the " +
            (axis == 0 ? "height" : "width") + " of " + text(source) + " with padding " +
            std::to_string(window.before) + " and " + std::to_string(window.after));
  }
  return extent;
}

Shape convolved(const Op& op, const Shape& source, const Shape& weights) {
  const LayoutAxes x = LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout));
  const WeightsAxes w = WeightsAxes::of_weights(op.attributes.word(Attr::kWeightsLayout));
  const int64_t groups = op.attributes.integer(Attr::kGroups);
  if (groups < 1) op.fail("Expected 1 or more groups, got " + std::to_string(groups));
  if (groups > INT32_MAX) op.fail("Expected fewer than 2^31 groups, got " + std::to_string(groups));
  if (!source.ranked() || !weights.ranked()) return Shape({kUnknown, kUnknown, kUnknown, kUnknown});
  const int64_t channels = source[x.channels], expected = weights[w.in], filters = weights[w.out];
  if (channels != kUnknown && expected != kUnknown && channels != expected * groups) {
    op.fail("Input has " + std::to_string(channels) + " channels (shape " + to_string(source) +
            ") but the weights expect " + std::to_string(expected * groups) + " (shape " + to_string(weights) +
            (groups > 1 ? ", " + std::to_string(groups) + " groups)" : ")"));
  }
  if (filters != kUnknown && filters % groups != 0) {
    op.fail("The weights have " + std::to_string(filters) + " filters (shape " + to_string(weights) + "), which " +
            std::to_string(groups) + " groups do not divide");
  }
  Dims dims(4);
  dims[static_cast<size_t>(x.batch)] = source[x.batch];
  dims[static_cast<size_t>(x.channels)] = filters;
  dims[static_cast<size_t>(x.height)] = window_extent(op, 0, weights[w.height], source[x.height], source);
  dims[static_cast<size_t>(x.width)] = window_extent(op, 1, weights[w.width], source[x.width], source);
  return Shape(dims);
}

void require_gradient_shape(const Op& op, const Type& gradient, const Shape& expected) {
  if (!unify(gradient.shape, expected)) {
    op.fail("Expected an incoming gradient of " + text(expected) + ", got " + text(gradient.shape));
  }
}

Types infer_conv2d(const Op& op) {
  const Type &source = operand(op, 0), &weights = operand(op, 1);
  require_image(op, source, "a source");
  require_image(op, weights, "weights");
  require_window_attributes(op);
  return {{same_dtype(op), convolved(op, source.shape, weights.shape)}};
}

Types infer_conv2d_data_gradient(const Op& op) {
  const Type &gradient = operand(op, 0), &weights = operand(op, 1), &like = operand(op, 2);
  require_image(op, gradient, "an incoming gradient");
  require_image(op, weights, "weights");
  require_image(op, like, "a source");
  require_window_attributes(op);
  require_gradient_shape(op, gradient, convolved(op, like.shape, weights.shape));
  return {{same_dtype(op), like.shape}};
}

Types infer_conv2d_weights_gradient(const Op& op) {
  const Type &gradient = operand(op, 0), &source = operand(op, 1), &like = operand(op, 2);
  require_image(op, gradient, "an incoming gradient");
  require_image(op, source, "a source");
  require_image(op, like, "weights");
  require_window_attributes(op);
  require_gradient_shape(op, gradient, convolved(op, source.shape, like.shape));
  return {{same_dtype(op), like.shape}};
}

Shape pooled(const Op& op, const Shape& source) {
  if (!source.ranked()) return Shape({kUnknown, kUnknown, kUnknown, kUnknown});
  const LayoutAxes x = LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout));
  const Dims& window = op.attributes.ints(Attr::kWindow);
  Dims dims = source.dims();
  auto& height = dims[static_cast<size_t>(x.height)];
  auto& width = dims[static_cast<size_t>(x.width)];
  height = window_extent(op, 0, window[0], height, source);
  width = window_extent(op, 1, window[1], width, source);
  return Shape(dims);
}

Types infer_max_pool2d(const Op& op) {
  const Type& source = operand(op, 0);
  require_image(op, source, "a source");
  require_window_attributes(op);
  return {{source.dtype, pooled(op, source.shape)}};
}
const auto infer_avg_pool2d = infer_max_pool2d;

Types infer_max_pool2d_gradient(const Op& op) {
  const Type &gradient = operand(op, 0), &source = operand(op, 1);
  require_image(op, gradient, "an incoming gradient");
  require_image(op, source, "a source");
  require_window_attributes(op);
  require_gradient_shape(op, gradient, pooled(op, source.shape));
  return {{same_dtype(op), source.shape}};
}
const auto infer_avg_pool2d_gradient = infer_max_pool2d_gradient;

// ---- optimizer steps ----

// The one type of values, state and gradient. Coefficients are scalars, in whatever shape of one element.
Type optimizer_type(const Op& op) {
  same_dtype(op);
  const size_t first = coefficient_count(op.code);
  for (size_t i = 0; i < first; ++i) {
    const Shape& shape = operand(op, i).shape;
    if (shape.is_static() && shape.element_count() != 1) {
      op.fail("Expected coefficients of one element, got " + text(operand(op, i)));
    }
  }
  Type type = operand(op, first);
  for (size_t i = first + 1; i < op.operands.size(); ++i) {
    auto shape = unify(type.shape, operand(op, i).shape);
    if (!shape) {
      op.fail("Shapes " + to_string(type.shape) + " and " + to_string(operand(op, i).shape) +
              " of values, state and gradient differ");
    }
    type.shape = *shape;
  }
  if (!accepts(TypeClass::floating, type.dtype)) {
    op.fail("Expected a floating type, got " + text(type), Error::Kind::kType);
  }
  return type;
}

Types infer_sgd(const Op& op) { return {optimizer_type(op)}; }
Types infer_adam(const Op& op) { return Types(op.operands.size() == 8 ? 3 : 4, optimizer_type(op)); }

Types infer_by_row(const Op& op) {
  switch (op.code) {
#define ALLOY_UNARY(name, ...) \
  case OpCode::name: return infer_elementwise(op);
#define ALLOY_ACTIVATION ALLOY_UNARY
#define ALLOY_BINARY ALLOY_UNARY
#define ALLOY_ACTIVATION_GRADIENT ALLOY_UNARY
#define ALLOY_COMPARISON(name, ...) \
  case OpCode::name: return infer_comparison(op);
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
