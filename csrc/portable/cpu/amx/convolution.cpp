#include "cpu/amx/convolution.h"

#include "cpu/amx/amx.h"
#include "ir/windows.h"

#if ALLOY_HAS_AMX
#include <atomic>
#include <iterator>
#include <optional>
#include <vector>

#include "cpu/amx/amx-inl.h"

namespace alloy::cpu {
namespace {

using ir::Attr;
using ir::Op;
using ir::OpCode;
using ir::Shape;
using std::ssize;

// Matrices of the same shape, one at each position of an image or of the kernel: those of a factor.
struct Slots {
  int64_t row_stride, column_stride, lines, line_stride, inner, inner_stride;

  Factor at(const float* data, int64_t row, int64_t column, int64_t first, int64_t end, bool left) const {
    return {data + row * row_stride + column * column_stride + first * line_stride,
            end - first,
            line_stride,
            inner,
            inner_stride,
            left};
  }
};

// The factors and the result of a convolution of one kind.
struct Sides {
  Slots left, right;
  int64_t row_stride, column_stride, line_stride;  // of the result's matrices
  bool swapped = false;                            // the left factor is the op's second operand
  bool sums_over_results = false;  // each matrix of the result is a sum over all positions, not over taps

  Sides(const Op& op, const Shape& x, const Shape& w, const Shape& y) {
    const int64_t images = x[0], in = x[3], out = y[3], source = x[1] * x[2] * in, result = y[1] * y[2] * out;
    const Slots by_image{x[2] * in, in, images, source, in, 1},
        gradient_by_image{y[2] * out, out, images, result, out, 1};
    if (op.code == OpCode::conv2d) {
      left = by_image;
      right = {w[1] * in * out, in * out, out, 1, in, out};
      row_stride = y[2] * out, column_stride = out, line_stride = result;
    } else if (op.code == OpCode::conv2d_data_gradient) {
      left = gradient_by_image;
      right = {w[1] * in * out, in * out, in, out, out, 1};
      row_stride = x[2] * in, column_stride = in, line_stride = source;
    } else {
      left = {x[2] * in, in, in, 1, images, source};
      right = {y[2] * out, out, out, 1, images, result};
      row_stride = w[1] * in * out, column_stride = in * out, line_stride = out;
      swapped = sums_over_results = true;
    }
  }
};

// Along one axis of the images: which positions of the factors meet for each position of the result.
struct Axis {
  struct Meeting {
    int64_t left, right;  // among the positions below
  };
  std::vector<std::vector<Meeting>>
      meetings;                      // by position of the result, in the order of the left ones or the other way round
  std::vector<int64_t> left, right;  // positions that meet another, ascending

  int64_t meeting_count() const {
    int64_t count = 0;
    for (const auto& some : meetings) count += ssize(some);
    return count;
  }
  int64_t results_met() const {
    return std::ranges::count_if(meetings, [](const auto& some) { return !some.empty(); });
  }
  int64_t most_meetings() const {
    int64_t most = 0;
    for (const auto& some : meetings) most = std::max(most, ssize(some));
    return most;
  }

  Axis(OpCode code, const ir::Window& window, int64_t source, int64_t result)
      : meetings(static_cast<size_t>(code == OpCode::conv2d                 ? result
                                     : code == OpCode::conv2d_data_gradient ? source
                                                                            : window.size)) {
    for (int64_t r = 0; r < result; ++r) {
      for (int64_t t = 0; t < window.size; ++t) {
        const int64_t s = r * window.stride - window.before + t * window.dilation;
        if (s < 0 || s >= source) continue;
        if (code == OpCode::conv2d) meetings[static_cast<size_t>(r)].push_back({s, t});
        else if (code == OpCode::conv2d_data_gradient) meetings[static_cast<size_t>(s)].push_back({r, t});
        else meetings[static_cast<size_t>(t)].push_back({s, r});
      }
    }
    left = number(&Meeting::left);
    right = number(&Meeting::right);
  }

