// What an op costs at least, on any device: arithmetic and traffic with memory, counted from its types alone.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace alloy::ir {

// flops: floating point operations, or those of the op's own type, by a convention that stands beside each op's rule
// (ops/). A multiplication and an addition are two. An elementwise op of the table is one for each element of its
// result, however much work its function is. Padding counts as other elements do. Moving, converting and naming
// elements is none, nor is what happens once for a whole result of a reduction (the quotient of a mean).
// bytes_read, bytes_written: of every operand whose elements count, once (a slice reads what it takes), and of every
// result, once. What gives memory another name or shape, or was in memory before the run, moves nothing.
// A fused op does the arithmetic of its region and moves what enters and leaves it; a conditional costs the dearer of
// its regions, in each respect, and a loop all of them as often as constants say that they run, else once.
struct Cost {
  uint64_t flops = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;

  bool operator==(const Cost&) const = default;
};

// The cost of one run of an op of static types.
Cost cost(const Op& op);

}  // namespace alloy::ir
