// What an op costs at least, whoever runs it: arithmetic and traffic with memory, counted from its types alone.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace alloy::ir {

// flops: floating point operations, or those of the op's own type. The convention:
//   - a multiplication followed by an addition is two: matmul 2 n k m a matrix, conv2d and its gradients 2 for each
//   element of the
//     convolution's result and each weight that meets it, padding included;
//   - an elementwise op of the table is one for each element of its result, however much work its function is;
//   - a reduction, reduce_like or an arg reduction is one for each element of its operand, variance 4 (the mean;
//   difference, square, sum);
//   - a pooling or its gradient is one for each element of a window, padding included;
//   - softmax and log_softmax are 5 for each element (greatest, difference, exponential, sum, quotient or difference of
//   the logarithm),
//     softmax_cross_entropy 7 (those, product with the label, sum);
//   - sgd is 2 for each element, adam 12 (3 for the first moment, 4 for the second, 5 for the value), 13 with the
//   greatest second moment;
//   - moving, converting and naming elements is none, nor is what happens once for a whole result of a reduction (the
//   quotient of a mean).
// bytes_read, bytes_written: of every operand whose elements count, once (a slice reads what it takes), and of every
// result, once. What gives memory another name or shape, or was in memory before the run, moves nothing. A fused op
// does the arithmetic of its region and moves what enters and leaves it; a conditional costs the dearer of its regions,
// in each respect, and a loop all of them as often as constants say that they run, else once.
struct Cost {
  uint64_t flops = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;

  bool operator==(const Cost&) const = default;
};

// The cost of one run of an op of static types.
Cost cost(const Op& op);

}  // namespace alloy::ir
