// Describes, for the planner, the code that computes one op on a device. How the device calls that code is up to it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "ir/graph.h"

namespace alloy::device {

// Made once for one op of static types, run many times.
class Kernel {
 public:
  virtual ~Kernel() = default;

  // Bytes of working memory that a run needs.
  virtual size_t scratch_bytes() const { return 0; }
  // True if the result may be written over the operand.
  virtual bool in_place(size_t /*operand*/, size_t /*result*/) const { return false; }

  // The operand, usually weights, that the kernel can read in an order of its own. Runs get it as it is, until
  // take_prepacked() returns how many packed bytes they get from then on in its place; if none, it stays as it is.
  virtual std::optional<size_t> prepacked_operand() const { return std::nullopt; }
  virtual size_t take_prepacked() { return 0; }
};

// Computes an op that the device lacks. The executor copies the operands to the host, computes, and copies the results
// back.
class HostKernel : public Kernel {
 public:
  // Packed arrays of the op's types.
  virtual std::byte* operand(size_t i) = 0;
  virtual const std::byte* result(size_t i) = 0;
  // Throws as Executor::run does.
  virtual void compute() = 0;
};

// Makes the kernel of an op of static types, which need not outlive it. Throws what a compilation throws.
using HostKernelMaker = std::function<std::unique_ptr<HostKernel>(const ir::Op& op)>;

}  // namespace alloy::device
