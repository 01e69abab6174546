// The product that recurrent cells compute at every step: a few rows of states times weights that were packed once for
// the whole sequence.
#pragma once

#include <cstddef>
#include <cstdint>

namespace alloy::cpu {

// Weights as the right matrix of a product: `gates` columns for each of `units` units, each with `depth` terms. Strides
// are in elements.
struct RecurrentWeights {
  int64_t gates, units, depth;
  int64_t gate_stride, unit_stride, depth_stride;
};

// The loops of an instruction set.
struct RowProductLoops {
  int64_t lanes;    // of a vector
  int64_t vectors;  // of a stripe
  void (*pack)(const RecurrentWeights& weights, const float* from, int64_t stripe, float* to);
  // Computes the columns of one stripe for `rows` rows of `left`, which are `left_stride` apart. `to` is row-major.
  void (*multiply)(const RecurrentWeights& weights, const float* left, int64_t left_stride, int64_t rows,
                   const float* packed, float* to);
};

// Packed weights are stripes of columns. A stripe has a few vectors: blocks of units, each block with all gates, padded
// with zeros after the last unit. Each sum adds its terms in order, so results do not depend on how threads share rows
// and stripes.
class RowProduct {
 public:
  explicit RowProduct(const RecurrentWeights& weights);

  int64_t stripes() const { return stripes_; }
  int64_t stripe_floats() const { return loops_.lanes * loops_.vectors; }
  int64_t stripe_units() const { return stripe_floats() / weights_.gates; }
  int64_t packed_floats() const { return stripes_ * stripe_floats() * weights_.depth; }
  void pack(const float* from, float* to) const;
  // Row r of the stripe goes to to + r * stripe_floats(): for each block of units, all gates.
  void multiply(const float* left, int64_t left_stride, int64_t rows, const float* packed, int64_t stripe,
                float* to) const {
    loops_.multiply(weights_, left, left_stride, rows, packed + stripe * stripe_floats() * weights_.depth, to);
  }

 private:
  RecurrentWeights weights_;
  RowProductLoops loops_;
  int64_t stripes_;
};

}  // namespace alloy::cpu
