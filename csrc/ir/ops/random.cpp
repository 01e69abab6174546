// Random numbers.
#include <cmath>
#include <limits>

#include "ir/rules/composites.h"
#include "ir/rules/rules.h"

namespace alloy::ir {
namespace {

constexpr Dims::value_type kStateLength = 7;

[[noreturn]] void refuse_number(const Op& op, const std::string& expected, double given) {
  op.fail("Expected " + expected + ", got " + to_string(AttrValue(given)));
}

void require_integers(const Op& op) {
  for (const Attr attr : {Attr::kLow, Attr::kHigh}) {
    const double bound = op.attributes.number(attr);
    const bool fits = bound >= std::numeric_limits<int32_t>::min() && bound <= std::numeric_limits<int32_t>::max();
    if (!fits || bound != std::floor(bound)) refuse_number(op, "bounds that are integers of 32 bits", bound);
  }
}

}  // namespace

Types infer_fresh_random_state(const Op&) { return {{DType::int32, Shape({kStateLength})}}; }
void gradient_fresh_random_state(GradientRule&) {}
Cost cost_fresh_random_state(const Op& op) { return cost_of(op, 0); }

Types infer_random(const Op& op) {
  const Type expected{DType::int32, Shape({kStateLength})};
  const Type &state = operand(op, 0), &like = operand(op, 1);
  if (state.dtype != expected.dtype) {
    op.fail("Expected a state " + text(expected) + ", got " + text(state), Error::Kind::kType);
  }
  if (!unify(state.shape, expected.shape)) op.fail("Expected a state " + text(expected) + ", got " + text(state));
  const std::string& distribution = op.attributes.word(Attr::kDistribution);
  const bool is_integer = like.dtype == DType::int32 && distribution == "uniform";
  if (!is_integer && kind(like.dtype) != DTypeKind::kFloating) {
    op.fail("Expected a floating type" + std::string(distribution == "uniform" ? " or int32" : "") + ", got " +
                std::string(name(like.dtype)),
            Error::Kind::kType);
  }
  if (is_integer) require_integers(op);
  const double low = op.attributes.number(Attr::kLow), high = op.attributes.number(Attr::kHigh),
               deviation = op.attributes.number(Attr::kDeviation);
  if (distribution != "normal" && low > high) refuse_number(op, "a low bound of at most the high one", low);
  if (distribution == "uniform" && !std::isfinite(static_cast<float>(high - low))) {
    refuse_number(op, "bounds whose distance a float32 can hold", high - low);
  }
  if (distribution != "uniform" && deviation < 0) refuse_number(op, "a standard deviation of 0 or more", deviation);
  if (op.attributes.flag(Attr::kUnread)) return {{like.dtype, Shape({0})}, expected};
  return {like, expected};
}

void gradient_random(GradientRule&) {}
Cost cost_random(const Op& op) { return cost_of(op, 0); }

// ---- composites ----

// With a rate of 1 all elements are 0, and nothing is divided by 0.
Exprs compose_dropout(const Composition& c) {
  const Expr rate = c.x(1), chance = c.x(2);
  if (kind(c.x().value().dtype()) != DTypeKind::kFloating) {
    c.fail("Expected a tensor of a floating type, got " + text(c.x().value().type()), Error::Kind::kType);
  }
  const Expr is_kept = greater_equal(chance, cast(rate, chance.value().dtype()));
  const auto work = [&](Expr x) { return select(is_kept, divide_no_nan(x, 1.0 - cast(rate, x.value().dtype())), 0.0); };
  return {rounded_once(work, c.x())};
}

}  // namespace alloy::ir
