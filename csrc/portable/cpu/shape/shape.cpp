// Kernels that move elements without computing: copies, transposition, broadcasting, slices, concatenation.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cpu/families.h"
#include "cpu/shape/packed.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"
#include "ir/rules/windows.h"

namespace alloy::cpu {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;
using ir::Shape;

// Bytes that one thread copies at a time.
constexpr int64_t kCopyBlock = 64 << 10;

void copy_bytes(const std::byte* from, int64_t count, std::byte* to) {
  parallel_for(ir::divide_up(count, kCopyBlock), kCopyBlock / 16, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin * kCopyBlock, from + begin * kCopyBlock,
                std::min(end * kCopyBlock, count) - begin * kCopyBlock);
  });
}

void zero_bytes(int64_t count, std::byte* to) {
  parallel_for(ir::divide_up(count, kCopyBlock), kCopyBlock / 16, [&](int64_t begin, int64_t end) {
    std::memset(to + begin * kCopyBlock, 0, std::min(end * kCopyBlock, count) - begin * kCopyBlock);
  });
}

// Copies elements between two arrays with strides.
class StridedCopy {
 public:
  struct Axis {
    int64_t extent, from, to;  // strides in elements; `from` may be 0 or negative
  };

  // The axes may have any order. Offsets are those of the first element, in elements.
  StridedCopy(std::vector<Axis> axes, size_t width, int64_t from_offset = 0, int64_t to_offset = 0)
      : width_(width), from_offset_(from_offset), to_offset_(to_offset) {
    for (const Axis& axis : axes) empty_ |= axis.extent == 0;
    std::erase_if(axes, [](const Axis& axis) { return axis.extent == 1; });
    std::stable_sort(axes.begin(), axes.end(),
                     [](const Axis& a, const Axis& b) { return std::abs(a.to) > std::abs(b.to); });
    for (const Axis& axis : axes) {
      const bool merges =
          !axes_.empty() && axes_.back().from == axis.from * axis.extent && axes_.back().to == axis.to * axis.extent;
      if (merges) axes_.back() = {axes_.back().extent * axis.extent, axis.from, axis.to};
      else axes_.push_back(axis);
    }
    if (axes_.empty()) axes_.push_back({1, 1, 1});
    choose_inner();
  }

