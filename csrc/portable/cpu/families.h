// The functions that make kernels: make_NAME for each NAME in the column `kernel` of ops.def, and for each moment. A
// missing function does not link. Each throws ir::Error if there is no kernel for the op's types.
#pragma once

#include <memory>

#include "cpu/kernel.h"

namespace alloy::cpu {

// Throws an error: there is no kernel for the type.
[[noreturn]] void refuse(const ir::Op& op, const ir::Type& type);
// Refuses an op whose first operand is not float32.
void require_float(const ir::Op& op);

#define ALLOY_OP(name, fewest, most, results, attributes, facts, kernel, doc) \
  std::unique_ptr<Kernel> make_##kernel(const ir::Op& op);
#define ALLOY_MOMENT(name, ...) std::unique_ptr<Kernel> make_##name(const ir::Op& op);
#include "ir/ops.def"

std::unique_ptr<Kernel> make_elementwise(const ir::Op& op);        // table ops except reductions
std::unique_ptr<Kernel> make_reduction(const ir::Op& op);          // reductions of the table
std::unique_ptr<Kernel> make_arg_reduction(const ir::Op& op);      // argmax and argmin
std::unique_ptr<Kernel> make_copy(const ir::Op& op);               // copies the bytes; the shape may differ
std::unique_ptr<Kernel> make_zeros(const ir::Op& op);              // a result of zeros for any operands
std::unique_ptr<Kernel> make_dense_convolution(const ir::Op& op);  // small images; null for others

}  // namespace alloy::cpu
