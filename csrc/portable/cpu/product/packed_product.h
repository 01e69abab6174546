// Sums of outer products, for example gradients of weights. The threads pack the right matrix together. Then each
// thread computes a share of the result's rows, a panel of a few rows at a time. Code that uses a panel at once, such
// as an optimizer's step, finds it in the cache of its core.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "cpu/threads/parallel.h"
#include "ir/graph.h"
#include "ir/rounding.h"

namespace alloy::cpu {

// The transpose of an (inner, rows) matrix times an (inner, columns) matrix. Both are float32, packed row-major.
struct OuterProducts {
  int64_t rows, inner, columns;

  // The sum of outer products that a matmul computes; none if it has another form.
  static std::optional<OuterProducts> of(const ir::Op& matmul);
};

// The factors as the loops read them: the right one also packed.
struct PackedFactors {
  const float *left, *right;
  const std::byte* packed;
};

// The loops of an instruction set.
struct PackedLoops {
  int64_t panel_rows;      // rows of a panel
  int64_t stripe_columns;  // columns of a stripe, which are contiguous in the packed matrix
  int64_t longest_sum;     // terms up to which these loops are as fast as other ways
  int64_t inner_quantum;   // the packed depth is a multiple of this, padded with zeros
  int64_t element_bytes;   // of a packed element
  // Packs a stripe, with zeros after the last column.
  void (*pack)(const OuterProducts& product, const float* right, int64_t stripe, std::byte* to);
  // Computes rows [row, row + rows) of the result, at most panel_rows, into y. `room` has space for panel_rows columns
  // of the left factor.
  void (*multiply)(const OuterProducts& product, const PackedFactors& factors, int64_t row, int64_t rows,
                   std::byte* room, float* y);
};

// The fastest loops that the processor can run.
PackedLoops packed_loops(const OuterProducts& product);

class PackedProduct {
 public:
  explicit PackedProduct(const OuterProducts& product);

  size_t scratch_bytes() const { return packed_ + shares_ * (room_ + panel_); }

  // Rows that a thread has just computed. `share` numbers the thread, below kernel_threads(). The elements are valid
  // until done() returns.
  struct Panel {
    int64_t share, row, rows;
    const float* elements;
  };
  // Computes the product, and calls done(panel) on the thread that computed the panel.
  template <class Done>
  void run(const float* left, const float* right, std::byte* scratch, const Done& done) const {
    const int64_t stripe = packed_bytes(loops_.stripe_columns),
                  stripes = ir::divide_up(product_.columns, loops_.stripe_columns);
    parallel_for(stripes, kWorkWorthThreads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) loops_.pack(product_, right, i, scratch + i * stripe);
    });
    const int64_t panels = ir::divide_up(product_.rows, loops_.panel_rows);
    parallel_for(shares_, kWorkWorthThreads, [&](int64_t first, int64_t last) {
      for (int64_t share = first; share < last; ++share) {
        for (int64_t i = panels * share / shares_; i < panels * (share + 1) / shares_; ++i) {
          const int64_t row = i * loops_.panel_rows, rows = std::min(loops_.panel_rows, product_.rows - row);
          std::byte* const room = scratch + packed_ + share * (room_ + panel_);
          float* const panel = reinterpret_cast<float*>(room + room_);
          loops_.multiply(product_, {left, right, scratch}, row, rows, room, panel);
          done(Panel{share, row, rows, panel});
        }
      }
    });
  }

 private:
  int64_t packed_bytes(int64_t lines) const;  // of `lines` columns of a matrix

  OuterProducts product_;
  PackedLoops loops_;
  int64_t packed_, room_,
      panel_;       // bytes: of the packed right matrix, of the left columns of a panel, of a panel
  int64_t shares_;  // number of shares of the rows, one for each thread
};

}  // namespace alloy::cpu
