// What the planner asks of the code that computes one op on a device. How that code is called is up to the device.
#pragma once

#include <cstddef>
#include <optional>

namespace alloy::device {

// Prepared once for one op of static types, run many times.
class Kernel {
 public:
  virtual ~Kernel() = default;

  // Bytes of working memory that a run needs.
  virtual size_t scratch_bytes() const { return 0; }
  // Whether a result may stand in the very memory of that operand.
  virtual bool in_place(size_t /*operand*/, size_t /*result*/) const { return false; }

  // An operand, usually weights, that the kernel reads in an order of its own, of so many bytes. Each run makes that
  // copy in its scratch, until take_prepacked(): from then on runs are given the copy instead of the operand.
  struct Prepacked {
    size_t operand, bytes;
  };
  virtual std::optional<Prepacked> prepacked() const { return std::nullopt; }
  virtual void take_prepacked() {}
};

}  // namespace alloy::device
