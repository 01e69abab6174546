// The code of one op, for the planner.
#pragma once

#include <algorithm>

#include "cuda/codegen/code.h"
#include "device/kernel.h"

namespace alloy::cuda {

class Kernel final : public device::Kernel {
 public:
  // The op must outlive the kernel.
  explicit Kernel(const ir::Op& op) : op_(op), code_(code_of(op)) {}

  const Code& code() const { return code_; }
  size_t scratch_bytes() const override { return code_.scratch; }
  bool in_place(size_t operand, size_t result) const override {
    const ir::Type &from = op_.operands[operand].type(), &to = op_.results[result];
    const bool lasts = std::find(code_.lasting.begin(), code_.lasting.end(), operand) != code_.lasting.end();
    return code_.in_place && !lasts && from.shape == to.shape && size_of(from.dtype) == size_of(to.dtype);
  }

 private:
  const ir::Op& op_;
  const Code code_;
};

}  // namespace alloy::cuda
