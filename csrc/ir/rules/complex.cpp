#include "ir/rules/complex.h"

#include <algorithm>
#include <optional>

#include "ir/grammar.h"

namespace alloy::ir {
namespace {

Expr product(const Parts& a, const Parts& b) { return joined({a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}); }

// A divisor that keeps the squares of the parts from overflowing and vanishing: the greater absolute part, or 1 if that
// is 0 or not finite. No result depends on it, so it gets no gradient.
Expr magnitude(const Parts& z) {
  const Expr most = stop_gradient(maximum_propagate_nan(abs(z.re), abs(z.im)));
  return select(logical_and(is_finite(most), most > 0.0), most, 1.0);
}

// a conj(b) / |b|^2.
Expr quotient(const Parts& a, const Parts& b) {
  const Expr unit = magnitude(b);
  const Parts scaled{b.re / unit, b.im / unit};
  const Expr square = scaled.re * scaled.re + scaled.im * scaled.im;
  return joined(
      {(a.re * scaled.re + a.im * scaled.im) / square / unit, (a.im * scaled.re - a.re * scaled.im) / square / unit});
}

// z|; its gradient at 0 is 0.
Expr absolute(const Parts& z) {
  const Expr unit = magnitude(z), re = z.re / unit, im = z.im / unit, square = re * re + im * im;
  const Expr is_zero = square == 0.0;
  return squeeze(select(is_zero, 0.0, sqrt(select(is_zero, 1.0, square)) * unit), {-1});
}

// Counts the axes from the front, because the parts add an axis at the end.
Attributes of_pairs(const Attributes& attributes, Expr x) {
  Attributes counted = attributes;
  Dims axes = attributes.ints(Attr::kAxes);
  for (int64_t& axis : axes) axis = normalize_axis(axis, rank_of(x)).value_or(axis);
  counted.set(Attr::kAxes, axes);
  return counted;
}

Expr converted(Expr x, DType dtype) {
  const auto part = part_of(dtype);
  if (!part) return none;
  return is_complex(x) ? view_as_complex(cast(view_as_real(x), *part)) : as_complex(cast(x, *part));
}

// Computes an op on one complex number; none if the op does not accept one.
Expr of_one(OpCode code, Expr x, const Attributes& attributes) {
  switch (code) {
    case OpCode::identity:
    case OpCode::negative: return view_as_complex(apply(code, {view_as_real(x)}));
    case OpCode::square: return product(parts_of(x), parts_of(x));
    case OpCode::reciprocal: return quotient(parts_of(as_complex(view_as_real(x).scalar(1))), parts_of(x));
    case OpCode::abs: return absolute(parts_of(x));
    case OpCode::sum:
    case OpCode::mean: return view_as_complex(apply(code, {view_as_real(x)}, of_pairs(attributes, x)));
    case OpCode::cast: return converted(x, attributes.get<DType>(Attr::kDtype));
    default: return none;
  }
}

Expr of_two(OpCode code, Expr a, Expr b) {
  switch (code) {
    case OpCode::add:
    case OpCode::subtract:
    case OpCode::reduce_like: return view_as_complex(apply(code, {view_as_real(a), view_as_real(b)}));
    case OpCode::multiply: return product(parts_of(a), parts_of(b));
    case OpCode::divide: return quotient(parts_of(a), parts_of(b));
    case OpCode::equal:
    case OpCode::not_equal: {
      const Parts x = parts_of(a), y = parts_of(b);
      const Expr re = apply(code, {x.re, y.re}), im = apply(code, {x.im, y.im});
      return squeeze(code == OpCode::equal ? logical_and(re, im) : logical_or(re, im), {-1});
    }
    default: return none;
  }
}

Expr of_three(OpCode code, Expr a, Expr b, Expr c, const Attributes& attributes) {
  switch (code) {
    case OpCode::select:
      return view_as_complex(select(expand_dims(a, {-1}), view_as_real(as_complex(b)), view_as_real(as_complex(c))));
    case OpCode::scatter_nd: return view_as_complex(apply(code, {view_as_real(a), b, view_as_real(c)}, attributes));
    default: return none;
  }
}

Expr of_complex(Graph& graph, OpCode code, const std::vector<Value>& operands, const Attributes& attributes) {
  std::vector<Expr> x;
  for (const Value& v : operands) x.emplace_back(graph, v);
  const bool makes_complex = code == OpCode::cast && kind(attributes.get<DType>(Attr::kDtype)) == DTypeKind::kComplex;
  const bool is_meant = std::any_of(x.begin() + (code == OpCode::select ? 1 : 0), x.end(), is_complex);
  if (!is_meant && !makes_complex) return none;
  switch (x.size()) {
    case 1: return of_one(code, x[0], attributes);
    case 2: {
      switch (code) {  // other ops report their operands as given
        case OpCode::add:
        case OpCode::subtract:
        case OpCode::multiply:
        case OpCode::divide:
        case OpCode::equal:
        case OpCode::not_equal: return of_two(code, as_complex(x[0]), as_complex(x[1]));
        default: return of_two(code, x[0], x[1]);
      }
    }
    case 3: return of_three(code, x[0], x[1], x[2], attributes);
    default: return none;
  }
}

}  // namespace

Op* add_op(Graph& graph, OpCode code, std::vector<Value> operands, Attributes attributes) {
  const bool is_plain = code != OpCode::cast && std::none_of(operands.begin(), operands.end(), [](const Value& v) {
                          return kind(v.dtype()) == DTypeKind::kComplex;
                        });
  if (!is_plain && !signature_mistake(info(code), operands, attributes)) {
    std::string name;
    std::swap(name, graph.name);  // the name is for the result
    const Expr result = of_complex(graph, code, operands, attributes);
    std::swap(name, graph.name);
    if (result) {
      if (!graph.name.empty()) result.value().op->name = graph.name;
      return result.value().op;
    }
  }
  return graph.add(code, std::move(operands), std::move(attributes));
}

Parts parts_of(Expr x) {
  const Expr pairs = view_as_real(x);
  const int64_t axis = rank_of(pairs) - 1;
  return {slice(pairs, axis, 0, 1), slice(pairs, axis, 1, 2)};
}

Expr joined(const Parts& parts) {
  if (parts.re.shape() == parts.im.shape() && parts.re.shape().is_static()) {
    return view_as_complex(concat({parts.re, parts.im}, -1));
  }
  const Expr like = parts.re + parts.im;  // only gives the shape
  return view_as_complex(concat({broadcast_like(parts.re, like), broadcast_like(parts.im, like)}, -1));
}

Expr as_complex(Expr x) {
  if (is_complex(x)) return x;
  const Expr re = expand_dims(x, {-1});
  return joined({re, broadcast_like(re.scalar(0), re)});
}

}  // namespace alloy::ir
