// Ops that move elements by attributes.
#include "cuda/codegen/families.h"
#include "ir/rules/windows.h"

namespace alloy::cuda {
namespace {

using ir::Attr;
using ir::Dims;
using ir::DType;
using ir::Op;

// Copies each element, at steps in both arrays.
constexpr char kMove[] = R"cuda(
template <class T, int R>
__device__ inline void move(const T* from, T* to, i64 count, i64 first_from, i64 first_to, const i64* axes) {
  for (i64 i = first_index(); i < count; i += index_step()) {
    to[first_to + place<R>(i, axes, axes + 2 * R)] = from[first_from + place<R>(i, axes, axes + R)];
  }
}

template <class T>
__device__ inline void fill(const T* value, T* to, i64 count) {
  const T copied = value == nullptr ? (T)0 : *value;
  for (i64 i = first_index(); i < count; i += index_step()) to[i] = copied;
}
)cuda";

struct Copying {
  Pointer from, to;
  DType dtype;
  Dims lengths, steps_from, steps_to;
  int64_t first_from = 0, first_to = 0;
};

void append(Code& code, const Copying& copying) {
  const Axes axes = joined({copying.lengths, {copying.steps_from, copying.steps_to}});
  if (axes.count() == 0) return;
  std::vector<int64_t> numbers{axes.count(), copying.first_from, copying.first_to};
  axes.append_to(numbers);
  const std::string bits = bits_of(copying.dtype);
  code.launches.push_back(launch_for(axes.count(), {kMove},
                                     filled("  move<@, @>((const @*)p[0], (@*)p[1], n[0], n[1], n[2], n + 3);\n",
                                            {bits, std::to_string(axes.rank()), bits, bits}),
                                     {copying.from, copying.to}, std::move(numbers)));
}

// Fills the result with zeros, or with the operand's only element.
void append_fill(Code& code, const Op& op, int value) {
  const std::string bits = bits_of(op.results[0].dtype);
  const int64_t count = op.results[0].shape.element_count();
  if (count == 0) return;
  std::vector<Pointer> pointers{result(0)};
  if (value >= 0) pointers.push_back(operand(static_cast<size_t>(value)));
  code.launches.push_back(launch_for(
      count, {kMove},
      filled("  fill<@>(@, (@*)p[0], n[0]);\n", {bits, value < 0 ? "nullptr" : "(const " + bits + "*)p[1]", bits}),
      std::move(pointers), {count}));
}

// The elements of the first operand at `first` plus the steps times the index in the result.
Code strided(const Op& op, Dims steps, int64_t first = 0) {
  const Dims& dims = op.results[0].shape.dims();
  Code code;
  append(code, {operand(0), result(0), op.results[0].dtype, dims, std::move(steps), steps_of(dims), first, 0});
  return code;
}

// The places that a slice of an array takes.
struct Slice {
  Dims steps;
  int64_t first = 0;

  Slice(const Op& op, const Dims& whole) : steps(steps_of(whole)) {
    for (int64_t i = 0; i < whole.size(); ++i) {
      const ir::SliceAxis axis =
          ir::resolve_slice(op.attributes.ints(Attr::kStarts)[i], op.attributes.ints(Attr::kEnds)[i],
                            op.attributes.ints(Attr::kStrides)[i], whole[i]);
      first += axis.start * steps[i];
      steps[i] *= axis.length > 1 ? axis.stride : 0;
    }
  }
};

}  // namespace

Code code_of_copy(const Op& op) {
  Dims count{static_cast<int64_t>(op.results[0].byte_count())};
  Code code;
  append(code, {operand(0), result(0), DType::uint8, count, {1}, {1}});
  return code;
}

Code code_of_broadcast(const Op& op) {
  return strided(op, steps_of(op.operands[0].shape().dims(), op.results[0].shape.dims()));
}

Code code_of_transpose(const Op& op) {
  const Dims own = steps_of(op.operands[0].shape().dims());
  Dims steps;
  for (int64_t axis : op.attributes.ints(Attr::kPermutation))
    steps.push_back(own[*ir::normalize_axis(axis, own.size())]);
  return strided(op, steps);
}

Code code_of_slice(const Op& op) {
  const Slice slice(op, op.operands[0].shape().dims());
  return strided(op, slice.steps, slice.first);
}

Code code_of_slice_gradient(const Op& op) {
  const Slice slice(op, op.results[0].shape.dims());
  const Dims& dims = op.operands[0].shape().dims();
  Code code;
  append_fill(code, op, -1);
  append(code, {operand(0), result(0), op.results[0].dtype, dims, steps_of(dims), slice.steps, 0, slice.first});
  return code;
}

Code code_of_concat(const Op& op) {
  const Dims steps = steps_of(op.results[0].shape.dims());
  const int64_t axis = axis_of(op);
  Code code;
  int64_t start = 0;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const Dims& dims = op.operands[i].shape().dims();
    append(code, {operand(i), result(0), op.results[0].dtype, dims, steps_of(dims), steps, 0, start * steps[axis]});
    start += dims[axis];
  }
  return code;
}

Code code_of_pad(const Op& op) {
  const Dims& dims = op.operands[0].shape().dims();
  const Dims steps = steps_of(op.results[0].shape.dims());
  int64_t first = 0;
  for (int64_t i = 0; i < steps.size(); ++i) first += op.attributes.ints(Attr::kPadding)[2 * i] * steps[i];
  Code code;
  append_fill(code, op, 1);
  append(code, {operand(0), result(0), op.results[0].dtype, dims, steps_of(dims), steps, 0, first});
  return code;
}

}  // namespace alloy::cuda