 private:
  // The positions on one side of some meeting; meetings then say their numbers.
  std::vector<int64_t> number(int64_t Meeting::* side) {
    std::vector<int64_t> positions;
    for (const auto& some : meetings) {
      for (const Meeting& m : some) {
        positions.push_back(m.*side);
      }
    }
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    for (auto& some : meetings) {
      for (Meeting& m : some) {
        m.*side = std::lower_bound(positions.begin(), positions.end(), m.*side) - positions.begin();
      }
    }
    return positions;
  }
};

// What is computed together: rows of the result with the factors' rows that meet in them; or, of a sum over all
// positions, what some of the right factor's rows give to it.
struct Band {
  int64_t first, end;  // rows of the result
  int64_t left, left_end, right, right_end;
  int64_t meetings = 0;
};

struct Problem : Sides {
  Axis rows, columns;

  Problem(const Op& op, const Shape& x, const Shape& w, const Shape& y)
      : Sides(op, x, w, y),
        rows(op.code, ir::window_of(op.attributes, 0, w[0], x[1]), x[1], y[1]),
        columns(op.code, ir::window_of(op.attributes, 1, w[1], x[2]), x[2], y[2]) {}

  // The rows that bands divide.
  int64_t band_rows() const { return sums_over_results ? ssize(rows.right) : ssize(rows.meetings); }

  Band band(int64_t first, int64_t end) const {
    Band band{first, end, ssize(rows.left), 0, 0, ssize(rows.right)};
    if (sums_over_results) band = {0, ssize(rows.meetings), ssize(rows.left), 0, first, end};
    for (int64_t i = band.first; i < band.end; ++i) {
      const std::span<const Axis::Meeting> some = meetings(band, i);
      if (some.empty()) continue;
      band.left = std::min({band.left, some.front().left, some.back().left});
      band.left_end = std::max({band.left_end, some.front().left + 1, some.back().left + 1});
      band.meetings += ssize(some);
    }
    band.left_end = std::max(band.left, band.left_end);
    return band;
  }

  // Those of a row of the result that belong to the band.
  std::span<const Axis::Meeting> meetings(const Band& band, int64_t row) const {
    const std::vector<Axis::Meeting>& all = rows.meetings[static_cast<size_t>(row)];
    if (!sums_over_results) return all;
    const auto at = [&](int64_t right) { return std::ranges::lower_bound(all, right, {}, &Axis::Meeting::right); };
    return {at(band.right), at(band.right_end)};
  }
};

// The bands of so many groups, one of which a thread computes.
struct Bands {
  int64_t height;
  std::vector<std::vector<Band>> of_group;
  // Rows and meetings of all bands of a group, and rows of a band: the most.
  int64_t result_rows = 0, left_rows = 0, right_rows = 0, meetings = 0, left_at_once = 0, right_at_once = 0;

  Bands(const Problem& p, int64_t groups, int64_t height) : height(height), of_group(static_cast<size_t>(groups)) {
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t begin = p.band_rows() * g / groups, end = p.band_rows() * (g + 1) / groups;
      Band all{};
      for (int64_t first = begin; first < end; first += height) {
        const Band band = p.band(first, std::min(first + height, end));
        of_group[static_cast<size_t>(g)].push_back(band);
        all.end += band.end - band.first;
        all.left_end += band.left_end - band.left;
        all.right_end += band.right_end - band.right;
        all.meetings += band.meetings;
        left_at_once = std::max(left_at_once, band.left_end - band.left);
        right_at_once = std::max(right_at_once, band.right_end - band.right);
      }
      result_rows = std::max(result_rows, all.end);
      left_rows = std::max(left_rows, all.left_end);
      right_rows = std::max(right_rows, all.right_end);
      meetings = std::max(meetings, all.meetings);
    }
  }
};

// How the work is divided: into parts, one a thread, with a share of the lines of each factor and of the bands, and
// each part into what is split at a time.
struct Division {
  int64_t down = 1, across = 1, groups = 1;  // parts along the left factor's lines, the right one's, and the bands
  int64_t lines = 0, columns = 0;            // of a part
  int64_t split_lines = 0, depth = 0;        // left lines that are split together, and how deep

