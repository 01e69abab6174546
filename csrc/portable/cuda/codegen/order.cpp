// Sorting along an axis, and cumulative ops.
#include "cuda/codegen/families.h"

namespace alloy::cuda {
namespace {

using ir::Attr;
using ir::Dims;
using ir::DType;
using ir::Op;

constexpr char kOrder[] = R"cuda(
// A thread counts the elements of the line that come before its own: that is its place. Equal elements keep their
// order, and NaN counts as the greatest.
template <class T, bool DESCENDING>
__device__ inline void argsort(const T* x, int* y, const i64* n) {
  const i64 count = n[0], length = n[1], step = n[2], taken = n[3];
  for (i64 i = first_index(); i < count; i += index_step()) {
    const i64 row = quotient(i, step), outer = quotient(row, length), own = row - outer * length;
    const T* const line = x + outer * length * step + (i - row * step);
    const NumberOf<T> value = load(x, i);
    i64 before = 0;
    for (i64 k = 0; k < length; ++k) {
      const NumberOf<T> other = load(line, k * step);
      const bool below = other < value || (other == other && value != value);
      const bool above = value < other || (value == value && other != other);
      before += (DESCENDING ? above : below) || (!below && !above && k < own);
    }
    if (before < taken) y[(outer * taken + before) * step + (i - row * step)] = (int)own;
  }
}

// A thread goes along a line.
template <class T, class All, class Combine>
__device__ inline void accumulate(const T* x, T* y, const i64* n, bool reverse, const Combine& combine) {
  const i64 lines = n[0], length = n[1], step = n[2];
  for (i64 i = first_index(); i < lines; i += index_step()) {
    const i64 outer = quotient(i, step), first = outer * length * step + (i - outer * step);
    All all = 0;
    for (i64 k = 0; k < length; ++k) {
      const i64 at = first + (reverse ? length - 1 - k : k) * step;
      all = k == 0 ? (All)load(x, at) : combine(all, (All)load(x, at));
      store(y, at, (NumberOf<T>)all);
    }
  }
}
)cuda";

}  // namespace

Code code_of_argsort(const Op& op) {
  const Dims& dims = op.operands[0].shape().dims();
  const int64_t axis = axis_of(op), step = count_of(dims, axis + 1, dims.size());
  const std::string type = element_of(op.operands[0].dtype());
  Code code;
  if (count_of(dims) == 0) return code;
  code.launches.push_back(launch_for(count_of(dims), {kOrder},
                                     filled("  argsort<@, @>((const @*)p[0], (int*)p[1], n);\n",
                                            {type, op.attributes.flag(Attr::kDescending) ? "true" : "false", type}),
                                     {operand(0), result(0)},
                                     {count_of(dims), dims[axis], step, op.results[0].shape[axis]}));
  return code;
}

Code code_of_accumulate(const Op& op) {
  const Dims& dims = op.operands[0].shape().dims();
  const int64_t axis = axis_of(op), step = count_of(dims, axis + 1, dims.size()),
                lines = count_of(dims, 0, axis) * step;
  const std::string& operation = op.attributes.word(Attr::kOperation);
  const DType dtype = op.operands[0].dtype();
  const bool adds = operation == "sum" || operation == "product";
  const std::string type = element_of(dtype),
                    all = adds && kind(dtype) == ir::DTypeKind::kFloating ? "double" : number_of(dtype),
                    function = operation == "sum"       ? "Add"
                               : operation == "product" ? "Mul"
                               : operation == "minimum" ? "Min"
                                                        : "Max";
  Code code;
  if (count_of(dims) == 0) return code;
  code.launches.push_back(launch_for(
      lines, {kOrder},
      filled("  accumulate<@, @>((const @*)p[0], (@*)p[1], n, @, [](@ a, @ b) { return @(a, a, b); });\n",
             {type, all, type, type, op.attributes.flag(Attr::kReverse) ? "true" : "false", all, all, function}),
      {operand(0), result(0)}, {lines, dims[axis], step}));
  return code;
}

}  // namespace alloy::cuda
