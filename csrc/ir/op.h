// Codes of ops, the op table's rows, and mistakes of users.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ir/attributes.h"

namespace alloy::ir {

class Op;
class Graph;
class Expr;
struct Composition;

enum class OpCode : uint8_t {
#define ALLOY_ROW(name) name,
#include "ir/ops.def"
};

// The kind of row that an op has; ops of one family share rules, kernels, lowerings and selectors.
enum class Family : uint8_t {
  kUnary,
  kActivation,
  kPredicate,
  kBinary,
  kComparison,
  kActivationGradient,
  kTernary,
  kReduction,
  kMoment,
  kArgReduction,
  kStructured,
};

// The element types that an operand may have.
enum class TypeClass : uint8_t { floating, numeric, integer, any };

// The numbers with which tests sample the operands of a table op.
enum class Domain : uint8_t { real, nonzero, positive, small, unit, above_one };

// How an op runs its regions.
enum class RegionRun : uint8_t {
  kNever,        // no regions
  kOnce,         // its one region
  kEither,       // the first region if the first operand is not zero, else the second
  kAlternately,  // a loop: the first, the second, the first, ... until the first returns zero as its own result
  kCounted,      // a loop: its one region, for each number from the first operand to before the second by the third
  kBackwards,    // its one region, only in gradients; the arguments have the types of the results
};

// The regions of an op, and the values that pass between them. Own operands, arguments and results come first. After
// them come the values that a loop carries: from its operands to the first region, then from each region to the next.
struct Regions {
  RegionRun run = RegionRun::kNever;
  uint8_t count = 0;
  uint8_t own_operands = 0;
  std::array<uint8_t, 2> own_arguments = {}, own_results = {};  // of each region

  bool is_loop() const { return run == RegionRun::kAlternately || run == RegionRun::kCounted; }
};

// The condition under which an op can be exported with open lengths; ops.def explains the words.
enum class Open : uint8_t { never, always, few_axes, one_length, whole, windows, filler };

// Properties of an op that do not depend on its operands; ops.def explains the words.
struct Facts {
  Regions regions = {};
  uint32_t lent = 0;  // bit i: operand i
  uint8_t coefficients = 0;
  Open open = Open::never;
  bool keeps = false;
  bool renames = false;
  bool repeats = false;
  bool elementwise = false;
  bool elements = false;
  bool composed = false;
  bool every_type = false;
  bool fresh = false;
  bool global = false;
  bool products = false;
  bool effect = false;
  bool host = false;
};

// Integers of a tensor of rank 0 or 1; nothing for an integer that is unknown.
using Elements = std::vector<std::optional<int64_t>>;
// Computes the elements of an op's only result, of rank 0 or 1, from its operands' elements; nothing if not even their
// number is known.
using ElementsRule = std::optional<Elements> (*)(const Op& op, std::span<const std::optional<Elements>> operands);
// Makes the results of a composite, or of an op with the fact `composed`, from other ops (ir/rules/composites.h).
using ComposeRule = std::vector<Expr> (*)(const Composition& c);

// The columns that every row of ops.def has.
struct Signature {
  std::string_view name;
  int fewest_operands;
  int most_operands;    // -1: any number
  AttrMask attributes;  // all are required unless is_optional()
  std::string_view doc;
  TypeClass types = TypeClass::any;
  Domain domain = Domain::real;
};

// One row of the op table.
struct OpInfo : Signature {
  OpCode code;
  Family family;
  int results;  // -1: decided by the rule
  Facts facts;
  ElementsRule elements = nullptr;  // only of a structured op with that fact
  ComposeRule compose = nullptr;    // only of an op with the fact `composed`

  // True if it has products whose precision is a choice.
  bool multiplies() const { return (attributes >> static_cast<int>(Attr::kPrecision) & 1) != 0; }
  // True if the op reads the operand's elements, false if it reads only its shape.
  bool reads(size_t operand) const { return operand >= 32 || (facts.lent >> operand & 1) == 0; }
};

const OpInfo& info(OpCode code);
// Every row, in the table's order.
std::span<const OpInfo> op_table();
// The row with this name, or null.
const OpInfo* find_op(std::string_view name);

bool accepts(TypeClass types, DType dtype);
// The attributes of the op, flags included.
std::vector<Attr> attributes_of(const Signature& row);

// The printed names: "unary", "floating", "real" and so on.
std::string_view name(Family family);
std::string_view name(TypeClass types);
std::string_view name(Domain domain);

// A mistake of the user: the given and the expected value, in one sentence.
class Error : public std::runtime_error {
 public:
  enum class Kind { kValue, kType };
  Error(Kind kind, const std::string& message) : std::runtime_error(message), kind(kind), said(message) {}
  // "SAID; built at LOCATION."; without a location if none is known.
  Error(Kind kind, std::string said, std::string location)
      : std::runtime_error(said + (location.empty() ? "" : "; built at " + location) + "."),
        kind(kind),
        said(std::move(said)),
        location(std::move(location)) {}
  // Adds a remark before the location, if one is known.
  Error with(const std::string& remark) const {
    return location.empty() ? *this : Error(kind, said + remark, location);
  }
  Kind kind;
  std::string said;
  std::string location;
};

// The types of the op's results, from its operands and attributes; throws Error if these are not legal. Ignores the
// op's own results.
std::vector<Type> infer(const Op& op);

}  // namespace alloy::ir