  int64_t parts() const { return down * across * groups; }
  int64_t steps() const { return depth / kDepth; }
  // Bytes of a slot, and of all that are split together.
  int64_t left_slot() const { return split_lines / kPanelLines * steps() * kStepBytes; }
  int64_t right_slot() const { return steps() * kStepBytes; }
  int64_t left_bytes(const Problem& p, const Bands& bands) const {
    return bands.left_at_once * ssize(p.columns.left) * left_slot();
  }
  int64_t right_bytes(const Problem& p, const Bands& bands) const {
    return bands.right_at_once * ssize(p.columns.right) * right_slot();
  }
};

// What of a second-level cache split slots may take.
constexpr int64_t kMostSplit = 7 << 18;

// Cycles of the slowest part, as measured: for an element that is split, for the product of two tiles, for a result
// that is stored.
double estimate(const Problem& p, const Bands& bands, const Division& d) {
  constexpr double kSplit = 0.6, kTileProduct = 16, kStore = 0.7, kProducts = 6;  // of parts
  const auto number = [](auto... factors) { return (static_cast<double>(factors) * ...); };
  const int64_t lines = rounded(d.lines, kLines), columns = rounded(d.columns, kLines),
                inner = rounded(p.left.inner, kDepth);
  const bool has_partial_sums = p.sums_over_results && d.groups > 1;
  // Ops before this one gave each thread a share of the images, which it then has in its core's caches.
  const double fetch = p.sums_over_results || d.groups == 1 ? 0 : 0.5;
  // With fewer than four sums the tiles wait for one another.
  const double waiting = (lines > kLines ? 1 : 1.3) * (columns > kLines ? 1 : 1.3);
  return (kSplit + fetch) * number(bands.left_rows, ssize(p.columns.left), lines, inner) +
         kSplit * number(bands.right_rows, ssize(p.columns.right), columns, inner, divided(d.lines, d.split_lines)) +
         kTileProduct * kProducts * waiting *
             number(bands.meetings, p.columns.meeting_count(), lines / kLines, columns / kLines, inner / kDepth) +
         kStore * number(bands.result_rows, ssize(p.columns.meetings), lines, columns,
                         divided(p.left.inner, d.depth) + (has_partial_sums ? 2 : 0));
}

// The fastest division.
struct Choice {
  Division division;
  int64_t height;  // of its bands
  double cycles;
};

// None where nothing fits into the cache.
std::optional<Choice> best_division(const Problem& p) {
  std::optional<Choice> best;
  const auto try_splits = [&](const Bands& bands, Division d) {
    for (d.split_lines = rounded(d.lines, kPanelLines);; d.split_lines = rounded(d.split_lines / 2, kPanelLines)) {
      for (d.depth = rounded(p.left.inner, kDepth);; d.depth = rounded(d.depth / 2, kDepth)) {
        const double cycles = estimate(p, bands, d);
        const bool fits = d.left_bytes(p, bands) + d.right_bytes(p, bands) <= kMostSplit;
        if (fits && (!best || cycles < best->cycles)) best = {d, bands.height, cycles};
        if (d.depth == kDepth) break;
      }
      if (d.split_lines == kPanelLines) break;
    }
  };
  const int64_t threads = kernel_threads();
  for (int64_t groups = 1; groups <= std::min(threads, p.band_rows()); ++groups) {
    if (threads % groups != 0) continue;
    const int64_t rows = divided(p.band_rows(), groups);
    for (int64_t count = 1, height = 0; count <= rows; ++count) {
      if (divided(rows, count) == height) continue;
      height = divided(rows, count);
      const Bands bands(p, groups, height);
      for (int64_t down = 1; down <= threads / groups; ++down) {
        if (threads / groups % down != 0) continue;
        Division d;
        d.groups = groups;
        d.lines = rounded(divided(p.left.lines, down), kLines);
        d.columns = rounded(divided(p.right.lines, threads / groups / down), kLines);
        d.down = divided(p.left.lines, d.lines);
        d.across = divided(p.right.lines, d.columns);
        try_splits(bands, d);
      }
    }
  }
  return best;
}

void fill_zeros(float* y, int64_t stride, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) std::fill_n(y + r * stride, columns, 0.0F);
}

