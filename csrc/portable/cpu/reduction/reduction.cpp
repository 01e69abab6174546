// Reductions over any axes. The shape is brought down to alternating runs of kept and reduced axes; the
// innermost one decides whether rows or columns are folded. Results do not depend on the number of threads.
#include <algorithm>
#include <cstring>
#include <vector>

#include "cpu/families.h"
#include "cpu/reduction/folds.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"

namespace alloy::cpu {
namespace {

using ir::Attr;
using ir::Op;
using ir::OpCode;
using ir::Shape;

struct Axis {
  int64_t extent, stride;
  bool reduced;
};

// Where the position with that number stands, the last axis running fastest.
int64_t offset_of(const std::vector<Axis>& axes, int64_t number) {
  int64_t offset = 0;
  for (size_t i = axes.size(); i-- > 1; number /= axes[i].extent) offset += number % axes[i].extent * axes[i].stride;
  return axes.empty() ? 0 : offset + number * axes[0].stride;
}

int64_t count_of(const std::vector<Axis>& axes) {
  int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.extent;
  return count;
}

// A packed tensor as rows or columns to fold. Of a unit (one result, or a line of `columns` results) the
// elements to fold are `segments` runs of `run` elements, or of `run` lines.
struct Layout {
  std::vector<Axis> units, segments;
  int64_t run = 1;
  int64_t columns = 0;  // 0: rows are folded
  int64_t unit_count = 1, segment_count = 1;

  Layout(const Shape& shape, const std::vector<bool>& reduced) {
    std::vector<Axis> axes;  // innermost first
    int64_t stride = 1;
    for (int64_t i = shape.rank() - 1; i >= 0; stride *= shape[i--]) {
      const bool r = reduced[i];
      if (shape[i] == 1) continue;
      if (!axes.empty() && axes.back().reduced == r) axes.back().extent *= shape[i];
      else axes.push_back({shape[i], stride, r});
    }
    size_t next = 0;
    if (!axes.empty() && !axes[0].reduced) columns = axes[next++].extent;
    if (axes.empty()) columns = 1;
    if (next < axes.size()) run = axes[next++].extent;
    for (; next < axes.size(); ++next) (axes[next].reduced ? segments : units).push_back(axes[next]);
    std::reverse(units.begin(), units.end());
    std::reverse(segments.begin(), segments.end());
    unit_count = count_of(units);
    segment_count = count_of(segments);
  }

  int64_t line() const { return std::max<int64_t>(columns, 1); }
  int64_t results() const { return unit_count * line(); }
  int64_t folded() const { return segment_count * run; }  // elements that go into one result
};

// One pass over the data: a fold of everything into the results.
class Pass {
 public:
  Pass(Layout layout, Fold fold, size_t width, double divisor)
      : layout_(std::move(layout)), fold_(fold), width_(width), divisor_(divisor) {
    column_blocks_ = ir::divide_up(layout_.line(), kColumns);
    tasks_ = layout_.unit_count * column_blocks_;
    // Few results of much data are folded in parts, as many as the shape says.
    const int64_t total = layout_.results() * layout_.folded();
    if (tasks_ < kFewTasks && total >= 2 * kPartWork) {
      parts_ = std::min({total / kPartWork, kMostParts / tasks_, layout_.folded()});
    }
  }

  size_t scratch_bytes() const { return parts_ > 1 ? parts_ * layout_.results() * fold_.total_bytes : 0; }

  void run(const std::byte* x, const std::byte* centers, std::byte* y, std::byte* scratch) const {
    const int64_t folded = layout_.folded();
    const int64_t block = std::min(layout_.line(), kColumns);
    parallel_for(tasks_ * parts_, folded / parts_ * block + kTaskWork, [&](int64_t begin, int64_t end) {
      alignas(64) std::byte totals[kColumns * int64_t{kMostTotalBytes}];
      for (int64_t task = begin; task < end; ++task) {
        const int64_t part = task / tasks_, unit = task % tasks_ / column_blocks_,
                      from = task % column_blocks_ * kColumns;
        const int64_t count = std::min(kColumns, layout_.line() - from), result = unit * layout_.line() + from;
        fold_.start(totals, count);
        const std::byte* center = centers != nullptr ? centers + result * width_ : nullptr;
        fold(x + (offset_of(layout_.units, unit) + from) * width_, folded * part / parts_, folded * (part + 1) / parts_,
             count, center, totals);
        if (parts_ == 1) {
          fold_.finish(totals, count, divisor_, y + result * width_);
        } else {
          std::memcpy(scratch + (part * layout_.results() + result) * total_bytes(), totals, count * total_bytes());
        }
      }
    });
    if (parts_ > 1) merge(y, scratch);
  }

 private:
  static constexpr int64_t kColumns = 512;
  static constexpr int64_t kFewTasks = 32, kMostParts = 64, kPartWork = 32768, kTaskWork = 32;

  int64_t total_bytes() const { return fold_.total_bytes; }

