// What an op is: its code, its row of the op table, and the rules attached to it.
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

enum class OpCode : uint8_t {
#define ALLOY_ROW(name) name,
#include "ir/ops.def"
};

// Which kind of row an op has; ops of one family share rules, kernels, lowerings and selectors.
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

// Which element types an operand may have.
enum class TypeClass : uint8_t { floating, numeric, integer, any };

// Where tests sample the operands of a table op.
enum class Domain : uint8_t { real, nonzero, positive, small, unit, above_one };

// How an op runs its regions.
enum class Run : uint8_t {
  kNever,        // it has none
  kOnce,         // the one it has
  kEither,       // the first where the first operand is not zero, else the second
  kAlternately,  // a loop: the first, the second, the first, ...; it ends where the first gives zero as its own result
  kCounted,      // a loop: the one, for each number from the first operand to before the second by the third
  kBackwards,    // the one it has, in gradients alone; its arguments are of the types of the results
};

// How an op runs its regions, and what passes between them. Own operands, arguments and results are the first ones.
// Behind them, a loop has the values that it carries: from its operands to the first region, then from each region to
// the one that runs next.
struct Regions {
  Run run = Run::kNever;
  uint8_t count = 0;
  uint8_t own_operands = 0;
  std::array<uint8_t, 2> own_arguments = {}, own_results = {};  // of each region

  bool is_loop() const { return run == Run::kAlternately || run == Run::kCounted; }
};

// When an op is exported although lengths of axes are open.
enum class Open : uint8_t { never, always, few_axes, one_length, whole, windows, filler };

// What holds of an op whatever its operands are. The words of ops.def say what each means.
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
  bool every_type = false;
  bool fresh = false;
  bool global = false;
  bool products = false;
  bool effect = false;
};

// Integers of a tensor of rank 0 or 1, row-major; nothing for one that is not known (yet).
using Elements = std::vector<std::optional<int64_t>>;
// The elements of an op's only result, which is of rank 0 or 1, from those of its operands; nothing for a tensor of
// which not even their number is known.
using ElementsRule = std::optional<Elements> (*)(const Op& op, std::span<const std::optional<Elements>> operands);

// What every row of ops.def says.
struct Signature {
  std::string_view name;
  int fewest_operands;
  int most_operands;    // -1: any number
  uint64_t attributes;  // bit i: the attribute with enumerator i; every one is required except flags
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
  ElementsRule elements = nullptr;  // of a structured op with that fact

  // True if the op reads the elements of an operand; of the others it only takes the shape.
  bool reads(size_t operand) const { return operand >= 32 || (facts.lent >> operand & 1) == 0; }
};

const OpInfo& info(OpCode code);
// Every row, in the table's order.
std::span<const OpInfo> op_table();
// The row of that name, or null.
const OpInfo* find_op(std::string_view name);

bool accepts(TypeClass types, DType dtype);
// The attributes an op has, flags included.
std::vector<Attr> attributes_of(const Signature& row);

// The printed names: "unary", "floating", "real" and so on.
std::string_view name(Family family);
std::string_view name(TypeClass types);
std::string_view name(Domain domain);

// A mistake of the user: what was given and what was expected, in one sentence.
class Error : public std::runtime_error {
 public:
  enum class Kind { kValue, kType };
  Error(Kind kind, const std::string& message) : std::runtime_error(message), kind(kind), said(message) {}
  // "SAID; built at LOCATION.", without a place where none is known.
  Error(Kind kind, std::string said, std::string location)
      : std::runtime_error(said + (location.empty() ? "" : "; built at " + location) + "."),
        kind(kind),
        said(std::move(said)),
        location(std::move(location)) {}
  // With a remark before the place, where one is known.
  Error with(const std::string& remark) const {
    return location.empty() ? *this : Error(kind, said + remark, location);
  }
  Kind kind;
  std::string said;
  std::string location;
};

// The types of the results of `op` as its operands and attributes determine them; throws Error where they are not
// legal. `op` has operands and attributes in place; its results are not looked at.
std::vector<Type> infer(const Op& op);

}  // namespace alloy::ir
