// Describes, for the planner, the code that computes one op on a device. How the device calls that code is up to it.
#pragma once

#include <cstddef>
#include <optional>

namespace alloy::device {

// Made once for one op of static types, run many times.
class Kernel {
 public:
  virtual ~Kernel() = default;

  // Bytes of working memory that a run needs.
  virtual size_t scratch_bytes() const { return 0; }
  // True if the result may be written over the operand.
  virtual bool in_place(size_t /*operand*/, size_t /*result*/) const { return false; }

  // An operand, usually weights, that the kernel reads in an order of its own. Each run packs the operand in its
  // scratch memory, until take_prepacked() is called: from then on runs get `bytes` packed bytes in place of the
  // operand.
  struct Prepacked {
    size_t operand, bytes;
  };
  virtual std::optional<Prepacked> prepacked() const { return std::nullopt; }
  virtual void take_prepacked() {}
};

}  // namespace alloy::device
