#include "kernels/amx_convolution.h"

#include "ir/windows.h"
#include "kernels/amx.h"

#if ALLOY_HAS_AMX
#include <atomic>
#include <vector>

#include "kernels/amx-inl.h"

namespace alloy::portable {
namespace {

using ir::Attr;
using ir::Op;
using ir::OpCode;
using ir::Shape;

// Matrices of the same shape that lie at even distances: those of a factor at each position or tap.
struct Slots {
  int64_t count, stride, lines, line_stride, inner, inner_stride;

  Factor at(const float* data, int64_t slot, int64_t first, int64_t end, bool left) const {
    return {data + slot * stride + first * line_stride, end - first, line_stride, inner, inner_stride, left};
  }
  int64_t steps() const { return divided(inner, kDepth); }
};

// The matrices of a result.
struct Result {
  int64_t count, stride, row_stride;
};

// The factors and the result of a convolution of one kind.
struct Sides {
  Slots left, right;
  Result result;
  bool swapped;  // the left factor is the op's second operand

  Sides(const Op& op, const Shape& x, const Shape& w, const Shape& y) {
    const int64_t images = x[0], in = x[3], out = y[3], sources = x[1] * x[2], results = y[1] * y[2], taps = w[0] * w[1];
    const Slots by_image{sources, in, images, sources * in, in, 1}, gradient_by_image{results, out, images, results * out, out, 1};
    swapped = op.code == OpCode::conv2d_weights_gradient;
    if (op.code == OpCode::conv2d) {
      left = by_image;
      right = {taps, in * out, out, 1, in, out};
      result = {results, out, results * out};
    } else if (op.code == OpCode::conv2d_data_gradient) {
      left = gradient_by_image;
      right = {taps, in * out, in, out, out, 1};
      result = {sources, in, sources * in};
    } else {
      left = {sources, in, in, 1, images, sources * in};
      right = {results, out, out, 1, images, results * out};
      result = {taps, in * out, out};
    }
  }
};

// Each matrix of the result as the sum of products of slots.
struct Sums : Sides {
  std::vector<std::vector<Term>> terms;           // of each matrix; they count the slots below
  std::vector<int64_t> left_slots, right_slots;  // that some term has

  Sums(const Sides& sides, const Op& op, const Shape& x, const Shape& w, const Shape& y) : Sides(sides), terms(static_cast<size_t>(result.count)) {
    const int64_t results = y[1] * y[2], taps = w[0] * w[1];
    const ir::Window rows = ir::window_of(op.attributes, 0, w[0], x[1]), columns = ir::window_of(op.attributes, 1, w[1], x[2]);
    for (int64_t r = 0; r < results; ++r) {
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t row = r / y[2] * rows.stride - rows.before + t / w[1] * rows.dilation;
        const int64_t column = r % y[2] * columns.stride - columns.before + t % w[1] * columns.dilation;
        if (row < 0 || row >= x[1] || column < 0 || column >= x[2]) continue;
        const int64_t s = row * x[2] + column;
        if (op.code == OpCode::conv2d) terms[static_cast<size_t>(r)].push_back({s, t});
        else if (op.code == OpCode::conv2d_data_gradient) terms[static_cast<size_t>(s)].push_back({r, t});
        else terms[static_cast<size_t>(t)].push_back({s, r});
      }
    }
    left_slots = number(left.count, &Term::left);
    right_slots = number(right.count, &Term::right);
  }

 private:
  // Numbers the slots that some term has, which it returns, and lets terms say these numbers.
  std::vector<int64_t> number(int64_t count, int64_t Term::*side) {
    std::vector<int64_t> used, numbers(static_cast<size_t>(count), -1);
    for (auto& sum : terms) {
      for (Term& term : sum) {
        int64_t& slot = numbers[static_cast<size_t>(term.*side)];
        if (slot < 0) {
          slot = static_cast<int64_t>(used.size());
          used.push_back(term.*side);
        }
        term.*side = slot;
      }
    }
    return used;
  }
};

class AmxConvolution final : public Kernel {
 public:
  AmxConvolution(Sums sums, std::unique_ptr<Kernel> otherwise)
      : sums_(std::move(sums)), otherwise_(std::move(otherwise)), grid_(sums_.left.lines, sums_.right.lines), steps_(sums_.left.steps()),
        left_bytes_(rounded(grid_.rows, kPanelLines) / kPanelLines * steps_ * kStepBytes), right_bytes_(steps_ * kStepBytes) {
    for (auto& sum : sums_.terms) {
      for (Term& term : sum) term = {term.left * left_bytes_, term.right * right_bytes_};
    }
  }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const auto *left = reinterpret_cast<const float*>(operands[sums_.swapped ? 1 : 0]),
               *right = reinterpret_cast<const float*>(operands[sums_.swapped ? 0 : 1]);
    auto* result = reinterpret_cast<float*>(results[0]);
    std::atomic<bool> finite = true;
    parallel_for(grid_.down * grid_.across, kWorkWorthThreads, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        if (!compute(part, left, right, result, scratch + part * part_bytes())) finite = false;
      }
    });
    if (!finite) otherwise_->run(operands, results, scratch);
  }
  size_t scratch_bytes() const override {
    return std::max(static_cast<size_t>(grid_.down * grid_.across * part_bytes()), otherwise_->scratch_bytes());
  }

 private:
  bool compute(int64_t part, const float* left, const float* right, float* result, std::byte* scratch) const;
  int64_t all_left_bytes() const { return static_cast<int64_t>(sums_.left_slots.size()) * left_bytes_; }
  int64_t all_right_bytes() const { return static_cast<int64_t>(sums_.right_slots.size()) * right_bytes_; }
  int64_t part_bytes() const { return all_left_bytes() + all_right_bytes() + 4 * kTileBytes; }

  Sums sums_;
  std::unique_ptr<Kernel> otherwise_;
  Grid grid_;
  int64_t steps_, left_bytes_, right_bytes_;  // of a slot's lines of a part, and of a panel of them
};

}  // namespace
}  // namespace alloy::portable

