// The known elements of an op's result: for a table op by its columns forward, init and combine, for a structured op by
// the rule of its row (ops/).
#include "ir/rules/elements.h"

#include <algorithm>

namespace alloy::ir {
namespace {

using Element = std::optional<int64_t>;
using Known = std::optional<Elements>;

constexpr auto floating = TypeClass::floating;
constexpr auto numeric = TypeClass::numeric;
constexpr auto integer = TypeClass::integer;
constexpr auto any = TypeClass::any;
constexpr TypeClass first(TypeClass a, TypeClass, TypeClass) { return a; }

// ---- the functions of numeric rows, for known integers; nothing for an unknown or too large integer ----

struct Integers {};

template <class F>
Element of_known(const Element& a, const Element& b, const F& f) {
  return a && b ? f(*a, *b) : Element();
}

Element Zero(Integers) { return 0; }
Element One(Integers) { return 1; }
Element Lowest(Integers) { return {}; }  // depends on the type, which is not known here
Element Highest(Integers) { return {}; }
Element Add(Integers, const Element& a, const Element& b) {
  return of_known(a, b, [](int64_t x, int64_t y) {
    int64_t result = 0;
    return __builtin_add_overflow(x, y, &result) ? Element() : result;
  });
}
Element Sub(Integers, const Element& a, const Element& b) {
  return of_known(a, b, [](int64_t x, int64_t y) {
    int64_t result = 0;
    return __builtin_sub_overflow(x, y, &result) ? Element() : result;
  });
}
Element Mul(Integers, const Element& a, const Element& b) {
  return of_known(a, b, [](int64_t x, int64_t y) {
    int64_t result = 0;
    return __builtin_mul_overflow(x, y, &result) ? Element() : result;
  });
}
// Dividing by 0 gives 0, as everywhere; dividing by -1 may overflow.
Element Div(Integers d, const Element& a, const Element& b) {
  return of_known(a, b, [&](int64_t x, int64_t y) { return y == 0 || y == -1 ? Mul(d, x, y) : Element(x / y); });
}
Element Min(Integers, const Element& a, const Element& b) {
  return of_known(a, b, [](int64_t x, int64_t y) { return Element(std::min(x, y)); });
}
Element Max(Integers, const Element& a, const Element& b) {
  return of_known(a, b, [](int64_t x, int64_t y) { return Element(std::max(x, y)); });
}
Element Neg(Integers d, const Element& x) { return Sub(d, 0, x); }
Element Abs(Integers d, const Element& x) { return Max(d, x, Neg(d, x)); }
Element Sign(Integers d, const Element& x) { return Min(d, Max(d, x, -1), 1); }
Element Pow(Integers, const Element&, const Element&) { return {}; }  // no shape is computed from powers

Element Floor(Integers, const Element& x) { return x; }
Element Ceil(Integers, const Element& x) { return x; }
Element Round(Integers, const Element& x) { return x; }
Element Rint(Integers, const Element& x) { return x; }
Element Trunc(Integers, const Element& x) { return x; }
Element SignBit(Integers, const Element& x) { return x ? Element(*x < 0 ? 1 : 0) : Element(); }
// For divisors 0 and -1 as in Div.
Element Mod(Integers d, const Element& a, const Element& b) { return Sub(d, a, Mul(d, Div(d, a, b), b)); }
Element FloorMod(Integers d, const Element& a, const Element& b) {
  return of_known(Mod(d, a, b), b, [](int64_t rest, int64_t y) {
    return Element(y == 0 ? 0 : rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest);
  });
}

// ---- table ops ----

// Each element of the result, from the operands' elements, which broadcast.
template <TypeClass types, class F>
Known each(std::span<const Known> operands, [[maybe_unused]] const F& forward) {
  if constexpr (types != numeric) {
    return std::nullopt;
  } else {
    size_t count = 1;
    for (const Known& x : operands) {
      if (!x) return std::nullopt;
      if (x->size() != 1) count = x->size();
    }
    const auto at = [&](size_t k, size_t i) { return (*operands[k])[operands[k]->size() == 1 ? 0 : i]; };
    Elements elements;
    for (size_t i = 0; i < count; ++i) elements.push_back(forward(at, i));
    return elements;
  }
}

// Combines all elements of a vector into one.
template <TypeClass types, class Init, class Combine>
Known folded(const Op& op, const Known& x, [[maybe_unused]] const Init& init, const Combine& combine) {
  if constexpr (types != numeric) {
    return std::nullopt;
  } else {
    if (!x || op.attributes.ints(Attr::kAxes).empty() || op.operands[0].shape().rank() != 1) return std::nullopt;
    Element total = x->empty() ? init(Integers()) : x->front();
    for (size_t i = 1; i < x->size(); ++i) total = combine(Integers(), total, (*x)[i]);
    return Elements{total};
  }
}

Known by_row(const Op& op, std::span<const Known> operands) {
  switch (op.code) {
#define ALLOY_UNARY(name, stem, types, domain, forward, gradient, doc) \
  case OpCode::name:                                                   \
    return each<types>(operands, [](const auto& at, size_t i) {        \
      [[maybe_unused]] const Integers d{};                             \
      const auto x = at(0, i);                                         \
      return forward;                                                  \
    });
#define ALLOY_BINARY(name, stem, types, domain, forward, gradient_a, gradient_b, doc) \
  case OpCode::name:                                                                  \
    return each<types>(operands, [](const auto& at, size_t i) {                       \
      [[maybe_unused]] const Integers d{};                                            \
      const auto a = at(0, i), b = at(1, i);                                          \
      return forward;                                                                 \
    });
#define ALLOY_TERNARY(name, types, forward, gradient_a, gradient_b, gradient_c, doc) \
  case OpCode::name:                                                                 \
    return each<first types>(operands, [](const auto& at, size_t i) {                \
      [[maybe_unused]] const Integers d{};                                           \
      const auto a = at(0, i), b = at(1, i), c = at(2, i);                           \
      return forward;                                                                \
    });
#define ALLOY_REDUCTION(name, stem, types, domain, init, combine, gradient, doc) \
  case OpCode::name:                                                             \
    return folded<types>(                                                        \
        op, operands[0], []([[maybe_unused]] auto d) { return init; },           \
        []([[maybe_unused]] auto d, const auto& a, const auto& b) { return combine; });
#include "ir/ops.def"
    default: return std::nullopt;
  }
}

// Computes the elements of values, each value once.
class Evaluator {
 public:
  const Known& of(Value v) {
    if (const auto it = known_.find(v); it != known_.end()) return it->second;
    Known elements = evaluate(v);
    const Shape& shape = v.shape();
    if (!elements && shape.is_static() && shape.rank() <= 1) {
      elements.emplace(shape.element_count());
    }
    return known_[v] = std::move(elements);
  }

