// Sums of outer products, as gradients of weights are: the threads pack the right matrix together, then each computes a share of the result's
// rows, a panel of a few rows at a time. Whoever goes on with a panel at once, an optimizer, finds it in the first cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "ir/graph.h"
#include "kernels/parallel.h"

namespace alloy::portable {

// (inner, rows) transposed times (inner, columns), all packed row-major, of float32.
struct OuterProducts {
  int64_t rows, inner, columns;

  // What a matmul computes, where it is that.
  static std::optional<OuterProducts> of(const ir::Op& matmul);
};

// Of the instruction set.
struct PackedLoops {
  int64_t panel_rows;      // rows computed together
  int64_t stripe_columns;  // columns that stand together in the packed matrix
  // Packs a stripe, with zeros behind the last column.
  void (*pack)(const OuterProducts& product, const float* right, int64_t stripe, float* to);
  // Computes `rows` rows of the result from `row` on, at most panel_rows, into y. `room`: for panel_rows columns of the left matrix.
  void (*multiply)(const OuterProducts& product, const float* left, int64_t row, int64_t rows, const float* packed, float* room, float* y);
};

class PackedProduct {
 public:
  // Whether this is faster than to write the result and to read it again: where that does not stay in a cache, sums are so short that our
  // loops are as fast as oneDNN's, and the right matrix, which is read for every panel, fits into a thread's second-level cache.
  static bool pays(const OuterProducts& product) {
    return product.inner <= kLongestSum && product.columns <= kMostPacked / product.inner && product.rows * product.columns >= kFewestResults;
  }

  explicit PackedProduct(const OuterProducts& product);

  size_t scratch_bytes() const { return static_cast<size_t>(packed_ + shares_ * (room_ + panel_)) * sizeof(float); }

  // Calls done(row, rows, elements) on the thread that has just computed these rows; `elements` last until done returns.
  template <class Done>
  void run(const float* left, const float* right, float* scratch, const Done& done) const {
    const int64_t stripe = product_.inner * loops_.stripe_columns, stripes = packed_ / stripe;
    parallel_for(stripes, kWorkWorthThreads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) loops_.pack(product_, right, i, scratch + i * stripe);
    });
    const int64_t panels = (product_.rows + loops_.panel_rows - 1) / loops_.panel_rows;
    parallel_for(shares_, kWorkWorthThreads, [&](int64_t first, int64_t last) {
      for (int64_t share = first; share < last; ++share) {
        for (int64_t i = panels * share / shares_; i < panels * (share + 1) / shares_; ++i) {
          const int64_t row = i * loops_.panel_rows, rows = std::min(loops_.panel_rows, product_.rows - row);
          float* const room = scratch + packed_ + share * (room_ + panel_);
          loops_.multiply(product_, left, row, rows, scratch, room, room + room_);
          done(row, rows, const_cast<const float*>(room + room_));
        }
      }
    });
  }

 private:
  static constexpr int64_t kLongestSum = 64, kMostPacked = int64_t{1} << 18, kFewestResults = int64_t{1} << 17;

  OuterProducts product_;
  PackedLoops loops_;
  int64_t packed_, room_, panel_;  // elements of the packed right matrix, of a panel's columns of the left one, and of a panel
  int64_t shares_;                 // of the rows, one a thread
};

}  // namespace alloy::portable
