// How ops run their regions and what passes between them: what every walk through nested blocks needs to know of an op.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace alloy::ir {

// How an op runs its regions.
enum class Run : uint8_t {
  kNever,        // it has none
  kOnce,         // the one it has
  kEither,       // the first where the first operand is not zero, else the second
  kAlternately,  // a loop: the first, the second, the first, ...; it ends where the first gives zero as its own result
  kCounted,      // a loop: the one, for each number from the first operand to before the second by the third
};

// What a region takes and gives that the loop does not carry.
struct RegionRow {
  int own_arguments = 0, own_results = 0;  // the first ones
};

// Operands from `own_operands` on are the first values that a loop carries. Each region takes the carried values as its
// last arguments and gives the next ones as its last results, to the region that comes next.
struct Regions {
  Run run = Run::kNever;
  size_t own_operands = 0;
  std::span<const RegionRow> rows;  // one for each region

  bool is_loop() const { return run == Run::kAlternately || run == Run::kCounted; }
};

Regions regions_of(OpCode code);

// The types of the arguments of an op's next region, where it has these operands and these regions come before that:
// its own arguments, then what it is handed. Own arguments are scalars, of the element types of the first operands.
std::vector<Type> argument_types(OpCode code, const std::vector<Value>& operands,
                                 std::span<const std::unique_ptr<Block>> before);

// The slots of the variables that the op, or an op in its regions, assigns; ascending.
std::vector<int64_t> assigned_slots(const Op& op);

}  // namespace alloy::ir
