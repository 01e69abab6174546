#include "ir/elements.h"

#include <algorithm>
#include <cmath>

#include "ir/windows.h"

namespace alloy::ir {
namespace {

using Element = std::optional<int64_t>;

Element computed(OpCode code, const Element& a, const Element& b) {
  if (!a || !b) return std::nullopt;
  int64_t result = 0;
  switch (code) {
    case OpCode::add: return __builtin_add_overflow(*a, *b, &result) ? Element() : result;
    case OpCode::subtract: return __builtin_sub_overflow(*a, *b, &result) ? Element() : result;
    case OpCode::multiply: return __builtin_mul_overflow(*a, *b, &result) ? Element() : result;
    // By 0 it gives 0, as everywhere; by -1 it may overflow.
    case OpCode::divide: return *b == 0 || *b == -1 ? computed(OpCode::multiply, a, b) : *a / *b;
    case OpCode::minimum: return std::min(*a, *b);
    default: return std::max(*a, *b);
  }
}

// Each value is looked at once, however often it is used.
class Evaluator {
 public:
  const std::optional<Elements>& of(Value v) {
    if (const auto it = known_.find(v); it != known_.end()) return it->second;
    std::optional<Elements> elements = evaluate(v);
    const Shape& shape = v.shape();
    if (!elements && shape.is_static() && shape.rank() <= 1) {
      elements.emplace(shape.element_count());
    }
    return known_[v] = std::move(elements);
  }

 private:
  std::optional<Elements> evaluate(Value v) {
    const Op& op = *v.op;
    const DTypeKind numbers = kind(v.dtype());
    if (numbers != DTypeKind::kSigned && numbers != DTypeKind::kUnsigned) return std::nullopt;
    if (!v.shape().ranked() || v.shape().rank() > 1) return std::nullopt;
    if (op.info().facts.renames || op.code == OpCode::cast) return of(op.operands[0]);
    switch (op.code) {
      case OpCode::constant: return of_literal(*op.attributes.get<LiteralRef>(Attr::kValue));
      case OpCode::shape_of: return of_dimensions(op.operands[0].shape());
      case OpCode::slice: return v.shape().rank() == 1 ? sliced(op, of(op.operands[0])) : std::nullopt;
      case OpCode::concat: return joined(op.operands);
      case OpCode::add:
      case OpCode::subtract:
      case OpCode::multiply:
      case OpCode::divide:
      case OpCode::minimum:
      case OpCode::maximum: return combined(op.code, of(op.operands[0]), of(op.operands[1]));
      case OpCode::sum: return folded(op, OpCode::add, 0);
      case OpCode::product: return folded(op, OpCode::multiply, 1);
      default: return std::nullopt;
    }
  }

  static Elements of_literal(const Literal& literal) {
    Elements elements;
    for (int64_t i = 0; i < literal.type().shape.element_count(); ++i) {
      const double element = literal.at(i);
      elements.push_back(std::abs(element) < 0x1p62 ? Element(static_cast<int64_t>(element)) : Element());
    }
    return elements;
  }

  static std::optional<Elements> of_dimensions(const Shape& shape) {
    if (!shape.ranked()) return std::nullopt;
    Elements elements;
    for (int64_t d : shape.dims()) elements.push_back(d == kUnknown ? Element() : d);
    return elements;
  }

  static std::optional<Elements> sliced(const Op& op, const std::optional<Elements>& from) {
    if (!from) return std::nullopt;
    const auto word = [&](Attr attr) { return op.attributes.ints(attr)[0]; };
    const SliceAxis axis = resolve_slice(word(Attr::kStarts), word(Attr::kEnds), word(Attr::kStrides), from->size());
    Elements elements;
    for (int64_t i = 0; i < axis.length; ++i) {
      elements.push_back((*from)[axis.start + i * axis.stride]);
    }
    return elements;
  }

  std::optional<Elements> joined(const std::vector<Value>& parts) {
    Elements elements;
    for (const Value& part : parts) {
      const std::optional<Elements>& from = of(part);
      if (!from) return std::nullopt;
      elements.insert(elements.end(), from->begin(), from->end());
    }
    return elements;
  }

  std::optional<Elements> folded(const Op& op, OpCode combine, int64_t start) {
    const std::optional<Elements>& from = of(op.operands[0]);
    if (!from || op.attributes.ints(Attr::kAxes).empty() || op.operands[0].shape().rank() != 1) return std::nullopt;
    Element total = start;
    for (const Element& e : *from) total = computed(combine, total, e);
    return Elements{total};
  }

  static std::optional<Elements> combined(OpCode code, const std::optional<Elements>& a,
                                          const std::optional<Elements>& b) {
    if (!a || !b) return std::nullopt;
    const size_t count = a->size() == 1 ? b->size() : a->size();
    Elements elements;
    for (size_t i = 0; i < count; ++i) {
      elements.push_back(computed(code, (*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]));
    }
    return elements;
  }

  ValueMap<std::optional<Elements>> known_;
};

}  // namespace

std::optional<Elements> known_elements(Value value) { return Evaluator().of(value); }

}  // namespace alloy::ir
