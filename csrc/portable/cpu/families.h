// The functions that make kernels, from the rows of ops.def: make_NAME for a row whose column `kernel` says NAME, and
// for each moment. One that is missing does not link. Each throws ir::Error if there is no kernel for the op's types.
#pragma once

#include <memory>

#include "cpu/kernel.h"

namespace alloy::cpu {

// Says that there is no kernel for the type.
[[noreturn]] void refuse(const ir::Op& op, const ir::Type& type);
// Refuses any first operand but of float32.
void require_float(const ir::Op& op);

#define ALLOY_OP(name, fewest, most, results, attributes, facts, kernel, doc) \
  std::unique_ptr<Kernel> make_##kernel(const ir::Op& op);
#define ALLOY_MOMENT(name, ...) std::unique_ptr<Kernel> make_##name(const ir::Op& op);
#include "ir/ops.def"

std::unique_ptr<Kernel> make_elementwise(const ir::Op& op);        // of table ops but reductions
std::unique_ptr<Kernel> make_reduction(const ir::Op& op);          // of those rows
std::unique_ptr<Kernel> make_arg_reduction(const ir::Op& op);      // of those rows
std::unique_ptr<Kernel> make_copy(const ir::Op& op);               // the same bytes under another shape
std::unique_ptr<Kernel> make_zeros(const ir::Op& op);              // a result of zeros, whatever the operands
std::unique_ptr<Kernel> make_dense_convolution(const ir::Op& op);  // on small images; null for others

}  // namespace alloy::cpu