  // Folds positions [begin, end) of a unit, counted through its segments.
  void fold(const std::byte* x, int64_t begin, int64_t end, int64_t count, const std::byte* center,
            std::byte* totals) const {
    const int64_t pitch = layout_.columns > 0 ? layout_.columns : 1;
    while (begin < end) {
      const int64_t segment = begin / layout_.run, first = begin % layout_.run;
      const int64_t length = std::min(layout_.run - first, end - begin);
      const std::byte* p = x + (offset_of(layout_.segments, segment) + first * pitch) * width_;
      if (layout_.columns > 0) fold_.columns(p, length, pitch, count, center, totals);
      else fold_.row(p, length, center, totals);
      begin += length;
    }
  }

  // Always in the order of the parts.
  void merge(std::byte* y, std::byte* scratch) const {
    const int64_t results = layout_.results();
    for (int64_t part = 1; part < parts_; ++part) {
      fold_.merge(scratch + part * results * total_bytes(), results, scratch);
    }
    fold_.finish(scratch, results, divisor_, y);
  }

  Layout layout_;
  Fold fold_;
  int64_t width_;
  double divisor_;
  int64_t column_blocks_ = 1, tasks_ = 1, parts_ = 1;
};

// Which axes of the operand are folded: those that an attribute names.
std::vector<bool> named_axes(const Op& op) {
  const Shape& x = op.operands[0].shape();
  std::vector<bool> reduced(x.rank(), false);
  for (int64_t axis : op.attributes.ints(Attr::kAxes)) {
    reduced[*ir::normalize_axis(axis, x.rank())] = true;
  }
  return reduced;
}

// Or those along which the result was broadcast.
std::vector<bool> broadcast_axes(const Op& op) {
  const Shape &x = op.operands[0].shape(), &y = op.results[0].shape;
  const int64_t more = x.rank() - y.rank();
  std::vector<bool> reduced(x.rank(), false);
  for (int64_t i = 0; i < x.rank(); ++i) reduced[i] = i < more || y[i - more] != x[i];
  return reduced;
}

// How many elements go into one result.
double count_of(const Shape& shape, const std::vector<bool>& reduced) {
  double count = 1;
  for (size_t i = 0; i < reduced.size(); ++i) count *= reduced[i] ? static_cast<double>(shape.dims()[i]) : 1;
  return count;
}

// The fold of nothing, in every result.
class EmptyReduction final : public Kernel {
 public:
  EmptyReduction(Fold fold, int64_t count, size_t width, double divisor)
      : fold_(fold), count_(count), width_(width), divisor_(divisor) {}

  void run(const std::byte* const*, std::byte* const* results, std::byte*) const override {
    alignas(64) std::byte total[kMostTotalBytes];
    fold_.start(total, 1);
    for (int64_t i = 0; i < count_; ++i) fold_.finish(total, 1, divisor_, results[0] + i * width_);
  }

 private:
  Fold fold_;
  int64_t count_;
  size_t width_;
  double divisor_;
};

class Reduction final : public Kernel {
 public:
  explicit Reduction(Pass pass) : pass_(std::move(pass)) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    pass_.run(operands[0], nullptr, results[0], scratch);
  }
  size_t scratch_bytes() const override { return pass_.scratch_bytes(); }

 private:
  Pass pass_;
};

// The mean first, then the variance by the distances from it: one pass would cancel.
class Variance final : public Kernel {
 public:
  Variance(Pass mean, Pass distances, size_t result_bytes)
      : mean_(std::move(mean)), distances_(std::move(distances)), mean_bytes_(ir::round_up(result_bytes, kCacheLine)) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    mean_.run(operands[0], nullptr, scratch, scratch + mean_bytes_);
    distances_.run(operands[0], scratch, results[0], scratch + mean_bytes_);
  }
  size_t scratch_bytes() const override {
    return mean_bytes_ + std::max(mean_.scratch_bytes(), distances_.scratch_bytes());
  }

 private:
  Pass mean_, distances_;
  size_t mean_bytes_;
};

__extension__ using Wide = unsigned __int128;

// Mean and variance of integers, exact and then truncated toward zero.
template <class T>
class IntegerMoment final : public Kernel {
 public:
  IntegerMoment(Layout layout, bool is_variance) : layout_(std::move(layout)), is_variance_(is_variance) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    parallel_for(layout_.results(), layout_.folded() * 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = offset_of(layout_.units, i / layout_.line()) + i % layout_.line();
        reinterpret_cast<T*>(results[0])[i] = of(reinterpret_cast<const T*>(operands[0]) + first);
      }
    });
  }

 private:
  __extension__ using Sum = __int128;

  T of(const T* x) const {
    const Sum n = layout_.folded();
    Sum sum = 0;
    for_each(x, [&](T v) { sum += v; });
    const Sum mean = sum / n;
    if (!is_variance_) return static_cast<T>(mean);
    // By the distances from the truncated mean: n^2 times the variance is n times their squares less the square of
    // their sum, which is below n.
    Wide squares = 0;
    for_each(x, [&](T v) { squares += static_cast<Wide>(v - mean) * static_cast<Wide>(v - mean); });
    const auto rest = static_cast<Wide>(sum - n * mean), count = static_cast<Wide>(n);
    return static_cast<T>((squares - (rest * rest + count - 1) / count) / count);
  }

  template <class F>
  void for_each(const T* x, const F& f) const {
    for (int64_t segment = 0; segment < layout_.segment_count; ++segment) {
      const T* p = x + offset_of(layout_.segments, segment);
      for (int64_t i = 0; i < layout_.run; ++i) f(p[i * layout_.line()]);
    }
  }

  Layout layout_;
  bool is_variance_;
};

