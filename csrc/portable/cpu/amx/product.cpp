#include "cpu/amx/product.h"

#include "cpu/amx/amx.h"

#if ALLOY_HAS_AMX
#include <atomic>

#include "cpu/amx/amx-inl.h"

HWY_PUSH_ATTRIBUTES(ALLOY_AMX_TARGETS)
namespace alloy::cpu {
namespace {

// What is split at a time fits into a second-level cache: of one factor so many elements, of the other a group of
// panels.
constexpr int64_t kDeepest = 512, kMostKept = int64_t{1} << 17, kLargestGroup = 4;

// How a thread computes its part of the result: of the factor with fewer lines it splits as much as a cache holds and
// keeps it, the other one passes by in groups of panels.
struct Division {
  bool left_stays;
  int64_t depth, kept_lines, group;

  Division(int64_t rows, int64_t columns, int64_t inner)
      : left_stays(rows <= columns), depth(rounded(divided(inner, divided(inner, kDeepest)), kDepth)) {
    const int64_t fewer = std::min(rows, columns), most = std::max(kMostKept / depth, kPanelLines);
    kept_lines = rounded(divided(fewer, divided(fewer, most)), kPanelLines);
    // Several groups, since all but the first are fetched while the one before is multiplied.
    group = std::clamp<int64_t>(std::max(rows, columns) / kPanelLines / 8, 1, kLargestGroup) * kPanelLines;
  }
  int64_t panel_bytes() const { return depth / kDepth * kStepBytes; }
  int64_t kept_bytes() const { return kept_lines / kPanelLines * panel_bytes(); }
  int64_t group_bytes() const { return group / kPanelLines * panel_bytes(); }
  int64_t scratch_bytes() const { return kept_bytes() + group_bytes() + 4 * kTileBytes; }
};

// False: y is not finite, and worthless.
bool multiply_part(const Division& division, const Factor& a, const Factor& b, float* y, int64_t y_stride,
                   std::byte* scratch) {
  const Factor &kept = division.left_stays ? a : b, &passing = division.left_stays ? b : a;
  std::byte* const group = scratch + division.kept_bytes();
  float* const room = reinterpret_cast<float*>(group + division.group_bytes());
  const int64_t rows_ahead = passing.inner_stride == 1 ? passing.inner : rows_that_fit(passing.inner_stride * 4);
  const Tiles configured;
  bool finite = true;
  for (int64_t line = 0; line < kept.lines; line += division.kept_lines) {
    const int64_t end = std::min(line + division.kept_lines, kept.lines),
                  kept_panels = divided(end - line, kPanelLines);
    for (int64_t depth = 0; depth < a.inner; depth += division.depth) {
      const int64_t inner = std::min(division.depth, a.inner - depth), steps = divided(inner, kDepth),
                    panel = steps * kStepBytes;
      const auto group_ahead = [&](int64_t from, int64_t turns) {
        return Ahead(passing, from, std::min(from + division.group, passing.lines), depth, std::min(inner, rows_ahead),
                     turns);
      };
      split_panels(kept, line, end, depth, steps, scratch, group_ahead(0, divided(end - line, kLines) * steps));
      for (int64_t from = 0; from < passing.lines; from += division.group) {
        const int64_t to = std::min(from + division.group, passing.lines);
        split_panels(passing, from, to, depth, steps, group, {});
        Ahead ahead = group_ahead(to, divided(to - from, kPanelLines) * kept_panels * steps);
        for (int64_t p = from; p < to; p += kPanelLines) {
          const std::byte* const by = group + (p - from) / kPanelLines * panel;
          const int64_t p_lines = std::min(kPanelLines, to - p);
          for (int64_t k = line; k < end; k += kPanelLines) {
            const std::byte* const stays = scratch + (k - line) / kPanelLines * panel;
            const int64_t k_lines = std::min(kPanelLines, end - k);
            finite &= division.left_stays ? multiply_panels(stays, by, kOneTerm, steps, depth > 0, y + k * y_stride + p,
                                                            y_stride, k_lines, p_lines, room, ahead)
                                          : multiply_panels(by, stays, kOneTerm, steps, depth > 0, y + p * y_stride + k,
                                                            y_stride, p_lines, k_lines, room, ahead);
          }
        }
      }
    }
  }
  return finite;
}

// ---- sums of outer products, panel by panel ----

void pack_stripe(const OuterProducts& p, const float* right, int64_t stripe, std::byte* to) {
  const Factor columns{right, p.columns, 1, p.inner, p.columns, false};
  split_panels(columns, stripe * kPanelLines, std::min((stripe + 1) * kPanelLines, p.columns), 0,
               divided(p.inner, kDepth), to, {});
}

void multiply_plainly(const OuterProducts& p, const float* left, const float* right, int64_t row, int64_t rows,
                      float* y) {
  for (int64_t r = row; r < row + rows; ++r, y += p.columns) {
    std::fill_n(y, p.columns, 0.0F);
    for (int64_t k = 0; k < p.inner; ++k) {
      const __m512 factor = _mm512_set1_ps(left[k * p.rows + r]);
      for (int64_t c = 0; c < p.columns; c += 16) {
        const __mmask16 mask = first(p.columns - c);
        const __m512 sum = _mm512_fmadd_ps(factor, _mm512_maskz_loadu_ps(mask, right + k * p.columns + c),
                                           _mm512_maskz_loadu_ps(mask, y + c));
        _mm512_mask_storeu_ps(y + c, mask, sum);
      }
    }
  }
}

void multiply_stripes(const OuterProducts& p, const float* left, const float* right, int64_t row, int64_t rows,
                      const std::byte* packed, std::byte* room, float* y) {
  const int64_t steps = divided(p.inner, kDepth);
  const Factor lines{left, p.rows, 1, p.inner, p.rows, true};
  split_panels(lines, row, row + rows, 0, steps, room, {});
  float* const partial = reinterpret_cast<float*>(room + steps * kStepBytes);
  bool finite = true;
  Ahead ahead(lines, row + rows, std::min(row + rows + kPanelLines, p.rows), 0, p.inner,
              steps * divided(p.columns, kPanelLines));
  {
    const Tiles configured;
    for (int64_t column = 0; column < p.columns; column += kPanelLines, packed += steps * kStepBytes) {
      const int64_t columns = std::min(kPanelLines, p.columns - column);
      finite &=
          multiply_panels(room, packed, kOneTerm, steps, false, y + column, p.columns, rows, columns, partial, ahead);
    }
  }
  if (!finite) multiply_plainly(p, left, right, row, rows, y);
}

}  // namespace
}  // namespace alloy::cpu
HWY_POP_ATTRIBUTES

