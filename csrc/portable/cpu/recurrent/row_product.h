// The product that recurrent cells take at every step: a few rows of states times weights that were packed once for the
// whole sequence.
#pragma once

#include <cstddef>
#include <cstdint>

namespace alloy::cpu {

// Weights as the right matrix of a product: `gates` columns for each of `units`, each a sum of `depth` terms. The
// strides say where an element lies, in elements.
struct RecurrentWeights {
  int64_t gates, units, depth;
  int64_t gate_stride, unit_stride, depth_stride;
};

// A part of all stripes, or of all rows.
struct Part {
  int64_t begin, end;
};

// How an instruction set packs and multiplies.
struct RowProductLoops {
  int64_t lanes;    // of a vector
  int64_t vectors;  // of a stripe
  void (*pack)(const RecurrentWeights& weights, const float* from, int64_t stripe, float* to);
  // Columns of one stripe, for `rows` rows of `left`, which are `left_stride` apart. `to` has a row after the other.
  void (*multiply)(const RecurrentWeights& weights, const float* left, int64_t left_stride, int64_t rows,
                   const float* packed, float* to);
};

// Packed weights are stripes of columns: of a few vectors, which are those of the gates of some units, one block of
// units after the other, filled with zeros behind the last unit. Each sum is taken in the order of its terms, so
// results do not depend on how rows and stripes are shared among threads.
class RowProduct {
 public:
  explicit RowProduct(const RecurrentWeights& weights);

  int64_t stripes() const { return stripes_; }
  int64_t stripe_floats() const { return loops_.lanes * loops_.vectors; }
  int64_t stripe_units() const { return stripe_floats() / weights_.gates; }
  int64_t packed_floats() const { return stripes_ * stripe_floats() * weights_.depth; }
  void pack(const float* from, float* to) const;
  // Row r of the stripe's columns goes to to + r * stripe_floats(): of each block of units all gates.
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
