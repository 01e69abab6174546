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
      elements.emplace(static_cast<size_t>(shape.element_count()));
    }
    return known_[v] = std::move(elements);
  }

 private:
  std::optional<Elements> evaluate(Value v) {
    const Op& op = *v.op;
    const DTypeKind numbers = kind(v.dtype());
    if (numbers != DTypeKind::kSigned && numbers != DTypeKind::kUnsigned) return std::nullopt;
    if (!v.shape().ranked() || v.shape().rank() > 1) return std::nullopt;
    switch (op.code) {
      case OpCode::constant: {
        const Literal& literal = *op.attributes.get<LiteralRef>(Attr::kValue);
        Elements elements;
        for (int64_t i = 0; i < v.shape().element_count(); ++i) {
          const double element = literal.at(i);
          elements.push_back(std::abs(element) < 0x1p62 ? Element(static_cast<int64_t>(element)) : Element());
        }
        return elements;
      }
      case OpCode::shape_of: {
        const Shape& shape = op.operands[0].shape();
        if (!shape.ranked()) return std::nullopt;
        Elements elements;
        for (int64_t d : shape.dims()) elements.push_back(d == kUnknown ? Element() : d);
        return elements;
      }
      case OpCode::identity:
      case OpCode::cast:
      case OpCode::reshape:
      case OpCode::reshape_like:
      case OpCode::squeeze:
      case OpCode::expand_dims: return of(op.operands[0]);
      case OpCode::slice: {
        const std::optional<Elements>& from = of(op.operands[0]);
        if (!from || v.shape().rank() != 1) return std::nullopt;
        auto word = [&](Attr attr) { return op.attributes.ints(attr)[0]; };
        const SliceAxis axis = resolve_slice(word(Attr::kStarts), word(Attr::kEnds), word(Attr::kStrides),
                                             static_cast<int64_t>(from->size()));
        Elements elements;
        for (int64_t i = 0; i < axis.length; ++i) {
          elements.push_back((*from)[static_cast<size_t>(axis.start + i * axis.stride)]);
        }
        return elements;
      }
      case OpCode::concat: {
        Elements elements;
        for (const Value& part : op.operands) {
          const std::optional<Elements>& from = of(part);
          if (!from) return std::nullopt;
          elements.insert(elements.end(), from->begin(), from->end());
        }
        return elements;
      }
      case OpCode::add:
      case OpCode::subtract:
      case OpCode::multiply:
      case OpCode::divide:
      case OpCode::minimum:
      case OpCode::maximum: return combine(op.code, of(op.operands[0]), of(op.operands[1]));
      case OpCode::sum:
      case OpCode::product: {
        const std::optional<Elements>& from = of(op.operands[0]);
        if (!from || op.attributes.ints(Attr::kAxes).empty() || op.operands[0].shape().rank() != 1) return std::nullopt;
        Element total = op.code == OpCode::sum ? 0 : 1;
        for (const Element& e : *from) {
          total = computed(op.code == OpCode::sum ? OpCode::add : OpCode::multiply, total, e);
        }
        return Elements{total};
      }
      default: return std::nullopt;
    }
  }

  static std::optional<Elements> combine(OpCode code, const std::optional<Elements>& a,
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
