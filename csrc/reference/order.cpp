// Sorting along an axis, and cumulative ops.
#include <algorithm>
#include <string>

#include "reference/reference.h"
#include "reference/vocabulary.h"

namespace alloy::reference {
namespace {

// Calls f with the index of the first element of every line along the op's axis.
template <class F>
void for_each_line(const Op& op, Dims dims, const F& f) {
  dims[axis_of(op)] = 1;
  for_each_index(dims, f);
}

template <class N>
Arrays<N> argsort(const Op& op, const Arrays<N>& in) {
  const Numbers<N>& x = in[0];
  Numbers<N> out(op.results[0].shape.dims());
  const int64_t axis = axis_of(op), step = steps_of(x.dims)[axis], step_out = steps_of(out.dims)[axis];
  const bool descending = op.attributes.flag(Attr::kDescending);
  const auto below = [](N a, N b) { return a < b || (a == a && b != b); };  // NaN comes last
  for_each_line(op, x.dims, [&](const Dims& first) {
    std::vector<std::pair<N, int64_t>> line;
    for (int64_t i = 0; i < x.dims[axis]; ++i) line.emplace_back(x.values[position(x.dims, first) + i * step], i);
    std::stable_sort(line.begin(), line.end(), [&](const auto& a, const auto& b) {
      return descending ? below(b.first, a.first) : below(a.first, b.first);
    });
    for (int64_t i = 0; i < out.dims[axis]; ++i) {
      out.values[position(out.dims, first) + i * step_out] = static_cast<N>(line[i].second);
    }
  });
  return {out};
}

// Minimum and maximum skip NaN.
template <class N>
N next_total(const std::string& operation, N total, N v) {
  if (operation == "sum") return Add(N(), total, v);
  if (operation == "product") return Mul(N(), total, v);
  return operation == "minimum" ? Min(N(), total, v) : Max(N(), total, v);
}

template <class N>
Arrays<N> accumulate(const Op& op, const Arrays<N>& in) {
  Numbers<N> out = in[0];
  const int64_t axis = axis_of(op), extent = out.dims[axis], step = steps_of(out.dims)[axis];
  const bool reverse = op.attributes.flag(Attr::kReverse);
  for_each_line(op, out.dims, [&](const Dims& first) {
    N* at = out.values.data() + position(out.dims, first) + (reverse ? (extent - 1) * step : 0);
    for (int64_t i = 1; i < extent; ++i) {
      N* const next = at + (reverse ? -step : step);
      *next = next_total(op.attributes.word(Attr::kOperation), *at, *next);
      at = next;
    }
  });
  return {out};
}

}  // namespace

template <class N>
Function<N> order(OpCode code) {
  switch (code) {
    case OpCode::argsort: return argsort<N>;
    case OpCode::accumulate: return accumulate<N>;
    default: return nullptr;
  }
}
template Function<double> order(OpCode);
template Function<int32_t> order(OpCode);
template Function<int64_t> order(OpCode);
template Function<uint64_t> order(OpCode);

}  // namespace alloy::reference
