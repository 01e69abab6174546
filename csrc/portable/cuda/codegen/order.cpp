// Sorting along an axis, and cumulative ops.
#include <utility>

#include "cuda/codegen/families.h"
#include "cuda/codegen/order.h"

namespace alloy::cuda {
namespace {

using ir::Attr;
using ir::Dims;
using ir::DType;
using ir::Op;

constexpr char kOrder[] = R"cuda(
// True if `a` comes before `b` by their values; NaN counts as the greatest.
template <class N, bool DESCENDING>
__device__ inline bool comes_before(N a, N b) {
  return DESCENDING ? b < a || (b == b && a != a) : a < b || (a == a && b != b);
}

// The first element of a line, and its number.
template <class T>
struct SortedLine {
  const T* from;
  i64 number, step;
  __device__ SortedLine(const T* x, i64 line, i64 length, i64 s) : number(line), step(s) {
    const i64 outer = quotient(line, s);
    from = x + outer * length * s + (line - outer * s);
  }
  __device__ NumberOf<T> at(i64 i) const { return load(from, i * step); }
};

// Short lines: a thread counts the elements of the line that come before its own. Equal elements keep their order.
template <class T, bool DESCENDING>
__device__ inline void argsort(const T* x, int* y, const i64* n) {
  typedef NumberOf<T> N;
  const i64 count = n[0], length = n[1], step = n[2], taken = n[3];
  for (i64 i = first_index(); i < count; i += index_step()) {
    const i64 number = quotient(i, length), own = i - number * length, outer = quotient(number, step);
    const SortedLine<T> line(x, number, length, step);
    const N value = line.at(own);
    i64 before = 0;
    for (i64 k = 0; k < length; ++k) {
      const N other = line.at(k);
      before += comes_before<N, DESCENDING>(other, value) || (k < own && !comes_before<N, DESCENDING>(value, other));
    }
    if (before < taken) y[(outer * taken + before) * step + (number - outer * step)] = (int)own;
  }
}

// Long lines: sorted runs of `width` positions are merged to runs twice as long. A thread finds the place of an element
// by a search in the run beside its own. Without `from`, each position is a run.
template <class T, bool DESCENDING>
__device__ inline void merge_runs(const T* x, const int* from, int* to, const i64* n) {
  typedef NumberOf<T> N;
  const i64 count = n[0], length = n[1], width = n[4];
  for (i64 i = first_index(); i < count; i += index_step()) {
    const i64 number = quotient(i, length), at = i - number * length, run = quotient(at, width);
    const SortedLine<T> line(x, number, length, n[2]);
    const int* const positions = from == nullptr ? nullptr : from + number * length;
    const i64 own = positions == nullptr ? at : positions[at];
    const N value = line.at(own);
    const bool is_left = run % 2 == 0;
    const i64 first = (is_left ? run + 1 : run - 1) * width;
    i64 low = first < length ? first : length, high = first + width < length ? first + width : length;
    if (high < low) high = low;
    const i64 begin = low;
    while (low < high) {
      const i64 middle = (low + high) / 2;
      const N other = line.at(positions == nullptr ? middle : positions[middle]);
      // Of equal elements those of the left run come first.
      const bool behind =
          is_left ? comes_before<N, DESCENDING>(other, value) : !comes_before<N, DESCENDING>(value, other);
      if (behind) low = middle + 1;
      else high = middle;
    }
    const i64 start = is_left ? run * width : first;
    to[number * length + start + (at - run * width) + (low - begin)] = (int)own;
  }
}

__device__ inline void take_first(const int* from, int* y, const i64* n) {
  const i64 length = n[1], step = n[2], taken = n[3], lines = quotient(n[0], length);
  for (i64 i = first_index(); i < lines * taken; i += index_step()) {
    const i64 row = quotient(i, step), outer = quotient(row, taken);
    y[i] = from[(outer * step + (i - row * step)) * length + (row - outer * taken)];
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

std::string parameters_of(const std::string& type, bool is_descending) {
  return type + (is_descending ? ", true" : ", false");
}

}  // namespace

Pointer append_sort(Code& code, const Sorting& sorting) {
  const auto bytes = static_cast<size_t>(sorting.count) * sizeof(int32_t);
  size_t to = code.scratch, from = to + bytes;  // take turns
  code.scratch += 2 * bytes;
  for (int64_t width = 1; width < sorting.length; width *= 2) {
    std::vector<Pointer> pointers{sorting.x, scratch(to)};
    if (width > 1) pointers.push_back(scratch(from));
    code.launches.push_back(launch_for(sorting.count, {kOrder},
                                       filled("  merge_runs<@>((const @*)p[0], @, (int*)p[1], n);\n",
                                              {parameters_of(sorting.type, sorting.is_descending), sorting.type,
                                               width == 1 ? "nullptr" : "(const int*)p[2]"}),
                                       std::move(pointers), {sorting.count, sorting.length, sorting.step, 0, width}));
    std::swap(from, to);
  }
  return scratch(from);
}

Code code_of_argsort(const Op& op) {
  const Dims& dims = op.operands[0].shape().dims();
  const int64_t axis = axis_of(op), count = count_of(dims), length = dims[axis],
                step = count_of(dims, axis + 1, dims.size()), taken = op.results[0].shape[axis];
  const std::string type = element_of(op.operands[0].dtype());
  const bool is_descending = op.attributes.flag(Attr::kDescending);
  Code code;
  if (count == 0) return code;
  if (length <= kLongLine) {
    code.launches.push_back(
        launch_for(count, {kOrder},
                   filled("  argsort<@>((const @*)p[0], (int*)p[1], n);\n", {parameters_of(type, is_descending), type}),
                   {operand(0), result(0)}, {count, length, step, taken}));
    return code;
  }
  const Pointer sorted = append_sort(code, {type, is_descending, operand(0), count, length, step});
  code.launches.push_back(launch_for(count / length * taken, {kOrder},
                                     "  take_first((const int*)p[0], (int*)p[1], n);\n", {sorted, result(0)},
                                     {count, length, step, taken}));
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
