// Decides which ops a device computes together.
#pragma once

#include <cstddef>

#include "ir/graph.h"

namespace alloy::device {

// The default joins nothing.
class FusionPolicy {
 public:
  virtual ~FusionPolicy() = default;

  // True if the op, an elementwise op or an optimizer's step, may be part of a `fused` op.
  virtual bool joins(const ir::Op& /*op*/) const { return false; }
  // True if the op, a reduction or another op along the last axis, may be part of a `fused` op that computes it row by
  // row.
  virtual bool folds(const ir::Op& /*op*/) const { return false; }
  // True if a `fused` op on values of this shape may also compute values for each row (see ir::shape_of_rows).
  virtual bool takes_rows(const ir::Shape& /*shape*/) const { return false; }
  // The most values that a `fused` op may have at once: operands, results and intermediate values.
  virtual size_t most_values() const { return 0; }
  // True if a `fused` op should compute the op, such as a matrix product, itself and then its users, elementwise or an
  // optimizer's step. The op, which neither joins nor folds, has no other user, perhaps behind a reshape.
  virtual bool leads(const ir::Op& /*op*/) const { return false; }
  // True if ops on values of this shape that join may be one `fused` op though none feeds another.
  virtual bool joins_strangers(const ir::Shape& /*shape*/) const { return false; }
  // True if the op may have other users after all: the `fused` op writes its value for them.
  virtual bool writes_leaders() const { return false; }
  // True if the op, a reduction that leads, may be computed with the elementwise ops that compute its operand, and with
  // other such reductions of that or of values of the same shape along the same axes.
  virtual bool gathers(const ir::Op& /*reduction*/) const { return false; }
};

}  // namespace alloy::device