  void run(const std::byte* from, std::byte* to) const {
    if (empty_) return;
    from += from_offset_ * width_;
    to += to_offset_ * width_;
    const int64_t blocks = ir::divide_up(split_.extent, kSplit);
    int64_t lines = blocks;
    for (const Axis& axis : outer_) lines *= axis.extent;
    parallel_for(lines, std::min(split_.extent, kSplit) * row_.extent, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t first = line % blocks * kSplit;
        int64_t x = first * split_.from, y = first * split_.to, rest = line / blocks;
        for (size_t i = outer_.size(); i-- > 0; rest /= outer_[i].extent) {
          const int64_t at = i > 0 ? rest % outer_[i].extent : rest;
          x += at * outer_[i].from;
          y += at * outer_[i].to;
        }
        copy(from + x * width_, std::min(kSplit, split_.extent - first), to + y * width_);
      }
    });
  }

 private:
  static constexpr int64_t kSplit = 4096;

  // The row is the result's innermost axis. The second axis is the one along which the source is contiguous, for a
  // transposition by blocks, or else the next one. Threads share `split_` in blocks of kSplit.
  void choose_inner() {
    outer_ = axes_;
    row_ = outer_.back();
    outer_.pop_back();
    const auto contiguous = std::find_if(outer_.begin(), outer_.end(), [](const Axis& axis) { return axis.from == 1; });
    transposes_ = row_.from != 1 && row_.from != 0 && contiguous != outer_.end();
    if (transposes_) {
      split_ = *contiguous;
      outer_.erase(contiguous);
    } else if (outer_.empty() || row_.extent >= kSplit) {
      // The only row, in pieces.
      split_ = row_;
      row_ = {1, row_.from, row_.to};
    } else {
      split_ = outer_.back();
      outer_.pop_back();
    }
  }

  void copy(const std::byte* from, int64_t count, std::byte* to) const {
    switch (width_) {
      case 1: return copy_as<uint8_t>(from, count, to);
      case 2: return copy_as<uint16_t>(from, count, to);
      case 4: return copy_as<uint32_t>(from, count, to);
      default: return copy_as<uint64_t>(from, count, to);
    }
  }

  template <class T>
  void copy_as(const std::byte* from, int64_t count, std::byte* to) const {
    const T* x = reinterpret_cast<const T*>(from);
    T* y = reinterpret_cast<T*>(to);
    if (transposes_) return transpose(x, count, y);
    if (row_.extent == 1) return copy_row(x, split_, count, y);
    for (int64_t i = 0; i < count; ++i) copy_row(x + i * split_.from, row_, row_.extent, y + i * split_.to);
  }

  template <class T>
  static void copy_row(const T* x, const Axis& axis, int64_t count, T* y) {
    if (axis.to != 1) {
      for (int64_t i = 0; i < count; ++i) y[i * axis.to] = x[i * axis.from];
    } else if (axis.from == 1) {
      std::memcpy(y, x, count * sizeof(T));
    } else if (axis.from == 0) {
      std::fill_n(y, count, *x);
    } else {
      for (int64_t i = 0; i < count; ++i) y[i] = x[i * axis.from];
    }
  }

  // Uses blocks small enough for the lines of both sides to stay in the cache.
  template <class T>
  void transpose(const T* x, int64_t count, T* y) const {
    constexpr int64_t kBlock = 16;
    for (int64_t i0 = 0; i0 < count; i0 += kBlock) {
      const int64_t i1 = std::min(i0 + kBlock, count);
      for (int64_t j0 = 0; j0 < row_.extent; j0 += kBlock) {
        const int64_t j1 = std::min(j0 + kBlock, row_.extent);
        for (int64_t i = i0; i < i1; ++i) {
          for (int64_t j = j0; j < j1; ++j) y[i * split_.to + j * row_.to] = x[i + j * row_.from];
        }
      }
    }
  }

  int64_t width_, from_offset_, to_offset_;
  bool empty_ = false, transposes_ = false;
  std::vector<Axis> axes_, outer_;
  Axis split_{1, 1, 1}, row_{1, 1, 1};
};

class Copy final : public Kernel {
 public:
  explicit Copy(size_t bytes) : bytes_(bytes) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    if (operands[0] != results[0]) copy_bytes(operands[0], bytes_, results[0]);
  }
  bool in_place(size_t operand, size_t) const override { return operand == 0; }

 private:
  int64_t bytes_;
};

class Zeros final : public Kernel {
 public:
  explicit Zeros(size_t bytes) : bytes_(bytes) {}

  void run(const std::byte* const*, std::byte* const* results, std::byte*) const override {
    zero_bytes(bytes_, results[0]);
  }

 private:
  int64_t bytes_;
};

// Copies the first operands into the result with strides, the last one first. If they do not cover the result, it is
// filled with zeros before.
class Move final : public Kernel {
 public:
  Move(std::vector<StridedCopy> copies, size_t zeroed_bytes)
      : copies_(std::move(copies)), zeroed_bytes_(zeroed_bytes) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    zero_bytes(zeroed_bytes_, results[0]);
    for (size_t i = copies_.size(); i-- > 0;) copies_[i].run(operands[i], results[0]);
  }

 private:
  std::vector<StridedCopy> copies_;
  int64_t zeroed_bytes_;
};

StridedCopy transposition(const Op& op) {
  const Shape& x = op.operands[0].shape();
  const Shape& y = op.results[0].shape;
  const Dims from = packed_strides(x), to = packed_strides(y);
  const Dims& permutation = op.attributes.ints(Attr::kPermutation);
  std::vector<StridedCopy::Axis> axes;
  for (int64_t i = 0; i < to.size(); ++i) {
    axes.push_back({y.dims()[i], from[permutation[i]], to[i]});
  }
  return {axes, size_of(op.results[0].dtype)};
}

StridedCopy broadcasting(const Op& op) {
  const Shape& x = op.operands[0].shape();
  const Shape& y = op.results[0].shape;
  const Dims from = packed_strides(x), to = packed_strides(y);
  const int64_t more = y.rank() - x.rank();
  std::vector<StridedCopy::Axis> axes;
  for (int64_t i = 0; i < y.rank(); ++i) {
    const bool moves = i >= more && x[i - more] != 1;
    axes.push_back({y[i], moves ? from[i - more] : 0, to[i]});
  }
  return {axes, size_of(op.results[0].dtype)};
}

