#include "cpu/amx/product.h"

#include "cpu/amx/targets.h"

#if ALLOY_HAS_AMX
#include <atomic>

#include "cpu/amx/multiply-inl.h"
#include "cpu/amx/product_division.h"
#include "cpu/amx/split-inl.h"
#include "cpu/threads/parallel.h"

HWY_PUSH_ATTRIBUTES(ALLOY_AMX_TARGETS)
namespace alloy::cpu::amx {
namespace {

// Computes one thread's share of a result, whose rows are `y_stride` apart.
class ShareOfProduct {
 public:
  // `scratch` has division.scratch_bytes() bytes.
  ShareOfProduct(const ProductDivision& division, const Factor& left, const Factor& right, std::byte* scratch)
      : division_(division),
        kept_(division.left_stays ? left : right),
        passing_(division.left_stays ? right : left),
        rows_ahead_(passing_.inner_stride == 1 ? passing_.inner : rows_in_cache(passing_.inner_stride * 4)),
        kept_panels_(scratch),
        group_panels_(scratch + division.kept_bytes()),
        sums_(reinterpret_cast<float*>(group_panels_ + division.group_bytes())) {}

  // Returns false if y is not finite; its contents are then worthless.
  bool multiply(float* y, int64_t y_stride) const {
    const Tiles configured;
    bool finite = true;
    for (int64_t line = 0; line < kept_.lines; line += division_.kept_lines) {
      const int64_t end = std::min(line + division_.kept_lines, kept_.lines);
      for (int64_t depth = 0; depth < kept_.inner; depth += division_.depth) {
        const int64_t inner = std::min(division_.depth, kept_.inner - depth);
        finite &= multiply_kept({line, end, depth, divide_up(inner, kDepth)}, y, y_stride);
      }
    }
    return finite;
  }

 private:
  // Adds the products of these lines of the kept factor, at this depth, to the result.
  bool multiply_kept(const PanelRange& kept, float* y, int64_t y_stride) const {
    split_panels(kept_, kept, kept_panels_, group_ahead(0, kept, kept.tiles() * kept.steps));
    bool finite = true;
    for (int64_t from = 0; from < passing_.lines; from += division_.group_lines) {
      const PanelRange group{from, std::min(from + division_.group_lines, passing_.lines), kept.depth, kept.steps};
      split_panels(passing_, group, group_panels_, {});
      Prefetcher prefetcher = group_ahead(group.end, kept, group.panels() * kept.panels() * kept.steps);
      finite &= multiply_group(kept, group, {y, y_stride, 0, 0, kept.depth > 0}, prefetcher);
    }
    return finite;
  }

  // Multiplies the split lines of the kept factor by the split group. `y` is the thread's whole share of the result.
  bool multiply_group(const PanelRange& kept, const PanelRange& group, const ResultBlock& y,
                      Prefetcher& prefetcher) const {
    const int64_t panel = kept.steps * kStepBytes;
    bool finite = true;
    for (int64_t p = group.line; p < group.end; p += kPanelLines) {
      const std::byte* const passes = group_panels_ + (p - group.line) / kPanelLines * panel;
      const int64_t p_lines = std::min(kPanelLines, group.end - p);
      for (int64_t k = kept.line; k < kept.end; k += kPanelLines) {
        const std::byte* const stays = kept_panels_ + (k - kept.line) / kPanelLines * panel;
        const int64_t k_lines = std::min(kPanelLines, kept.end - k);
        const bool left_stays = division_.left_stays;
        const PanelProduct product{left_stays ? stays : passes, left_stays ? passes : stays, kOneTerm, kept.steps};
        const ResultBlock block = left_stays ? ResultBlock{y.at + k * y.stride + p, y.stride, k_lines, p_lines, y.add}
                                             : ResultBlock{y.at + p * y.stride + k, y.stride, p_lines, k_lines, y.add};
        finite &= multiply_panels(product, block, sums_, prefetcher);
      }
    }
    return finite;
  }

  // A prefetcher of the group that begins at this line, at the depth of the kept lines.
  Prefetcher group_ahead(int64_t line, const PanelRange& kept, int64_t turns) const {
    const int64_t inner = std::min(division_.depth, passing_.inner - kept.depth);
    return {passing_,
            {line, std::min(line + division_.group_lines, passing_.lines), kept.depth, std::min(inner, rows_ahead_)},
            turns};
  }

