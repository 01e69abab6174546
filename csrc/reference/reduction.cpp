// Reductions, by their rows' columns init and combine; moments, argmax, argmin and reduce_like by hand.
#include "reference/reference.h"
#include "reference/vocabulary.h"

namespace alloy::reference {
namespace {

// Calls f with every element of x, in order, and its position in the result, an array of shape `result`.
template <class N, class F>
void for_each_summand(const Numbers<N>& x, const Dims& result, const F& f) {
  size_t i = 0;
  for_each_place(x.dims, steps_of(result, x.dims), 0, [&](size_t to) { f(to, x.values[i++]); });
}

template <class N>
struct Fold {
  N (*init)(N d);
  N (*combine)(N d, N a, N b);
};

template <class N>
Fold<N> fold_of(OpCode code) {
  switch (code) {
#define ALLOY_REDUCTION(name, stem, types, domain, init, combine, gradient, doc) \
  case OpCode::name:                                                             \
    return {[]([[maybe_unused]] N d) -> N { return init; }, [](N d, N a, N b) -> N { return combine; }};
#include "ir/ops.def"
    default: return fold_of<N>(OpCode::sum);  // reduce_like
  }
}

template <class N>
Arrays<N> folded(const Op& op, const Arrays<N>& in) {
  const Fold<N> fold = fold_of<N>(op.code);
  Numbers<N> out(op.results[0].shape.dims(), fold.init(N()));
  for_each_summand(in[0], out.dims, [&](size_t to, N v) { out.values[to] = fold.combine(N(), out.values[to], v); });
  return {out};
}

// Exact; for integers then truncated toward zero.
template <class N>
Arrays<N> moment(const Op& op, const Arrays<N>& in) {
  constexpr bool kIsFloating = std::is_floating_point_v<N>;
  using Wide = std::conditional_t<kIsFloating, double, __int128>;
  Numbers<N> out(op.results[0].shape.dims(), kIsFloating ? static_cast<N>(NAN) : N{0});
  if (in[0].size() == 0) return {out};
  const Wide count = static_cast<Wide>(in[0].size() / out.size());
  std::vector<Wide> sums(out.size(), 0), squares(sums);
  for_each_summand(in[0], out.dims, [&](size_t to, N v) { sums[to] += v; });
  for_each_summand(in[0], out.dims, [&](size_t to, N v) {
    const Wide distance = v - sums[to] / count;
    squares[to] += distance * distance;
  });
  for (size_t i = 0; i < out.size(); ++i) {
    // For integers, the truncated mean has a remainder.
    const Wide mean = sums[i] / count, rest = kIsFloating ? 0 : sums[i] - count * mean;
    out.values[i] = static_cast<N>(op.code == OpCode::mean ? mean
                                   : kIsFloating           ? squares[i] / count
                                                           : (count * squares[i] - rest * rest) / (count * count));
  }
  return {out};
}

// The first of the greatest or least elements; -1 if all are NaN.
template <class N>
Arrays<N> best(const Op& op, const Arrays<N>& in) {
  const Numbers<N>& x = in[0];
  const int64_t axis = axis_of(op);
  Numbers<N> out(op.results[0].shape.dims(), static_cast<N>(-1)), most(out.dims);
  std::vector<bool> any(out.size());
  size_t i = 0;
  for_each_index(x.dims, [&](const Dims& index) {
    const N v = x.values[i++];
    const size_t to = position(out.dims, index);
    const bool wins = !any[to] || (op.code == OpCode::argmax ? v > most.values[to] : v < most.values[to]);
    if (v != v || !wins) return;
    any[to] = true;
    most.values[to] = v;
    out.values[to] = static_cast<N>(index[axis]);
  });
  return {out};
}

}  // namespace

template <class N>
Function<N> reduction(OpCode code) {
  switch (info(code).family) {
    case Family::kReduction: return folded<N>;
    case Family::kMoment: return moment<N>;
    case Family::kArgReduction: return best<N>;
    default: return code == OpCode::reduce_like ? folded<N> : nullptr;
  }
}
template Function<double> reduction(OpCode);
template Function<int32_t> reduction(OpCode);
template Function<int64_t> reduction(OpCode);
template Function<uint64_t> reduction(OpCode);

}  // namespace alloy::reference
