// Each thread computes a rectangle of the result, a block of the sums and some rows at a time. It copies stripes of the
// right matrix, as wide as the registers' sums, into contiguous memory that stays in the caches while the rows pass by
// (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008).
#include "cpu/product/blocked_matmul.h"

#include <algorithm>
#include <cstring>

#include "cpu/machine.h"
#include "cpu/onednn/divided.h"
#include "cpu/product/small_matmul.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"

namespace alloy::cpu {
namespace {

constexpr int64_t kLargestDepth = 384;     // terms of a sum that are added up in registers
constexpr int64_t kRows = 192;             // that a stripe stays in the cache for
constexpr int64_t kColumnsTogether = 256;  // whose stripes are copied at once, because they share pages

class BlockedMatMul final : public Kernel {
 public:
  explicit BlockedMatMul(const ProductShape& shape)
      : shape_(shape), multiply_(small_multiply()), width_(small_stripe_columns()) {
    const int64_t count = parts_for(shape.multiplications()), down = parts_of_rows(shape.rows, shape.columns, count);
    for (const Section& columns : sections(shape.columns, count / down)) {
      for (const Section& rows : sections(shape.rows, down)) shares_.push_back({rows, columns});
    }
    blocks_ = ir::divide_up(shape.inner, kLargestDepth);
    const int64_t depth = ir::divide_up(shape.inner, blocks_);
    stripe_ = depth * width_;
    left_row_ = depth + kCacheLine / int64_t{sizeof(float)};
    stripes_together_ = kColumnsTogether / width_;
    scratch_of_share_ =
        ir::round_up((stripes_together_ * stripe_ + kRows * left_row_) * int64_t{sizeof(float)}, kCacheLine);
  }

  size_t scratch_bytes() const override { return scratch_of_share_ * shares_.size(); }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const auto* a = reinterpret_cast<const float*>(operands[0]);
    const auto* b = reinterpret_cast<const float*>(operands[1]);
    auto* const y = reinterpret_cast<float*>(results[0]);
    parallel_items(std::ssize(shares_), [&](int64_t i) {
      const Share& share = shares_[i];
      auto* const stripes = reinterpret_cast<float*>(scratch + scratch_of_share_ * i);
      for (int64_t block = 0; block < blocks_; ++block) {
        const Section terms{shape_.inner * block / blocks_, shape_.inner * (block + 1) / blocks_};
        for (int64_t row = share.rows.begin; row < share.rows.end; row += kRows) {
          compute(share, terms, {row, std::min(row + kRows, share.rows.end)}, a, b, stripes, y);
        }
      }
    });
  }

 private:
  // Of the result, for one thread.
  struct Share {
    Section rows, columns;
  };

  // Adds the terms to these rows of a share.
  void compute(const Share& share, Section terms, Section rows, const float* a, const float* b, float* stripes,
               float* y) const {
    const ProductShape& s = shape_;
    const bool by_rows = s.a_column == 1;
    SmallProduct product{.rows = rows.length(),
                         .inner = terms.length(),
                         .columns = width_,
                         .a_row = by_rows ? left_row_ : 1,
                         .a_column = by_rows ? 1 : kRows,
                         .b_row = width_,
                         .y_row = s.columns,
                         .adds = terms.begin > 0};
    float* const left = stripes + stripes_together_ * stripe_;
    pack_left(rows, terms, a, left);
    for (int64_t column = share.columns.begin; column < share.columns.end; column += kColumnsTogether) {
      const Section columns{column, std::min(column + kColumnsTogether, share.columns.end)};
      pack(terms, columns, b, stripes);
      const float* stripe = stripes;
      for (int64_t at = columns.begin; at < columns.end; at += width_, stripe += stripe_) {
        product.columns = std::min(width_, columns.end - at);
        multiply_(product, left, stripe, y + rows.begin * s.columns + at);
      }
    }
  }

  // Copies in the factor's own order, because many rows at large strides would meet in few sets of the caches.
  void pack_left(Section rows, Section terms, const float* a, float* to) const {
    const ProductShape& s = shape_;
    a += rows.begin * s.a_row + terms.begin * s.a_column;
    if (s.a_column == 1) {
      for (int64_t r = 0; r < rows.length(); ++r, a += s.a_row, to += left_row_) {
        std::memcpy(to, a, terms.length() * sizeof(float));
      }
    } else {
      for (int64_t k = 0; k < terms.length(); ++k, a += s.a_column, to += kRows) {
        std::memcpy(to, a, rows.length() * sizeof(float));
      }
    }
  }

  void pack(Section terms, Section columns, const float* b, float* stripes) const {
    const ProductShape& s = shape_;
    for (int64_t k = 0; k < terms.length(); ++k) {
      const float* const from = b + (terms.begin + k) * s.b_row + columns.begin;
      for (int64_t n = 0; n < columns.length(); n += width_) {
        std::memcpy(stripes + n / width_ * stripe_ + k * width_, from + n,
                    std::min(width_, columns.length() - n) * sizeof(float));
      }
    }
  }

  ProductShape shape_;
  SmallMultiply multiply_;
  int64_t width_;  // of a stripe, in columns
  std::vector<Share> shares_;
  int64_t blocks_;             // of the sums
  int64_t stripe_, left_row_;  // elements
  int64_t stripes_together_;
  int64_t scratch_of_share_;  // bytes
};

}  // namespace

std::unique_ptr<Kernel> make_blocked_matmul(const ProductShape& shape) {
  return std::make_unique<BlockedMatMul>(shape);
}

}  // namespace alloy::cpu