namespace alloy::cpu {
namespace {

// Where this was faster than oneDNN: sums are not short, and splitting, which costs as much as some twenty
// multiplications of an element, does not take most of the time.
bool is_faster(const ProductShape& s) {
  const Grid grid(s.rows, s.columns);
  return s.inner >= 64 && grid.rows * grid.columns >= 32 * (grid.rows + grid.columns);
}

class AmxProduct final : public Kernel {
 public:
  AmxProduct(const ProductShape& shape, std::unique_ptr<Kernel> otherwise)
      : shape_(shape),
        otherwise_(std::move(otherwise)),
        grid_(shape.rows, shape.columns),
        division_(grid_.rows, grid_.columns, shape.inner) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const ProductShape& s = shape_;
    const auto *a = reinterpret_cast<const float*>(operands[0]), *b = reinterpret_cast<const float*>(operands[1]);
    auto* y = reinterpret_cast<float*>(results[0]);
    std::atomic<bool> finite = true;
    parallel_for(grid_.down * grid_.across, grid_.rows * grid_.columns * s.inner, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        const int64_t row = part / grid_.across * grid_.rows, column = part % grid_.across * grid_.columns;
        const Factor left{a + row * s.a_row, std::min(grid_.rows, s.rows - row), s.a_row, s.inner, s.a_column, true};
        const Factor right{
            b + column * s.b_column, std::min(grid_.columns, s.columns - column), s.b_column, s.inner, s.b_row, false};
        float* const from = y + row * s.columns + column;
        if (!multiply_part(division_, left, right, from, s.columns, scratch + part * division_.scratch_bytes())) {
          finite = false;
        }
      }
    });
    if (!finite) otherwise_->run(operands, results, scratch);
  }
  size_t scratch_bytes() const override {
    return std::max(static_cast<size_t>(grid_.down * grid_.across * division_.scratch_bytes()),
                    otherwise_->scratch_bytes());
  }

 private:
  ProductShape shape_;
  std::unique_ptr<Kernel> otherwise_;
  Grid grid_;
  Division division_;
};

}  // namespace

const PackedLoops* amx_packed_loops() {
  static const PackedLoops loops{kPanelLines, kPanelLines,  kDeepest,         kDepth,
                                 kParts * 2,  &pack_stripe, &multiply_stripes};
  return has_amx() ? &loops : nullptr;
}

std::unique_ptr<Kernel> make_amx_product(const ProductShape& shape, std::unique_ptr<Kernel> otherwise) {
  if (!has_amx() || !is_faster(shape)) return otherwise;
  return std::make_unique<AmxProduct>(shape, std::move(otherwise));
}

}  // namespace alloy::cpu
#else
namespace alloy::cpu {

const PackedLoops* amx_packed_loops() { return nullptr; }

std::unique_ptr<Kernel> make_amx_product(const ProductShape&, std::unique_ptr<Kernel> otherwise) { return otherwise; }

}  // namespace alloy::cpu
#endif
