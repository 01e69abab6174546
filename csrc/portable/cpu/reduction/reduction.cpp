// Reductions over any axes. Adjacent axes are merged until kept and reduced axes alternate. If the innermost axis is
// reduced, rows are folded, otherwise columns. Results do not depend on the number of threads.
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

// The offset of the position number `number`; the last axis varies fastest.
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

// A packed tensor as rows or columns to fold. A unit is one result, or a line of `columns` results. The elements to
// fold for a unit are `segments` runs, each of `run` elements or lines.
struct Folding {
  std::vector<Axis> units, segments;
  int64_t run = 1;
  int64_t columns = 0;  // 0 if rows are folded
  int64_t unit_count = 1, segment_count = 1;

  Folding(const Shape& shape, const std::vector<bool>& reduced) {
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
  int64_t folded() const { return segment_count * run; }  // elements of one result
};

// One pass over the data, which folds everything into the results.
class Pass {
 public:
  Pass(Folding folding, Fold fold, size_t width, double divisor)
      : folding_(std::move(folding)), fold_(fold), width_(width), divisor_(divisor) {
    column_blocks_ = ir::divide_up(folding_.line(), kColumns);
    tasks_ = folding_.unit_count * column_blocks_;
    // A reduction of much data to few results is divided into parts; their number depends on the shape alone.
    const int64_t total = folding_.results() * folding_.folded();
    if (tasks_ < kFewTasks && total >= 2 * kPartWork) {
      parts_ = std::min({total / kPartWork, kMostParts / tasks_, folding_.folded()});
    }
  }

  size_t scratch_bytes() const { return parts_ > 1 ? parts_ * folding_.results() * fold_.total_bytes : 0; }

  void run(const std::byte* x, const std::byte* centers, std::byte* y, std::byte* scratch) const {
    parallel_for(tasks_ * parts_, work(), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) run_task(task, x, centers, y, scratch);
    });
    if (parts_ > 1) merge(y, scratch);
  }

  // Runs two passes, of which the second one measures from the first one's results, `centers`.
  static void run_both(const Pass& first, const Pass& second, const std::byte* x, std::byte* centers, std::byte* y,
                       std::byte* scratch) {
    if (first.parts_ > 1) {
      first.run(x, nullptr, centers, scratch);
      second.run(x, centers, y, scratch);
      return;
    }
    // Task by task, so that the second pass finds the data in the cache.
    parallel_for(first.tasks_, 2 * first.work(), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        first.run_task(task, x, nullptr, centers, scratch);
        second.run_task(task, x, centers, y, scratch);
      }
    });
  }

 private:
  static constexpr int64_t kColumns = 512;
  static constexpr int64_t kFewTasks = 32, kMostParts = 64, kPartWork = 32768, kTaskWork = 32;

  int64_t total_bytes() const { return fold_.total_bytes; }
  int64_t work() const { return folding_.folded() / parts_ * std::min(folding_.line(), kColumns) + kTaskWork; }

  void run_task(int64_t task, const std::byte* x, const std::byte* centers, std::byte* y, std::byte* scratch) const {
    alignas(64) std::byte totals[kColumns * int64_t{kMostTotalBytes}];
    const int64_t part = task / tasks_, unit = task % tasks_ / column_blocks_, from = task % column_blocks_ * kColumns;
    const int64_t count = std::min(kColumns, folding_.line() - from), result = unit * folding_.line() + from;
    const int64_t folded = folding_.folded();
    fold_.start(totals, count);
    const std::byte* center = centers != nullptr ? centers + result * width_ : nullptr;
    fold(x + (offset_of(folding_.units, unit) + from) * width_, folded * part / parts_, folded * (part + 1) / parts_,
         count, center, totals);
    if (parts_ == 1) {
      fold_.finish(totals, count, divisor_, y + result * width_);
    } else {
      std::memcpy(scratch + (part * folding_.results() + result) * total_bytes(), totals, count * total_bytes());
    }
  }

  // Folds positions [begin, end) of a unit, numbered through its segments.
  void fold(const std::byte* x, int64_t begin, int64_t end, int64_t count, const std::byte* center,
            std::byte* totals) const {
    const int64_t pitch = folding_.columns > 0 ? folding_.columns : 1;
    while (begin < end) {
      const int64_t segment = begin / folding_.run, first = begin % folding_.run;
      const int64_t length = std::min(folding_.run - first, end - begin);
      const std::byte* p = x + (offset_of(folding_.segments, segment) + first * pitch) * width_;
      if (folding_.columns > 0) fold_.columns(p, length, pitch, count, center, totals);
      else fold_.row(p, length, center, totals);
      begin += length;
    }
  }

  // Merges the parts in order.
  void merge(std::byte* y, std::byte* scratch) const {
    const int64_t results = folding_.results();
    for (int64_t part = 1; part < parts_; ++part) {
      fold_.merge(scratch + part * results * total_bytes(), results, scratch);
    }
    fold_.finish(scratch, results, divisor_, y);
  }

  Folding folding_;
  Fold fold_;
  int64_t width_;
  double divisor_;
  int64_t column_blocks_ = 1, tasks_ = 1, parts_ = 1;
};

