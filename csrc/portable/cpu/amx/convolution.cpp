#include "cpu/amx/convolution.h"

#include "cpu/amx/targets.h"

#if ALLOY_HAS_AMX
#include <atomic>
#include <vector>

#include "cpu/amx/convolution_division.h"
#include "cpu/amx/convolution_geometry.h"
#include "cpu/amx/multiply-inl.h"
#include "cpu/amx/split-inl.h"
#include "cpu/convolution/convolution.h"
#include "cpu/threads/parallel.h"

namespace alloy::cpu::amx {
namespace {

using std::ssize;

void fill_zeros(const ResultBlock& y) {
  for (int64_t r = 0; r < y.rows; ++r) std::fill_n(y.at + r * y.stride, y.columns, 0.0F);
}

class ConvolutionKernel final : public Kernel {
 public:
  ConvolutionKernel(TiledConvolution convolution, const PlannedDivision& plan, std::unique_ptr<Kernel> otherwise)
      : convolution_(std::move(convolution)),
        d_(plan.division),
        bands_(convolution_, d_.groups, plan.height),
        otherwise_(std::move(otherwise)),
        left_bytes_(d_.left_bytes(convolution_, bands_)),
        right_bytes_(d_.right_bytes(convolution_, bands_)),
        terms_bytes_(round_up(std::min(convolution_.rows.most_meetings(), bands_.right_at_once) *
                                  convolution_.columns.most_meetings() * int64_t{sizeof(Term)},
                              kCacheLine)),
        scratch_(d_.shares(), left_bytes_ + right_bytes_ + terms_bytes_ + 4 * kTileBytes),
        partial_(convolution_.sums_over_results ? ssize(convolution_.rows.meetings) * convolution_.row_stride : 0) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const auto *left = reinterpret_cast<const float*>(operands[convolution_.swapped ? 1 : 0]),
               *right = reinterpret_cast<const float*>(operands[convolution_.swapped ? 0 : 1]);
    auto* const result = reinterpret_cast<float*>(results[0]);
    // Sums over the bands of one group, to be added to the other groups' sums.
    auto* const partial = reinterpret_cast<float*>(scratch + scratch_.bytes());
    std::atomic<bool> finite = true;
    parallel_for(d_.shares(), kWorkWorthThreads, [&](int64_t begin, int64_t end) {
      for (int64_t share = begin; share < end; ++share) {
        const int64_t group = share % d_.groups;
        float* const to = partial_ == 0 || group == 0 ? result : partial + (group - 1) * partial_;
        if (!compute(share, left, right, to, scratch + scratch_.of(share))) finite = false;
      }
    });
    if (partial_ > 0 && d_.groups > 1) {
      parallel_for(partial_, d_.groups, [&](int64_t begin, int64_t end) {
        if (!add(partial, begin, end, result)) finite = false;
      });
    }
    if (!finite) otherwise_->run(operands, results, scratch);
  }
  size_t scratch_bytes() const override {
    const size_t partial = partial_ * (d_.groups - 1) * sizeof(float);
    return std::max(scratch_.bytes() + partial, otherwise_->scratch_bytes());
  }

 private:
  bool compute(int64_t share, const float* left, const float* right, float* result, std::byte* scratch) const;
  bool multiply(const Band& band, int64_t steps, const ResultBlock& y, std::byte* scratch) const;
  size_t list_terms(const Band& band, int64_t row, int64_t column, Term* terms) const;
  bool add(const float* partial, int64_t begin, int64_t end, float* result) const;

  TiledConvolution convolution_;
  ConvolutionDivision d_;
  Bands bands_;
  std::unique_ptr<Kernel> otherwise_;
  int64_t left_bytes_, right_bytes_, terms_bytes_;
  ScratchOfShares scratch_;  // slots of the left factor, slots of the right one, terms, and the sums of four tiles
  int64_t partial_;  // elements of the result, where groups have sums of their own, of which all but the first are in
                     // scratch; else 0
};

}  // namespace
}  // namespace alloy::cpu::amx