HWY_PUSH_ATTRIBUTES(ALLOY_AMX_TARGETS)
namespace alloy::portable {
namespace {

// One thread's lines of both factors: those of the left one are kept, panels of the right one pass by.
bool AmxConvolution::compute(int64_t part, const float* left, const float* right, float* result, std::byte* scratch) const {
  const int64_t row = part / grid_.across * grid_.rows, row_end = std::min(row + grid_.rows, sums_.left.lines);
  const int64_t column = part % grid_.across * grid_.columns, column_end = std::min(column + grid_.columns, sums_.right.lines);
  std::byte* const rights = scratch + all_left_bytes();
  float* const room = reinterpret_cast<float*>(rights + all_right_bytes());
  const Tiles configured;
  Ahead nothing;
  bool finite = true;
  for (size_t i = 0; i < sums_.left_slots.size(); ++i) {
    const Factor lines = sums_.left.at(left, sums_.left_slots[i], row, row_end, true);
    split_panels(lines, 0, row_end - row, 0, steps_, scratch + static_cast<int64_t>(i) * left_bytes_, {});
  }
  for (int64_t from = column; from < column_end; from += kPanelLines) {
    const int64_t to = std::min(from + kPanelLines, column_end);
    for (size_t i = 0; i < sums_.right_slots.size(); ++i) {
      const Factor lines = sums_.right.at(right, sums_.right_slots[i], from, to, false);
      split_panels(lines, 0, to - from, 0, steps_, rights + static_cast<int64_t>(i) * right_bytes_, {});
    }
    for (size_t i = 0; i < sums_.terms.size(); ++i) {
      const std::vector<Term>& terms = sums_.terms[i];
      float* const matrix = result + static_cast<int64_t>(i) * sums_.result.stride;
      for (int64_t r = row; r < row_end; r += kPanelLines) {
        const int64_t rows = std::min(kPanelLines, row_end - r);
        float* const y = matrix + r * sums_.result.row_stride + from;
        if (terms.empty()) {
          for (int64_t j = 0; j < rows; ++j) std::fill_n(y + j * sums_.result.row_stride, to - from, 0.0F);
          continue;
        }
        const std::byte* const panel = scratch + (r - row) / kPanelLines * steps_ * kStepBytes;
        finite &= multiply_panels(panel, rights, terms, steps_, false, y, sums_.result.row_stride, rows, to - from, room, nothing);
      }
    }
  }
  return finite;
}

// Where this was faster than oneDNN: tiles are full, and what a thread splits of each side fits into a second-level cache, with less room where
// there are few products of each element.
bool is_faster(const Sides& sides) {
  const Grid grid(sides.left.lines, sides.right.lines);
  const int64_t depth = sides.left.steps() * kDepth, lines = rounded(grid.rows, kPanelLines);
  if (sides.left.lines < kLines || sides.right.lines < kLines || 4 * sides.left.inner < 3 * depth) return false;
  const int64_t most = grid.rows * grid.columns >= kPanelLines * kPanelLines ? 3 << 19 : 1 << 19;  // bytes
  const auto bytes = [&](int64_t slots, int64_t split_lines) { return slots * split_lines * depth * 2 * kParts; };
  return bytes(sides.left.count, lines) <= most && bytes(sides.right.count, kPanelLines) <= most;
}

}  // namespace
}  // namespace alloy::portable
HWY_POP_ATTRIBUTES

namespace alloy::portable {

std::unique_ptr<Kernel> make_amx_convolution(const Op& op, const Shape& source, const Shape& weights, const Shape& result,
                                             std::unique_ptr<Kernel> otherwise) {
  const bool plain = op.attributes.word(Attr::kDataLayout) == "NHWC" && op.attributes.word(Attr::kWeightsLayout) == "HWIO" &&
                     op.attributes.integer(Attr::kGroups) == 1;
  if (!has_amx() || !plain) return otherwise;
  const Sides sides(op, source, weights, result);
  if (!is_faster(sides)) return otherwise;
  return std::make_unique<AmxConvolution>(Sums(sides, op, source, weights, result), std::move(otherwise));
}

}  // namespace alloy::portable
#else
namespace alloy::portable {

std::unique_ptr<Kernel> make_amx_convolution(const ir::Op&, const ir::Shape&, const ir::Shape&, const ir::Shape&, std::unique_ptr<Kernel> otherwise) {
  return otherwise;
}

}  // namespace alloy::portable
#endif
