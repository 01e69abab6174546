// Table ops for one number at a time, by the forward, init and combine columns of their rows; moments, argmax and
// argmin by hand. Also casts and reduce_like.
#include <limits>
#include <string>

#include "elements.h"
#include "reference.h"
#include "table_rows.h"

namespace alloy::remote {
namespace {

using ir::Attr;
using ir::Op;
using ir::OpCode;
using test::is_of;
using test::table_row;

// ---- elementwise ----

// True if an element of the type is not zero.
bool is_true(ir::DType dtype, const std::byte* array, size_t i) {
  return for_type<bool>(dtype, [&](auto t) { return load<decltype(t)>(array, i) != 0; });
}

// For each element of the result the operands' numbers. `From`: the type of the operands, but of select's predicate.
template <class Row, class From>
Reference loop_of(const Op& op) {
  if constexpr (!is_of<From>(Row::kTypes)) {
    return nullptr;
  } else {
    std::vector<ir::Dims> dims;
    for (const ir::Value& v : op.operands) dims.push_back(v.shape().dims());
    const ir::Dims result = op.results[0].shape.dims();
    const bool has_predicate = op.code == OpCode::select;
    const ir::DType first = op.operands[0].dtype();
    if (has_predicate && !for_type<bool>(first, [](auto) { return true; })) return nullptr;
    return [=](const std::byte* const* operands, std::byte* const* results) {
      size_t at = 0;
      for_each_index(result, [&](const ir::Dims& index) {
        Number<From> in[3] = {};
        for (size_t i = 0; i < dims.size(); ++i) {
          const size_t from = position(dims[i], index);
          if (has_predicate && i == 0) in[i] = is_true(first, operands[i], from) ? 1 : 0;
          else in[i] = load<From>(operands[i], from);
        }
        const auto out = Row::of(Number<From>(), in[0], in[1], in[2]);
        if constexpr (std::is_same_v<decltype(out), const bool>) store<Bool>(results[0], at++, out);
        else store<From>(results[0], at++, out);
      });
    };
  }
}

// The nearest of the type: toward zero, no further than its ends, 0 of NaN.
template <class To, class From>
Number<To> converted(Number<From> x) {
  if constexpr (std::is_floating_point_v<Number<From>> && std::is_integral_v<To>) {
    if (std::isnan(x)) return 0;
    if (x >= std::ldexp(1.0, std::numeric_limits<To>::digits)) return std::numeric_limits<To>::max();
    if (x < static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  }
  if constexpr (std::is_same_v<To, Bool>) return x != 0;
  else return static_cast<Number<To>>(x);
}

Reference cast(const Op& op) {
  const size_t count = count_of(op.results[0].shape.dims());
  return for_any_type<Reference>(op.operands[0].dtype(), [&](auto from) {
    return for_any_type<Reference>(op.results[0].dtype, [&](auto to) -> Reference {
      using From = decltype(from);
      using To = decltype(to);
      return [count](const std::byte* const* operands, std::byte* const* results) {
        for (size_t i = 0; i < count; ++i) store<To>(results[0], i, converted<To, From>(load<From>(operands[0], i)));
      };
    });
  });
}

// ---- reductions ----

// How numbers are folded.
template <class N>
struct Fold {
  N (*init)(N d);
  N (*combine)(N d, N a, N b);
};

template <class N>
Fold<N> fold_of(OpCode code) {
  using namespace test;  // the words
  switch (code) {
#define ALLOY_REDUCTION(name, stem, types, domain, init, combine, gradient, doc) \
  case OpCode::name:                                                             \
    return {[]([[maybe_unused]] N d) -> N { return init; }, [](N d, N a, N b) -> N { return combine; }};
#include "ir/ops.def"
    default: return fold_of<N>(OpCode::sum);  // reduce_like
  }
}

// The numbers that share a position in the result, in their order.
template <class T>
std::vector<std::vector<Number<T>>> groups(const std::byte* from, const ir::Dims& dims, const ir::Dims& result) {
  std::vector<std::vector<Number<T>>> out(count_of(result));
  size_t at = 0;
  for_each_index(dims, [&](const ir::Dims& index) { out[position(result, index)].push_back(load<T>(from, at++)); });
  return out;
}

// Exact; of integers then truncated toward zero.
template <class N>
N moment(OpCode code, const std::vector<N>& group) {
  using Wide = std::conditional_t<std::is_floating_point_v<N>, double, __int128>;
  const Wide count = static_cast<Wide>(group.size());
  if (group.empty()) return std::is_floating_point_v<N> ? static_cast<N>(NAN) : N{0};
  Wide sum = 0;
  for (N v : group) sum += v;
  if (code == OpCode::mean) return static_cast<N>(sum / count);
  const Wide mean = sum / count, rest = sum - count * mean;  // of integers, what the truncated mean leaves
  Wide squares = 0;
  for (N v : group) squares += (v - mean) * (v - mean);
  return static_cast<N>(std::is_floating_point_v<N> ? squares / count
                                                    : (count * squares - rest * rest) / (count * count));
}

template <class T>
Reference reduction_of(const Op& op) {
  const ir::Dims dims = op.operands[0].shape().dims(), result = op.results[0].shape.dims();
  const OpCode code = op.code;
  return [=](const std::byte* const* operands, std::byte* const* results) {
    using N = Number<T>;
    const auto all = groups<T>(operands[0], dims, result);
    for (size_t i = 0; i < all.size(); ++i) {
      if (code == OpCode::mean || code == OpCode::variance) {
        store<T>(results[0], i, moment<N>(code, all[i]));
        continue;
      }
      const Fold<N> fold = fold_of<N>(code);
      N total = fold.init(N());
      for (N v : all[i]) total = fold.combine(N(), total, v);
      store<T>(results[0], i, total);
    }
  };
}

template <class T>
Reference arg_reduction_of(const Op& op) {
  const ir::Dims dims = op.operands[0].shape().dims(), result = op.results[0].shape.dims();
  const OpCode code = op.code;
  return [=](const std::byte* const* operands, std::byte* const* results) {
    using N = Number<T>;
    const auto all = groups<T>(operands[0], dims, result);
    for (size_t i = 0; i < all.size(); ++i) {
      int32_t index = -1;  // of NaN alone
      for (size_t k = 0; k < all[i].size(); ++k) {
        const N v = all[i][k];
        if (v != v) continue;
        const N best = index < 0 ? v : all[i][index];
        if (index < 0 || (code == OpCode::argmax ? v > best : v < best)) index = static_cast<int32_t>(k);
      }
      store<int32_t>(results[0], i, index);
    }
  };
}

}  // namespace

Reference elementwise_reference(const Op& op) {
  if (op.code == OpCode::cast) return cast(op);
  return table_row<Reference>(op.code, [&](auto row) {
    return for_type<Reference>(op.operands.back().dtype(),
                               [&](auto t) { return loop_of<decltype(row), decltype(t)>(op); });
  });
}

Reference reduction_reference(const Op& op) {
  const bool is_arg = op.info().family == ir::Family::kArgReduction;
  return for_type<Reference>(op.operands[0].dtype(), [&](auto t) -> Reference {
    using T = decltype(t);
    if constexpr (std::is_same_v<T, Bool>) {
      if (op.info().types != ir::TypeClass::any) return nullptr;
      return reduction_of<T>(op);
    } else {
      return is_arg ? arg_reduction_of<T>(op) : reduction_of<T>(op);
    }
  });
}

}  // namespace alloy::remote
