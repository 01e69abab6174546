// Shared by the kernels of recurrent cells: the order of steps, and the division of a sequence among threads.
#pragma once

#include <algorithm>
#include <vector>

#include "cpu/families.h"
#include "cpu/recurrent/row_product.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"

namespace alloy::cpu {

// The activations of gates; the numbers are those of the attribute `activations`.
enum class RecurrentActivation : uint8_t { kNone, kRelu, kTanh, kSigmoid, kHardSigmoid };

// The extents of an op on a sequence; its operand `states` has the shape (steps, batch, a multiple of units).
struct Sequence {
  int64_t steps, batch, units;
  bool reverse;
  int threads;

  // `units` is the number of units of the cell's state.
  Sequence(const ir::Op& op, const ir::Shape& states, int64_t units)
      : steps(states[0]),
        batch(states[1]),
        units(units),
        reverse(op.attributes.flag(ir::Attr::kReverse)),
        threads(kernel_threads()) {}

  // The position in time of the cell's i-th step.
  int64_t time(int64_t i) const { return reverse ? steps - 1 - i : i; }
  int64_t state_floats() const { return batch * units; }
  // True if each thread computes some rows of the batch from the first step to the last. With fewer rows than threads,
  // the threads share the units of every step instead.
  bool shares_rows() const { return batch >= threads; }
  // The number of rows that one thread computes at a time.
  int64_t most_rows() const { return shares_rows() ? ir::divide_up(batch, threads) : batch; }
};

// The work of one thread in one phase of a step: these rows, and these stripes of the phase's columns.
struct Share {
  int64_t thread;
  Range rows, stripes;
};

// Calls body(step, phase, share) for the steps in order, and in each step for the phases, which have these numbers of
// stripes. A phase of a row begins after all stripes of the previous phase.
template <class Body>
void for_each_step(const Sequence& s, const std::vector<int64_t>& stripes, int64_t work_per_row, const Body& body) {
  if (s.shares_rows()) {
    parallel_shares(s.batch, s.steps * work_per_row, [&](int64_t thread, int64_t begin, int64_t end) {
      // A call on one thread alone has more rows than there is room for.
      for (int64_t row = begin; row < end; row += s.most_rows()) {
        const Range rows{row, std::min(row + s.most_rows(), end)};
        for (int64_t i = 0; i < s.steps; ++i) {
          for (size_t phase = 0; phase < stripes.size(); ++phase)
            body(i, phase, Share{thread, rows, {0, stripes[phase]}});
        }
      }
    });
    return;
  }
  for (int64_t i = 0; i < s.steps; ++i) {
    for (size_t phase = 0; phase < stripes.size(); ++phase) {
      parallel_shares(stripes[phase], s.batch * work_per_row / std::max<int64_t>(stripes[phase], 1),
                      [&](int64_t thread, int64_t begin, int64_t end) {
                        body(i, phase, Share{thread, {0, s.batch}, {begin, end}});
                      });
    }
  }
}

// The product of states and the transposed recurrent weights of these gates.
inline RecurrentWeights state_weights(int64_t units, int64_t gates) {
  return {gates, units, units, units * units, units, 1};
}
// The product of the gradients of these gates' sums and the recurrent weights.
inline RecurrentWeights gradient_weights(int64_t units, int64_t gates) {
  return {1, units, gates * units, 0, 1, units};
}

// Products with pieces of the recurrent weights, which are packed one after the other, and the scratch memory for the
// products.
class RecurrentProducts {
 public:
  struct Term {
    RecurrentWeights weights;
    int64_t offset;  // of the piece's first element in the recurrent weights
  };

  RecurrentProducts(const Sequence& s, const std::vector<Term>& terms) {
    for (const Term& term : terms) {
      products_.emplace_back(term.weights);
      sources_.push_back(term.offset);
      places_.push_back(packed_floats_);
      packed_floats_ += products_.back().packed_floats();
      tile_floats_ = std::max(tile_floats_, s.most_rows() * products_.back().stripe_floats());
    }
    threads_ = s.threads;
  }

  size_t packed_bytes() const { return packed_floats_ * sizeof(float); }
  void pack(const float* weights, float* to) const {
    for (size_t i = 0; i < products_.size(); ++i) products_[i].pack(weights + sources_[i], to + places_[i]);
  }
  const RowProduct& operator[](size_t i) const { return products_[i]; }
  const float* packed(size_t i, const float* all) const { return all + places_[i]; }
  // The floats of one thread's sums of a stripe.
  int64_t tile_floats() const { return tile_floats_; }
  int64_t tiles_floats() const { return tile_floats_ * threads_; }