class AmxConvolution final : public Kernel {
 public:
  AmxConvolution(Problem problem, const Choice& choice, std::unique_ptr<Kernel> otherwise)
      : problem_(std::move(problem)),
        d_(choice.division),
        bands_(problem_, d_.groups, choice.height),
        otherwise_(std::move(otherwise)),
        left_bytes_(d_.left_bytes(problem_, bands_)),
        right_bytes_(d_.right_bytes(problem_, bands_)),
        terms_bytes_(rounded(std::min(problem_.rows.most_meetings(), bands_.right_at_once) *
                                 problem_.columns.most_meetings() * static_cast<int64_t>(sizeof(Term)),
                             64)),
        partial_(problem_.sums_over_results ? ssize(problem_.rows.meetings) * problem_.row_stride : 0) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const auto *left = reinterpret_cast<const float*>(operands[problem_.swapped ? 1 : 0]),
               *right = reinterpret_cast<const float*>(operands[problem_.swapped ? 0 : 1]);
    auto* const result = reinterpret_cast<float*>(results[0]);
    // Sums over some bands only, which wait for the others.
    auto* const partial = reinterpret_cast<float*>(scratch + d_.parts() * part_bytes());
    std::atomic<bool> finite = true;
    parallel_for(d_.parts(), kWorkWorthThreads, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        const int64_t group = part % d_.groups;
        float* const to = partial_ == 0 || group == 0 ? result : partial + (group - 1) * partial_;
        if (!compute(part, left, right, to, scratch + part * part_bytes())) finite = false;
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
    const int64_t partial = partial_ * (d_.groups - 1) * static_cast<int64_t>(sizeof(float));
    return std::max(static_cast<size_t>(d_.parts() * part_bytes() + partial), otherwise_->scratch_bytes());
  }

 private:
  bool compute(int64_t part, const float* left, const float* right, float* result, std::byte* scratch) const;
  bool multiply(const Band& band, std::byte* scratch, int64_t steps, bool add, float* y, int64_t lines,
                int64_t columns) const;
  bool add(const float* partial, int64_t begin, int64_t end, float* result) const;
  int64_t part_bytes() const { return left_bytes_ + right_bytes_ + terms_bytes_ + 4 * kTileBytes; }

  Problem problem_;
  Division d_;
  Bands bands_;
  std::unique_ptr<Kernel> otherwise_;
  int64_t left_bytes_, right_bytes_, terms_bytes_;
  int64_t partial_;  // elements of the result, where groups have sums of their own, of which all but the first are in
                     // scratch; else 0
};

}  // namespace
}  // namespace alloy::cpu