  const ProductDivision& division_;
  const Factor &kept_, &passing_;
  int64_t rows_ahead_;  // rows of the passing factor that the cache holds
  std::byte *kept_panels_, *group_panels_;
  float* sums_;
};

// ---- sums of outer products, panel by panel ----

void pack_stripe(const OuterProducts& p, const float* right, int64_t stripe, std::byte* to) {
  const Factor columns{right, p.columns, 1, p.inner, p.columns, false};
  const int64_t end = std::min((stripe + 1) * kPanelLines, p.columns);
  split_panels(columns, {stripe * kPanelLines, end, 0, divide_up(p.inner, kDepth)}, to, {});
}

void multiply_plainly(const OuterProducts& p, const PackedFactors& factors, int64_t row, int64_t rows, float* y) {
  for (int64_t r = row; r < row + rows; ++r, y += p.columns) {
    std::fill_n(y, p.columns, 0.0F);
    for (int64_t k = 0; k < p.inner; ++k) {
      const __m512 factor = _mm512_set1_ps(factors.left[k * p.rows + r]);
      for (int64_t c = 0; c < p.columns; c += 16) {
        const __mmask16 mask = first_lanes(p.columns - c);
        const __m512 sum = _mm512_fmadd_ps(factor, _mm512_maskz_loadu_ps(mask, factors.right + k * p.columns + c),
                                           _mm512_maskz_loadu_ps(mask, y + c));
        _mm512_mask_storeu_ps(y + c, mask, sum);
      }
    }
  }
}

void multiply_stripes(const OuterProducts& p, const PackedFactors& factors, int64_t row, int64_t rows, std::byte* room,
                      float* y) {
  const int64_t steps = divide_up(p.inner, kDepth);
  const Factor lines{factors.left, p.rows, 1, p.inner, p.rows, true};
  split_panels(lines, {row, row + rows, 0, steps}, room, {});
  float* const sums = reinterpret_cast<float*>(room + steps * kStepBytes);
  bool finite = true;
  Prefetcher prefetcher(lines, {row + rows, std::min(row + rows + kPanelLines, p.rows), 0, p.inner},
                        steps * divide_up(p.columns, kPanelLines));
  {
    const Tiles configured;
    const std::byte* packed = factors.packed;
    for (int64_t column = 0; column < p.columns; column += kPanelLines, packed += steps * kStepBytes) {
      const int64_t columns = std::min(kPanelLines, p.columns - column);
      finite &= multiply_panels({room, packed, kOneTerm, steps}, {y + column, p.columns, rows, columns, false}, sums,
                                prefetcher);
    }
  }
  if (!finite) multiply_plainly(p, factors, row, rows, y);
}

}  // namespace
}  // namespace alloy::cpu::amx
HWY_POP_ATTRIBUTES

namespace alloy::cpu::amx {
namespace {

class TiledProduct final : public Kernel {
 public:
  TiledProduct(const ProductShape& shape, std::unique_ptr<Kernel> otherwise)
      : shape_(shape),
        otherwise_(std::move(otherwise)),
        grid_(shape.rows, shape.columns, kernel_threads()),
        division_(grid_.rows, grid_.columns, shape.inner, kMeasured),
        scratch_(grid_.down * grid_.across, division_.scratch_bytes()) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const ProductShape& s = shape_;
    const auto *a = reinterpret_cast<const float*>(operands[0]), *b = reinterpret_cast<const float*>(operands[1]);
    auto* y = reinterpret_cast<float*>(results[0]);
    std::atomic<bool> finite = true;
    parallel_for(grid_.down * grid_.across, grid_.rows * grid_.columns * s.inner, [&](int64_t begin, int64_t end) {
      for (int64_t share = begin; share < end; ++share) {
        const int64_t row = share / grid_.across * grid_.rows, column = share % grid_.across * grid_.columns;
        const Factor left{a + row * s.a_row, std::min(grid_.rows, s.rows - row), s.a_row, s.inner, s.a_column, true};
        const Factor right{
            b + column * s.b_column, std::min(grid_.columns, s.columns - column), s.b_column, s.inner, s.b_row, false};
        const ShareOfProduct product(division_, left, right, scratch + scratch_.of(share));
        if (!product.multiply(y + row * s.columns + column, s.columns)) finite = false;
      }
    });
    if (!finite) otherwise_->run(operands, results, scratch);
  }
  size_t scratch_bytes() const override { return std::max(scratch_.bytes(), otherwise_->scratch_bytes()); }

 private:
  ProductShape shape_;
  std::unique_ptr<Kernel> otherwise_;
  Grid grid_;
  ProductDivision division_;
  ScratchOfShares scratch_;
};

}  // namespace

const PackedLoops* packed_loops() {
  static const PackedLoops loops{kPanelLines,   kPanelLines,  deepest_panel(kMeasured), kDepth,
                                 kElementBytes, &pack_stripe, &multiply_stripes};
  return machine().tiles ? &loops : nullptr;
}

std::unique_ptr<Kernel> make_product(const ProductShape& shape, std::unique_ptr<Kernel> otherwise) {
  return std::make_unique<TiledProduct>(shape, std::move(otherwise));
}

}  // namespace alloy::cpu::amx
#else
namespace alloy::cpu::amx {

const PackedLoops* packed_loops() { return nullptr; }

std::unique_ptr<Kernel> make_product(const ProductShape&, std::unique_ptr<Kernel> otherwise) { return otherwise; }

}  // namespace alloy::cpu::amx
#endif
