// The least cost of an op on any device: arithmetic and memory traffic, computed from its types alone.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace alloy::ir {

// flops: operations on floats, or on the op's own type, by the convention beside each op's rule (ops/). A
// multiplication and an addition are two operations. An elementwise op of the table is one for each element of its
// result, whatever its function. Padding counts like other elements. Moving, converting and reshaping elements is none,
// nor is work that a reduction does once for a result (the quotient of a mean).
//
// bytes_read, bytes_written: every operand whose elements are read (a slice reads the elements that it takes) and every
// result, once each. Reshaping moves nothing, nor do values that are in memory before the run.
//
// A fused op does the arithmetic of its region and moves the region's inputs and outputs. A conditional costs the
// larger of its regions' costs, for each number. A loop costs its regions times the number of iterations, if constants
// tell that, else once.
struct Cost {
  uint64_t flops = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;

  bool operator==(const Cost&) const = default;
};

// The cost of one run of an op with static types.
Cost cost(const Op& op);

}  // namespace alloy::ir