HWY_PUSH_ATTRIBUTES(ALLOY_AMX_TARGETS)
namespace alloy::cpu {
namespace {

// Rows [first, end) of a factor's slots: lines from `line` on, from `depth` on as deep as `steps` tiles.
void split_rows(const Slots& slots, const float* data, const std::vector<int64_t>& rows,
                const std::vector<int64_t>& columns, int64_t first, int64_t end, int64_t line, int64_t end_line,
                bool left, int64_t depth, int64_t steps, std::byte* to, int64_t slot_bytes) {
  for (int64_t i = first; i < end; ++i) {
    for (const int64_t column : columns) {
      split_panels(slots.at(data, rows[static_cast<size_t>(i)], column, line, end_line, left), 0, end_line - line,
                   depth, steps, to, {});
      to += slot_bytes;
    }
  }
}

// One thread's lines of both factors, for its bands.
bool AmxConvolution::compute(int64_t part, const float* left, const float* right, float* result,
                             std::byte* scratch) const {
  const Problem& p = problem_;
  const int64_t piece = part / d_.groups;
  const int64_t row = piece / d_.across * d_.lines, row_end = std::min(row + d_.lines, p.left.lines);
  const int64_t column = piece % d_.across * d_.columns, column_end = std::min(column + d_.columns, p.right.lines);
  std::byte* const rights = scratch + left_bytes_;
  const Tiles configured;
  bool finite = true, add = false;
  for (int64_t depth = 0; depth < p.left.inner; depth += d_.depth) {
    const int64_t steps = std::min(d_.steps(), divided(p.left.inner - depth, kDepth));
    for (const Band& band : bands_.of_group[static_cast<size_t>(part % d_.groups)]) {
      for (int64_t r = row; r < row_end; r += d_.split_lines) {
        const int64_t r_end = std::min(r + d_.split_lines, row_end);
        split_rows(p.left, left, p.rows.left, p.columns.left, band.left, band.left_end, r, r_end, true, depth, steps,
                   scratch, d_.left_slot());
        for (int64_t c = column; c < column_end; c += kPanelLines) {
          const int64_t c_end = std::min(c + kPanelLines, column_end);
          split_rows(p.right, right, p.rows.right, p.columns.right, band.right, band.right_end, c, c_end, false, depth,
                     steps, rights, d_.right_slot());
          finite &= multiply(band, scratch, steps, add, result + r * p.line_stride + c, r_end - r, c_end - c);
        }
      }
      add |= p.sums_over_results;
    }
    add = true;
  }
  return finite;
}

// What split slots give to a block of every matrix of the result.
bool AmxConvolution::multiply(const Band& band, std::byte* scratch, int64_t steps, bool add, float* y, int64_t lines,
                              int64_t columns) const {
  const Axis& cols = problem_.columns;
  const std::byte* const rights = scratch + left_bytes_;
  auto* const terms = reinterpret_cast<Term*>(scratch + left_bytes_ + right_bytes_);
  float* const room = reinterpret_cast<float*>(scratch + left_bytes_ + right_bytes_ + terms_bytes_);
  const int64_t left_slot = d_.left_slot(), right_slot = d_.right_slot();
  const int64_t left_row = ssize(cols.left) * left_slot, right_row = ssize(cols.right) * right_slot;
  Ahead nothing;
  bool finite = true;
  for (int64_t i = band.first; i < band.end; ++i) {
    for (int64_t j = 0; j < ssize(cols.meetings); ++j) {
      size_t count = 0;
      for (const Axis::Meeting& a : problem_.meetings(band, i)) {
        for (const Axis::Meeting& b : cols.meetings[static_cast<size_t>(j)]) {
          terms[count++] = {(a.left - band.left) * left_row + b.left * left_slot,
                            (a.right - band.right) * right_row + b.right * right_slot};
        }
      }
      float* to = y + i * problem_.row_stride + j * problem_.column_stride;
      const std::byte* lefts = scratch;
      for (int64_t l = 0; l < lines;
           l += kPanelLines, to += kPanelLines * problem_.line_stride, lefts += steps * kStepBytes) {
        const int64_t some = std::min(kPanelLines, lines - l);
        if (count > 0) {
          finite &= multiply_panels(lefts, rights, {terms, count}, steps, add, to, problem_.line_stride, some, columns,
                                    room, nothing);
        } else if (!add) fill_zeros(to, problem_.line_stride, some, columns);
      }
    }
  }
  return finite;
}

// Completes sums; false where one is not finite.
bool AmxConvolution::add(const float* partial, int64_t begin, int64_t end, float* result) const {
  __mmask16 wrong = 0;
  for (int64_t i = begin; i < end; i += kLines) {
    const __mmask16 mask = cpu::first(end - i);
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
}  // namespace alloy::cpu
HWY_POP_ATTRIBUTES

namespace alloy::cpu {
namespace {

// Beside oneDNN, in nanoseconds as measured: what that takes for a convolution, for a product on one thread, and for a
// weight, which it copies into an order of its own.
bool is_faster(const Problem& p, double cycles) {
  constexpr double kTileClock = 2.85, kTileStart = 14e3, kFewestProducts = 1 << 20;
  const double threads = kernel_threads();
  double products = p.left.lines * p.right.lines * p.left.inner;
  for (const Axis* axis : {&p.rows, &p.columns}) products *= axis->meeting_count();
  double weights = p.right.lines * (p.sums_over_results ? p.left.lines : p.right.inner);
  for (const Axis* axis : {&p.rows, &p.columns}) {
    weights *= p.sums_over_results ? axis->results_met() : ssize(axis->right);
  }
  const double onednn = 15e3 + 0.01 * products / threads + 0.35 * weights;
  return products > kFewestProducts && kTileStart + cycles / kTileClock < onednn;
}

}  // namespace

std::unique_ptr<Kernel> make_amx_convolution(const Op& op, const Shape& source, const Shape& weights,
                                             const Shape& result, std::unique_ptr<Kernel> otherwise) {
  const bool plain = op.attributes.word(Attr::kDataLayout) == "NHWC" &&
                     op.attributes.word(Attr::kWeightsLayout) == "HWIO" && op.attributes.integer(Attr::kGroups) == 1;
  if (!has_amx() || !plain) return otherwise;
  Problem problem(op, source, weights, result);
  const std::optional<Choice> choice = best_division(problem);
  if (!choice || !is_faster(problem, choice->cycles)) return otherwise;
  return std::make_unique<AmxConvolution>(std::move(problem), *choice, std::move(otherwise));
}

}  // namespace alloy::cpu
#else
namespace alloy::cpu {

std::unique_ptr<Kernel> make_amx_convolution(const ir::Op&, const ir::Shape&, const ir::Shape&, const ir::Shape&,
                                             std::unique_ptr<Kernel> otherwise) {
  return otherwise;
}

}  // namespace alloy::cpu
#endif
