// What a device wants computed together.
#pragma once

#include <cstddef>

#include "ir/graph.h"

namespace alloy::device {

// By default: nothing.
class FusionPolicy {
 public:
  virtual ~FusionPolicy() = default;

  // Whether the op, one that computes element by element or an optimizer's step, may be part of a `fused` op.
  virtual bool joins(const ir::Op& /*op*/) const { return false; }
  // How many values a `fused` op may have at once: operands, results, and what it computes on the way.
  virtual size_t most_values() const { return 0; }
  // Whether a matrix product that one `fused` op alone uses is better computed within it.
  virtual bool takes_product(const ir::Op& /*matmul*/) const { return false; }
};

}  // namespace alloy::device