// The axes that an attribute names are folded.
std::vector<bool> named_axes(const Op& op) {
  const Shape& x = op.operands[0].shape();
  std::vector<bool> reduced(x.rank(), false);
  for (int64_t axis : op.attributes.ints(Attr::kAxes)) {
    reduced[*ir::normalize_axis(axis, x.rank())] = true;
  }
  return reduced;
}

// The axes along which the result was broadcast are folded.
std::vector<bool> broadcast_axes(const Op& op) {
  const Shape &x = op.operands[0].shape(), &y = op.results[0].shape;
  const int64_t more = x.rank() - y.rank();
  std::vector<bool> reduced(x.rank(), false);
  for (int64_t i = 0; i < x.rank(); ++i) reduced[i] = i < more || y[i - more] != x[i];
  return reduced;
}

// The number of elements in one result.
double count_of(const Shape& shape, const std::vector<bool>& reduced) {
  double count = 1;
  for (size_t i = 0; i < reduced.size(); ++i) count *= reduced[i] ? static_cast<double>(shape.dims()[i]) : 1;
  return count;
}

// Results that fold no elements.
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

// Computes the mean first, then the variance from the distances to it. A single pass would suffer cancellation.
class Variance final : public Kernel {
 public:
  Variance(Pass mean, Pass distances, size_t result_bytes)
      : mean_(std::move(mean)), distances_(std::move(distances)), mean_bytes_(ir::round_up(result_bytes, kCacheLine)) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    Pass::run_both(mean_, distances_, operands[0], scratch, results[0], scratch + mean_bytes_);
  }
  size_t scratch_bytes() const override {
    return mean_bytes_ + std::max(mean_.scratch_bytes(), distances_.scratch_bytes());
  }

 private:
  Pass mean_, distances_;
  size_t mean_bytes_;
};

__extension__ using Wide = unsigned __int128;

// Mean and variance of integers: exact, then truncated toward zero.
template <class T>
class IntegerMoment final : public Kernel {
 public:
  IntegerMoment(Folding folding, bool is_variance) : folding_(std::move(folding)), is_variance_(is_variance) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    parallel_for(folding_.results(), folding_.folded() * 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = offset_of(folding_.units, i / folding_.line()) + i % folding_.line();
        reinterpret_cast<T*>(results[0])[i] = of(reinterpret_cast<const T*>(operands[0]) + first);
      }
    });
  }

 private:
  __extension__ using Sum = __int128;

  T of(const T* x) const {
    const Sum n = folding_.folded();
    Sum sum = 0;
    for_each(x, [&](T v) { sum += v; });
    const Sum mean = sum / n;
    if (!is_variance_) return static_cast<T>(mean);
    // Uses the distances from the truncated mean. n^2 times the variance is n times the sum of their squares, less the
    // square of their sum; that sum is below n.
    Wide squares = 0;
    for_each(x, [&](T v) { squares += static_cast<Wide>(v - mean) * static_cast<Wide>(v - mean); });
    const auto rest = static_cast<Wide>(sum - n * mean), count = static_cast<Wide>(n);
    return static_cast<T>((squares - (rest * rest + count - 1) / count) / count);
  }

  template <class F>
  void for_each(const T* x, const F& f) const {
    for (int64_t segment = 0; segment < folding_.segment_count; ++segment) {
      const T* p = x + offset_of(folding_.segments, segment);
      for (int64_t i = 0; i < folding_.run; ++i) f(p[i * folding_.line()]);
    }
  }

  Folding folding_;
  bool is_variance_;
};

// Finds winners along one axis: in rows if the axis is innermost, otherwise in columns.
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
  return std::make_unique<Reduction>(Pass(Folding(x.shape, reduced), fold, width, divisor));
}

// For integers; null for other types and for tensors without elements.
std::unique_ptr<Kernel> make_integer_moment(const Op& op, bool is_variance) {
  const ir::Type& x = op.operands[0].type();
  if (x.shape.element_count() == 0) return nullptr;
  const Folding folding(x.shape, named_axes(op));
  if (x.dtype == ir::DType::int32) return std::make_unique<IntegerMoment<int32_t>>(folding, is_variance);
  if (x.dtype == ir::DType::int64) return std::make_unique<IntegerMoment<int64_t>>(folding, is_variance);
  if (x.dtype == ir::DType::uint64) return std::make_unique<IntegerMoment<uint64_t>>(folding, is_variance);
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
  const Folding folding(x.shape, reduced);
  const size_t width = size_of(x.dtype);
  const double count = count_of(x.shape, reduced);
  return std::make_unique<Variance>(Pass(folding, find_fold(OpCode::sum, x.dtype), width, count),
                                    Pass(folding, find_variance(x.dtype), width, count), op.results[0].byte_count());
}

std::unique_ptr<Kernel> make_arg_reduction(const Op& op) {
  const ir::Type& x = op.operands[0].type();
  const ArgFold fold = find_arg_fold(op.code, x.dtype);
  if (fold.row == nullptr) refuse(op, x);
  const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), x.shape.rank());
  return std::make_unique<ArgReduction>(fold, x.shape, axis, size_of(x.dtype));
}

}  // namespace alloy::cpu
