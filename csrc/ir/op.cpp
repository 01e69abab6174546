#include "ir/op.h"

#include "ir/rules/composites.h"
#include "ir/rules/rules.h"

namespace alloy::ir {
namespace rows {
namespace {

// The attribute sets of structured ops, in the words of ops.def.
#define ALLOY_ATTRIBUTE(name, text, kind, words) \
  constexpr AttrMask k##name = AttrMask{1} << static_cast<int>(Attr::k##name);
#include "ir/ops.def"
constexpr AttrMask kRandom = kDistribution | kSampling | kLow | kHigh | kMean | kDeviation;
constexpr AttrMask kPooling4d =
    kWindow | kStrides | kDilations | kPadding | kPaddingStyle | kCeilMode | kIncludePadding;
constexpr AttrMask kPooling = kPooling4d | kDataLayout;
constexpr AttrMask kDepthwise = kStrides | kDilations | kPadding | kPaddingStyle | kDataLayout | kWeightsLayout;
constexpr AttrMask kDepthwise3d = kStrides | kDilations | kPadding | kPaddingStyle | kAxis;
constexpr AttrMask kConvolution = kDepthwise | kGroups;
constexpr AttrMask kColumns = kWindow | kStrides | kDilations | kPadding | kDataLayout;

constexpr TypeClass first(TypeClass a, TypeClass, TypeClass) { return a; }
constexpr auto floating = TypeClass::floating;
constexpr auto numeric = TypeClass::numeric;
constexpr auto integer = TypeClass::integer;
constexpr auto any = TypeClass::any;

// The ways in which structured ops run their regions, in the words of ops.def.
constexpr Regions once{.run = RegionRun::kOnce, .count = 1};
constexpr Regions either{.run = RegionRun::kEither, .count = 2, .own_operands = 1};
constexpr Regions backwards{.run = RegionRun::kBackwards, .count = 1};
constexpr Regions alternately{.run = RegionRun::kAlternately, .count = 2, .own_results = {1, 0}};  // the predicate
constexpr Regions counted{
    .run = RegionRun::kCounted, .count = 1, .own_operands = 3, .own_arguments = {1}};  // the number

// The conditions for open lengths, in the words of ops.def.
using enum Open;

// The facts of structured ops, in the words of ops.def.
constexpr Facts none;
constexpr Facts keeps{.keeps = true};
constexpr Facts renames{.keeps = true, .renames = true, .every_type = true};
constexpr Facts repeats{.keeps = true, .repeats = true, .every_type = true};
constexpr Facts elementwise{.elementwise = true};
constexpr Facts elements{.elements = true};
constexpr Facts composed{.composed = true};
constexpr Facts every_type{.every_type = true};
constexpr Facts fresh{.fresh = true};
constexpr Facts global{.global = true};
constexpr Facts effect{.effect = true};
constexpr Facts products{.products = true};
constexpr Facts host{.host = true};
constexpr Facts lends(int operand) { return {.lent = uint32_t{1} << operand}; }
constexpr Facts regions(const Regions& how) { return {.regions = how}; }
constexpr Facts coefficients(uint8_t count) { return {.coefficients = count}; }
constexpr Facts open(Open when) { return {.open = when}; }
constexpr Facts operator|(const Facts& a, const Facts& b) {
  return {.regions = a.regions.count > 0 ? a.regions : b.regions,
          .lent = a.lent | b.lent,
          .coefficients = static_cast<uint8_t>(a.coefficients | b.coefficients),
          .open = a.open != never ? a.open : b.open,
          .keeps = a.keeps || b.keeps,
          .renames = a.renames || b.renames,
          .repeats = a.repeats || b.repeats,
          .elementwise = a.elementwise || b.elementwise,
          .elements = a.elements || b.elements,
          .composed = a.composed || b.composed,
          .every_type = a.every_type || b.every_type,
          .fresh = a.fresh || b.fresh,
          .global = a.global || b.global,
          .products = a.products || b.products,
          .effect = a.effect || b.effect,
          .host = a.host || b.host};
}

// The facts of table ops.
constexpr Facts of_table = elementwise | open(always);
constexpr Facts of_reduction = open(few_axes);
// A unary row whose forward expression is x only renames x.
constexpr Facts of_unary(std::string_view forward) { return forward == "x" ? renames | of_table : of_table; }

// The row's rule if it has the fact; rows without the fact define no rule.
#define ALLOY_RULE(Rule, fact, rule, facts)   \
  []() -> Rule {                              \
    if constexpr ((facts).fact) return &rule; \
    else return nullptr;                      \
  }()

constexpr OpInfo kTable[] = {
#define ALLOY_UNARY(name, stem, types, domain, forward, gradient, doc) \
  {{#name, 1, 1, 0, doc, types, Domain::domain}, OpCode::name, Family::kUnary, 1, of_unary(#forward)},
#define ALLOY_ACTIVATION(name, stem, types, domain, forward, gradient, doc) \
  {{#name, 1, 1, 0, doc, types, Domain::domain}, OpCode::name, Family::kActivation, 1, of_table},
#define ALLOY_PREDICATE(name, stem, types, domain, forward, doc) \
  {{#name, 1, 1, 0, doc, types, Domain::domain}, OpCode::name, Family::kPredicate, 1, of_table},
#define ALLOY_BINARY(name, stem, types, domain, forward, gradient_a, gradient_b, doc) \
  {{#name, 2, 2, 0, doc, types, Domain::domain}, OpCode::name, Family::kBinary, 1, of_table},
#define ALLOY_COMPARISON(name, stem, types, domain, forward, doc) \
  {{#name, 2, 2, 0, doc, types, Domain::domain}, OpCode::name, Family::kComparison, 1, of_table},
#define ALLOY_ACTIVATION_GRADIENT(name, stem, types, forward, gradient_g, gradient_x, doc) \
  {{#name, 2, 2, 0, doc, types, Domain::nonzero}, OpCode::name, Family::kActivationGradient, 1, of_table},
#define ALLOY_TERNARY(name, types, forward, gradient_a, gradient_b, gradient_c, doc) \
  {{#name, 3, 3, 0, doc, first types}, OpCode::name, Family::kTernary, 1, of_table},
#define ALLOY_REDUCTION(name, stem, types, domain, init, combine, gradient, doc) \
  {{#name, 1, 1, kAxes, doc, types, Domain::domain}, OpCode::name, Family::kReduction, 1, of_reduction},
#define ALLOY_MOMENT(name, stem, gradient, doc) \
  {{#name, 1, 1, kAxes, doc, numeric}, OpCode::name, Family::kMoment, 1, of_reduction},
#define ALLOY_ARG_REDUCTION(name, stem, types, better, doc) \
  {{#name, 1, 1, kAxis, doc, types}, OpCode::name, Family::kArgReduction, 1, of_reduction},
#define ALLOY_OP(name, fewest, most, results, attributes, facts, kernel, doc) \
  {{#name, fewest, most, attributes, doc},                                    \
   OpCode::name,                                                              \
   Family::kStructured,                                                       \
   results,                                                                   \
   facts,                                                                     \
   ALLOY_RULE(ElementsRule, elements, elements_##name, facts),                \
   ALLOY_RULE(ComposeRule, composed, compose_##name, facts)},
#include "ir/ops.def"
};

constexpr Signature kComposites[] = {
#define ALLOY_COMPOSITE(name, fewest, most, attributes, doc) {#name, fewest, most, attributes, doc},
#include "ir/ops.def"
};

}  // namespace
}  // namespace rows

std::span<const Signature> composite_table() { return rows::kComposites; }

const OpInfo& info(OpCode code) { return rows::kTable[static_cast<size_t>(code)]; }
std::span<const OpInfo> op_table() { return rows::kTable; }

const OpInfo* find_op(std::string_view name) {
  for (const OpInfo& row : rows::kTable) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

bool accepts(TypeClass types, DType dtype) {
  switch (types) {
    case TypeClass::floating: return kind(dtype) == DTypeKind::kFloating;
    case TypeClass::numeric: return kind(dtype) != DTypeKind::kBoolean && kind(dtype) != DTypeKind::kComplex;
    case TypeClass::integer: return kind(dtype) == DTypeKind::kSigned || kind(dtype) == DTypeKind::kUnsigned;
    case TypeClass::any: return true;
  }
  return false;
}

std::vector<Attr> attributes_of(const Signature& row) {
  std::vector<Attr> attributes;
  for (int i = 0; row.attributes >> i != 0; ++i) {
    if ((row.attributes >> i & 1) != 0) attributes.push_back(static_cast<Attr>(i));
  }
  return attributes;
}

std::string_view name(Family family) {
  constexpr std::string_view names[] = {"unary",      "activation",          "predicate", "binary",
                                        "comparison", "activation_gradient", "ternary",   "reduction",
                                        "moment",     "arg_reduction",       "structured"};
  return names[static_cast<size_t>(family)];
}

std::string_view name(TypeClass types) {
  constexpr std::string_view names[] = {"floating", "numeric", "integer", "any"};
  return names[static_cast<size_t>(types)];
}

std::string_view name(Domain domain) {
  constexpr std::string_view names[] = {"real", "nonzero", "positive", "small", "unit", "above_one"};
  return names[static_cast<size_t>(domain)];
}

}  // namespace alloy::ir