HWY_PUSH_ATTRIBUTES(ALLOY_AMX_TARGETS)
namespace alloy::cpu::amx {
namespace {

// The slots of a factor in rows [first, end) of `rows`, each at all `columns`.
struct SlotRange {
  const FactorLayout& layout;
  const float* data;
  bool left;
  const std::vector<int64_t>&rows, &columns;
  int64_t first, end;
};

// Splits these lines of all slots, one slot after the other, `slot_bytes` apart.
void split_slots(const SlotRange& slots, const PanelRange& lines, int64_t slot_bytes, std::byte* to) {
  for (int64_t i = slots.first; i < slots.end; ++i) {
    for (const int64_t column : slots.columns) {
      const int64_t row = slots.rows[i];
      split_panels(slots.layout.slot(slots.data, row, column, slots.left), lines, to, {});
      to += slot_bytes;
    }
  }
}

// Computes one thread's lines of both factors, for its bands. False if the result is not finite.
bool ConvolutionKernel::compute(int64_t share, const float* left, const float* right, float* result,
                                std::byte* scratch) const {
  const TiledConvolution& c = convolution_;
  const int64_t piece = share / d_.groups;
  const int64_t line = piece / d_.across * d_.lines, line_end = std::min(line + d_.lines, c.left.lines);
  const int64_t column = piece % d_.across * d_.columns, column_end = std::min(column + d_.columns, c.right.lines);
  std::byte* const rights = scratch + left_bytes_;
  const Tiles configured;
  bool finite = true, add = false;
  for (int64_t depth = 0; depth < c.left.inner; depth += d_.depth) {
    const int64_t steps = std::min(d_.steps(), divide_up(c.left.inner - depth, kDepth));
    for (const Band& band : bands_.of_group[share % d_.groups]) {
      const SlotRange left_slots{c.left, left, true, c.rows.left, c.columns.left, band.left, band.left_end};
      const SlotRange right_slots{c.right, right, false, c.rows.right, c.columns.right, band.right, band.right_end};
      for (int64_t l = line; l < line_end; l += d_.split_lines) {
        const int64_t l_end = std::min(l + d_.split_lines, line_end);
        split_slots(left_slots, {l, l_end, depth, steps}, d_.left_slot(), scratch);
        for (int64_t r = column; r < column_end; r += kPanelLines) {
          const int64_t r_end = std::min(r + kPanelLines, column_end);
          split_slots(right_slots, {r, r_end, depth, steps}, d_.right_slot(), rights);
          float* const y = result + l * c.line_stride + r;
          finite &= multiply(band, steps, {y, c.line_stride, l_end - l, r_end - r, add}, scratch);
        }
      }
      add |= c.sums_over_results;
    }
    add = true;
  }
  return finite;
}

// Lists the pairs of split slots that meet for a matrix of the result.
size_t ConvolutionKernel::list_terms(const Band& band, int64_t row, int64_t column, Term* terms) const {
  const AxisMeetings& columns = convolution_.columns;
  const int64_t left_slot = d_.left_slot(), right_slot = d_.right_slot();
  const int64_t left_row = ssize(columns.left) * left_slot, right_row = ssize(columns.right) * right_slot;
  size_t count = 0;
  for (const AxisMeetings::Meeting& a : convolution_.meetings(band, row)) {
    for (const AxisMeetings::Meeting& b : columns.meetings[column]) {
      terms[count++] = {(a.left - band.left) * left_row + b.left * left_slot,
                        (a.right - band.right) * right_row + b.right * right_slot};
    }
  }
  return count;
}

// Adds the products of the split slots to a block of every matrix of the result. `y` is the block of the first matrix;
// its columns are those of one panel.
bool ConvolutionKernel::multiply(const Band& band, int64_t steps, const ResultBlock& y, std::byte* scratch) const {
  const std::byte* const rights = scratch + left_bytes_;
  auto* const terms = reinterpret_cast<Term*>(scratch + left_bytes_ + right_bytes_);
  float* const sums = reinterpret_cast<float*>(scratch + left_bytes_ + right_bytes_ + terms_bytes_);
  Prefetcher nothing;
  bool finite = true;
  for (int64_t i = band.first; i < band.end; ++i) {
    for (int64_t j = 0; j < ssize(convolution_.columns.meetings); ++j) {
      const size_t count = list_terms(band, i, j, terms);
      float* to = y.at + i * convolution_.row_stride + j * convolution_.column_stride;
      const std::byte* lefts = scratch;
      for (int64_t l = 0; l < y.rows; l += kPanelLines, to += kPanelLines * y.stride, lefts += steps * kStepBytes) {
        const ResultBlock block{to, y.stride, std::min(kPanelLines, y.rows - l), y.columns, y.add};
        if (count > 0) finite &= multiply_panels({lefts, rights, {terms, count}, steps}, block, sums, nothing);
        else if (!block.add) fill_zeros(block);
      }
    }
  }
  return finite;
}

// Adds the groups' sums; false if one is not finite.
bool ConvolutionKernel::add(const float* partial, int64_t begin, int64_t end, float* result) const {
  __mmask16 wrong = 0;
  for (int64_t i = begin; i < end; i += kLines) {
    const __mmask16 mask = first_lanes(end - i);
    __m512 sum = _mm512_maskz_loadu_ps(mask, result + i);
    for (int64_t g = 0; g + 1 < d_.groups; ++g) {
      sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, partial + g * partial_ + i));
    }
    _mm512_mask_storeu_ps(result + i, mask, sum);
    wrong |= not_finite(sum);
  }
  return wrong == 0;
}

}  // namespace
}  // namespace alloy::cpu::amx
HWY_POP_ATTRIBUTES

namespace alloy::cpu::amx {

std::unique_ptr<Kernel> make_convolution(const ir::Op& op, std::unique_ptr<Kernel> otherwise) {
  const bool plain = op.attributes.word(ir::Attr::kDataLayout) == "NHWC" &&
                     op.attributes.word(ir::Attr::kWeightsLayout) == "HWIO" &&
                     op.attributes.integer(ir::Attr::kGroups) == 1;
  if (!machine().tiles || !plain) return otherwise;
  const auto& [source, weights, result] = ConvolutionShapes(op);
  TiledConvolution convolution(op, source, weights, result);
  const int64_t threads = kernel_threads();
  const std::optional<PlannedDivision> plan = best_division(convolution, kMeasured, threads);
  if (!plan || !convolution_pays(convolution, plan->cycles, kMeasured, threads)) return otherwise;
  return std::make_unique<ConvolutionKernel>(std::move(convolution), *plan, std::move(otherwise));
}

}  // namespace alloy::cpu::amx
#else
namespace alloy::cpu::amx {

std::unique_ptr<Kernel> make_convolution(const ir::Op&, std::unique_ptr<Kernel> otherwise) { return otherwise; }

}  // namespace alloy::cpu::amx
#endif