 private:
  Known evaluate(Value v) {
    const Op& op = *v.op;
    const DTypeKind numbers = kind(v.dtype());
    if (numbers != DTypeKind::kSigned && numbers != DTypeKind::kUnsigned) return std::nullopt;
    if (!v.shape().ranked() || v.shape().rank() > 1 || op.results.size() != 1) return std::nullopt;
    if (op.info().facts.renames) return of(op.operands[0]);
    if (op.info().family == Family::kStructured && op.info().elements == nullptr) return std::nullopt;
    std::vector<Known> operands;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      operands.push_back(op.info().reads(i) ? of(op.operands[i]) : std::nullopt);
    }
    return op.info().elements != nullptr ? op.info().elements(op, operands) : by_row(op, operands);
  }

  ValueMap<Known> known_;
};

}  // namespace

std::optional<Elements> known_elements(Value value) { return Evaluator().of(value); }

bool is_made_of_shapes(Value value) {
  const Op& op = *value.op;
  const OpInfo& row = op.info();
  if (op.results.size() != 1 || !op.regions.empty()) return false;
  if (row.family == Family::kStructured && row.elements == nullptr && !row.facts.renames) return false;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (row.reads(i) && !is_made_of_shapes(op.operands[i])) return false;
  }
  return true;
}

}  // namespace alloy::ir