// Winners along one axis: over rows where the axis is innermost, else over columns.
class ArgReduction final : public Kernel {
 public:
  ArgReduction(ArgFold fold, const Shape& shape, int64_t axis, size_t width) : fold_(fold), width_(width) {
    for (int64_t i = 0; i < shape.rank(); ++i) (i < axis ? outer_ : i > axis ? inner_ : extent_) *= shape[i];
  }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const int64_t blocks = ir::divide_up(inner_, kMostArgColumns);
    parallel_for(outer_ * blocks, extent_ * std::min(inner_, kMostArgColumns) * 2, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t unit = task / blocks, from = task % blocks * kMostArgColumns;
        const std::byte* x = operands[0] + (unit * extent_ * inner_ + from) * width_;
        auto* y = reinterpret_cast<int32_t*>(results[0]) + unit * inner_ + from;
        if (inner_ == 1) fold_.row(x, extent_, y);
        else fold_.columns(x, extent_, inner_, std::min(kMostArgColumns, inner_ - from), y);
      }
    });
  }

 private:
  ArgFold fold_;
  int64_t width_, outer_ = 1, extent_ = 1, inner_ = 1;
};

std::unique_ptr<Kernel> make_fold(const Op& op, const Fold& fold, const std::vector<bool>& reduced, double divisor) {
  const ir::Type& x = op.operands[0].type();
  if (fold.start == nullptr) refuse(op, x);
  const size_t width = size_of(x.dtype);
  if (x.shape.element_count() == 0) {
    return std::make_unique<EmptyReduction>(fold, op.results[0].shape.element_count(), width, divisor);
  }
  return std::make_unique<Reduction>(Pass(Layout(x.shape, reduced), fold, width, divisor));
}

// Of integers with elements; null of other types, and of tensors without elements.
std::unique_ptr<Kernel> make_integer_moment(const Op& op, bool is_variance) {
  const ir::Type& x = op.operands[0].type();
  if (x.shape.element_count() == 0) return nullptr;
  const Layout layout(x.shape, named_axes(op));
  if (x.dtype == ir::DType::int32) return std::make_unique<IntegerMoment<int32_t>>(layout, is_variance);
  if (x.dtype == ir::DType::int64) return std::make_unique<IntegerMoment<int64_t>>(layout, is_variance);
  if (x.dtype == ir::DType::uint64) return std::make_unique<IntegerMoment<uint64_t>>(layout, is_variance);
  return nullptr;
}

}  // namespace

std::unique_ptr<Kernel> make_reduction(const Op& op) {
  return make_fold(op, find_fold(op.code, op.operands[0].dtype()), named_axes(op), 1);
}

std::unique_ptr<Kernel> make_reduce_like(const Op& op) {
  return make_fold(op, find_fold(OpCode::sum, op.operands[0].dtype()), broadcast_axes(op), 1);
}

std::unique_ptr<Kernel> make_mean(const Op& op) {
  if (auto exact = make_integer_moment(op, false)) return exact;
  const ir::Type& x = op.operands[0].type();
  const std::vector<bool> reduced = named_axes(op);
  return make_fold(op, find_fold(OpCode::sum, x.dtype), reduced, count_of(x.shape, reduced));
}

std::unique_ptr<Kernel> make_variance(const Op& op) {
  if (auto exact = make_integer_moment(op, true)) return exact;
  const ir::Type& x = op.operands[0].type();
  if (x.dtype != ir::DType::float32 || x.shape.element_count() == 0) return make_mean(op);
  const std::vector<bool> reduced = named_axes(op);
  const Layout layout(x.shape, reduced);
  const size_t width = size_of(x.dtype);
  const double count = count_of(x.shape, reduced);
  return std::make_unique<Variance>(Pass(layout, find_fold(OpCode::sum, x.dtype), width, count),
                                    Pass(layout, find_variance(x.dtype), width, count), op.results[0].byte_count());
}

std::unique_ptr<Kernel> make_arg_reduction(const Op& op) {
  const ir::Type& x = op.operands[0].type();
  const ArgFold fold = find_arg_fold(op.code, x.dtype);
  if (fold.row == nullptr) refuse(op, x);
  const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), x.shape.rank());
  return std::make_unique<ArgReduction>(fold, x.shape, axis, size_of(x.dtype));
}

}  // namespace alloy::cpu
