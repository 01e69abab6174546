// The elementwise rows of the table, by their forward column; and casts.
#include "reference/reference.h"
#include "reference/table_rows.h"

namespace alloy::reference {
namespace {

template <class N>
Numbers<N> repeated(const Numbers<N>& x, const Dims& to) {
  Numbers<N> out(to);
  size_t i = 0;
  for_each_place(to, steps_of(x.dims, to), 0, [&](size_t from) { out.values[i++] = x.values[from]; });
  return out;
}

template <class Row, class N>
Arrays<N> row(const Op& op, const Arrays<N>& in) {
  Numbers<N> out(op.results[0].shape.dims()), x[3];
  for (size_t i = 0; i < 3; ++i) x[i] = i < in.size() ? repeated(in[i], out.dims) : out;
  for (size_t i = 0; i < out.size(); ++i) {
    out.values[i] = Row::of(N(), x[0].values[i], x[1].values[i], x[2].values[i]);
  }
  return {out};
}

// Only the result's type differs.
template <class N>
Arrays<N> cast(const Op&, const Arrays<N>& in) {
  return in;
}

}  // namespace

template <class N>
Function<N> elementwise(OpCode code) {
  if (code == OpCode::cast) return cast<N>;
  return table_row<Function<N>>(code, []<class Row>(Row) -> Function<N> {
    if constexpr (is_of<N>(Row::kTypes)) return row<Row, N>;
    else return nullptr;
  });
}
template Function<double> elementwise(OpCode);
template Function<int32_t> elementwise(OpCode);
template Function<int64_t> elementwise(OpCode);
template Function<uint64_t> elementwise(OpCode);

}  // namespace alloy::reference