// Copies the slice to its packed form, or back for the gradient.
StridedCopy slicing(const Op& op, const Shape& whole, const Shape& part, bool back) {
  const Dims of_whole = packed_strides(whole), of_part = packed_strides(part);
  const Dims &starts = op.attributes.ints(Attr::kStarts), &ends = op.attributes.ints(Attr::kEnds),
             &strides = op.attributes.ints(Attr::kStrides);
  std::vector<StridedCopy::Axis> axes;
  int64_t offset = 0;
  for (int64_t i = 0; i < starts.size(); ++i) {
    const ir::SliceAxis s = ir::resolve_slice(starts[i], ends[i], strides[i], whole.dims()[i]);
    offset += s.start * of_whole[i];
    const int64_t step = s.stride * of_whole[i];
    axes.push_back(back ? StridedCopy::Axis{s.length, of_part[i], step}
                        : StridedCopy::Axis{s.length, step, of_part[i]});
  }
  const size_t width = size_of(op.results[0].dtype);
  return back ? StridedCopy(axes, width, 0, offset) : StridedCopy(axes, width, offset, 0);
}

// Fills the result with the second operand, then copies the first one to its position.
std::vector<StridedCopy> padding(const Op& op) {
  const Shape &x = op.operands[0].shape(), &y = op.results[0].shape;
  const Dims from = packed_strides(x), to = packed_strides(y);
  std::vector<StridedCopy::Axis> inside;
  int64_t offset = 0;
  for (int64_t i = 0; i < to.size(); ++i) {
    offset += op.attributes.ints(Attr::kPadding)[2 * i] * to[i];
    inside.push_back({x[i], from[i], to[i]});
  }
  const size_t width = size_of(op.results[0].dtype);
  return {StridedCopy(inside, width, 0, offset), StridedCopy({{y.element_count(), 0, 1}}, width)};
}

std::vector<StridedCopy> concatenation(const Op& op) {
  const Shape& y = op.results[0].shape;
  const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), y.rank());
  const Dims to = packed_strides(y);
  std::vector<StridedCopy> copies;
  int64_t offset = 0;
  for (const ir::Value& v : op.operands) {
    const Dims from = packed_strides(v.shape());
    std::vector<StridedCopy::Axis> axes;
    for (int64_t i = 0; i < to.size(); ++i) axes.push_back({v.shape().dims()[i], from[i], to[i]});
    copies.emplace_back(axes, size_of(v.dtype()), 0, offset);
    offset += v.shape().dims()[axis] * to[axis];
  }
  return copies;
}

}  // namespace

std::unique_ptr<Kernel> make_copy(const Op& op) { return std::make_unique<Copy>(op.results[0].byte_count()); }

std::unique_ptr<Kernel> make_zeros(const Op& op) { return std::make_unique<Zeros>(op.results[0].byte_count()); }

std::unique_ptr<Kernel> make_transpose(const Op& op) {
  return std::make_unique<Move>(std::vector{transposition(op)}, 0);
}

std::unique_ptr<Kernel> make_broadcast(const Op& op) {
  return std::make_unique<Move>(std::vector{broadcasting(op)}, 0);
}

std::unique_ptr<Kernel> make_slice(const Op& op) {
  return std::make_unique<Move>(std::vector{slicing(op, op.operands[0].shape(), op.results[0].shape, false)}, 0);
}

std::unique_ptr<Kernel> make_slice_gradient(const Op& op) {
  const Shape& x = op.operands[0].shape();
  const ir::Type& y = op.results[0];
  const bool covers = x.element_count() == y.shape.element_count();
  return std::make_unique<Move>(std::vector{slicing(op, y.shape, x, true)}, covers ? 0 : y.byte_count());
}

std::unique_ptr<Kernel> make_pad(const Op& op) { return std::make_unique<Move>(padding(op), 0); }

std::unique_ptr<Kernel> make_concat(const Op& op) { return std::make_unique<Move>(concatenation(op), 0); }

}  // namespace alloy::cpu