 private:
  std::vector<RowProduct> products_;
  std::vector<int64_t> sources_, places_;
  int64_t packed_floats_ = 0, tile_floats_ = 0, threads_ = 1;
};

// A kernel whose operand number `weights` is packed, in each run or once for many. `own_floats` floats of scratch
// follow the tiles.
class RecurrentKernel : public Kernel {
 public:
  RecurrentKernel(const Sequence& sequence, const std::vector<RecurrentProducts::Term>& terms, size_t weights,
                  int64_t own_floats)
      : sequence_(sequence), products_(sequence, terms), weights_(weights), own_floats_(own_floats) {}

  size_t scratch_bytes() const override {
    return (products_.tiles_floats() + own_floats_) * sizeof(float) + (is_packed_ ? 0 : products_.packed_bytes());
  }
  std::optional<size_t> prepacked_operand() const override { return weights_; }
  size_t take_prepacked() override {
    is_packed_ = true;
    return products_.packed_bytes();
  }
  void prepack(const std::byte* weights, std::byte* to) const override {
    products_.pack(reinterpret_cast<const float*>(weights), reinterpret_cast<float*>(to));
  }

 protected:
  // The work of one row in one step, in units of parallel_for.
  int64_t work() const { return 8 * sequence_.units + static_cast<int64_t>(products_.packed_bytes() / 64); }

  // The packed weights, a tile for each thread, and the kernel's own floats of scratch.
  struct Room {
    const float* packed;
    float *tiles, *own;
  };
  Room make_room(const std::byte* const* operands, std::byte* scratch) const {
    auto* const floats = reinterpret_cast<float*>(scratch);
    const Room room{nullptr, floats, floats + products_.tiles_floats()};
    if (is_packed_) return {reinterpret_cast<const float*>(operands[weights_]), room.tiles, room.own};
    float* const packed = room.own + own_floats_;
    prepack(operands[weights_], reinterpret_cast<std::byte*>(packed));
    return {packed, room.tiles, room.own};
  }

  // The units of these stripes, for a product with one column for each unit.
  Range units_of(const RowProduct& product, Range stripes) const {
    return {stripes.begin * product.stripe_units(), std::min(stripes.end * product.stripe_units(), sequence_.units)};
  }
  // to = a * b, in these rows.
  static void multiply_rows(const Sequence& s, Range rows, const float* a, const float* b, float* to) {
    for (int64_t i = rows.begin * s.units; i < rows.end * s.units; ++i) to[i] = a[i] * b[i];
  }
  // Multiplies the rows and stripes of a product with one column for each unit; multiplies the sums by `factor` unless
  // it is null; writes them to `to`, or adds them to it. The rows of `left` are `left_stride` apart.
  void multiply_into(const RowProduct& product, const float* packed, const float* left, int64_t left_stride,
                     const Share& share, float* tile, const float* factor, float* to, bool adds) const {
    for (int64_t stripe = share.stripes.begin; stripe < share.stripes.end; ++stripe) {
      product.multiply(left + share.rows.begin * left_stride, left_stride, share.rows.end - share.rows.begin, packed,
                       stripe, tile);
      const Range units = units_of(product, {stripe, stripe + 1});
      for (int64_t row = share.rows.begin; row < share.rows.end; ++row) {
        const float* const sums = tile + (row - share.rows.begin) * product.stripe_floats() - units.begin;
        for (int64_t u = units.begin; u < units.end; ++u) {
          const int64_t at = row * sequence_.units + u;
          const float term = factor == nullptr ? sums[u] : sums[u] * factor[at];
          to[at] = adds ? to[at] + term : term;
        }
      }
    }
  }

  Sequence sequence_;
  RecurrentProducts products_;

 private:
  size_t weights_;
  int64_t own_floats_;
  bool is_packed_ = false;
};

// The activations in an op's attribute.
inline std::vector<RecurrentActivation> activations_of(const ir::Op& op) {
  std::vector<RecurrentActivation> list;
  for (int64_t number : op.attributes.ints(ir::Attr::kActivations)) {
    list.push_back(static_cast<RecurrentActivation>(number));
  }
  return list;
}

}  // namespace alloy::cpu
