// Elements taken from places that indices tell, and added to such places.
#include <cstring>
#include <vector>

#include "cpu/families.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"

namespace alloy::cpu {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;

int64_t count_of(const int64_t* begin, const int64_t* end) {
  int64_t count = 1;
  for (; begin != end; ++begin) count *= *begin;
  return count;
}

// Calls f with a zero of the type of the indices.
template <class F>
std::unique_ptr<Kernel> with_indices(const Op& op, const F& f) {
  switch (op.operands[1].dtype()) {
    case ir::DType::int8: return f(int8_t{});
    case ir::DType::int16: return f(int16_t{});
    case ir::DType::int32: return f(int32_t{});
    case ir::DType::int64: return f(int64_t{});
    case ir::DType::uint8: return f(uint8_t{});
    case ir::DType::uint16: return f(uint16_t{});
    case ir::DType::uint32: return f(uint32_t{});
    case ir::DType::uint64: return f(int64_t{});  // none that is inside is so large that it differs
    default: refuse(op, op.operands[1].type());
  }
}

// For each batch, each place before the axis and each index a row of bytes: what lies behind the axis.
template <class Index>
class Gather final : public Kernel {
 public:
  explicit Gather(const Op& op) {
    const Dims &x = op.operands[0].shape().dims(), &indices = op.operands[1].shape().dims();
    const int64_t batch = op.attributes.integer(Attr::kBatchDims),
                  axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), x.size());
    batches_ = count_of(x.begin(), x.begin() + batch);
    places_ = count_of(x.begin() + batch, x.begin() + axis);
    extent_ = x[axis];
    count_ = count_of(indices.begin() + batch, indices.end());
    row_bytes_ = count_of(x.begin() + axis + 1, x.end()) * size_of(op.results[0].dtype);
  }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const auto* const indices = reinterpret_cast<const Index*>(operands[1]);
    parallel_for(batches_ * places_ * count_, row_bytes_ / 16 + 4, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t place = row / count_, index = indices[place / places_ * count_ + row % count_];
        std::byte* const to = results[0] + row * row_bytes_;
        if (index < 0 || index >= extent_) std::memset(to, 0, row_bytes_);
        else std::memcpy(to, operands[0] + (place * extent_ + index) * row_bytes_, row_bytes_);
      }
    });
  }

 private:
  int64_t batches_, places_, extent_, count_, row_bytes_;
};

// Rows of elements are added one after the other, so that the sum does not depend on the number of threads, which
// divide batches and columns among them.
template <class T, class Index>
class Scatter final : public Kernel {
 public:
  explicit Scatter(const Op& op) {
    const Dims &to = op.results[0].shape.dims(), &indices = op.operands[1].shape().dims();
    const int64_t batch = op.attributes.integer(Attr::kBatchDims), tuple = indices.back();
    batches_ = count_of(to.begin(), to.begin() + batch);
    extents_ = Dims(to.begin() + batch, to.begin() + batch + tuple);
    rows_ = count_of(extents_.begin(), extents_.end());
    columns_ = count_of(to.begin() + batch + tuple, to.end());
    count_ = count_of(indices.begin() + batch, indices.end() - 1);
  }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const int64_t blocks = ir::divide_up(columns_, kColumns), work = (rows_ + count_) * std::min(columns_, kColumns);
    parallel_for(batches_ * blocks, work, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t batch = task / blocks, column = task % blocks * kColumns;
        add(reinterpret_cast<const T*>(operands[0]) + batch * count_ * columns_ + column,
            reinterpret_cast<const Index*>(operands[1]) + batch * count_ * extents_.size(),
            reinterpret_cast<T*>(results[0]) + batch * rows_ * columns_ + column,
            std::min(kColumns, columns_ - column));
      }
    });
  }

 private:
  static constexpr int64_t kColumns = 64;  // that one thread adds at once

  void add(const T* updates, const Index* tuples, T* to, int64_t columns) const {
    for (int64_t row = 0; row < rows_; ++row) std::memset(to + row * columns_, 0, columns * sizeof(T));
    for (int64_t i = 0; i < count_; ++i, updates += columns_, tuples += extents_.size()) {
      const int64_t row = row_of(tuples);
      if (row < 0) continue;
      T* const sum = to + row * columns_;
      for (int64_t c = 0; c < columns; ++c) sum[c] += updates[c];
    }
  }

  // -1: outside.
  int64_t row_of(const Index* tuple) const {
    int64_t row = 0;
    for (int64_t k = 0; k < extents_.size(); ++k) {
      if (tuple[k] < 0 || tuple[k] >= extents_[k]) return -1;
      row = row * extents_[k] + tuple[k];
    }
    return row;
  }

  int64_t batches_, rows_, columns_, count_;
  Dims extents_;
};

}  // namespace

std::unique_ptr<Kernel> make_gather(const Op& op) {
  return with_indices(op, [&](auto index) { return std::make_unique<Gather<decltype(index)>>(op); });
}

std::unique_ptr<Kernel> make_scatter_nd(const Op& op) {
  return with_indices(op, [&](auto index) -> std::unique_ptr<Kernel> {
    using Index = decltype(index);
    switch (op.results[0].dtype) {
      case ir::DType::float32: return std::make_unique<Scatter<float, Index>>(op);
      case ir::DType::int32: return std::make_unique<Scatter<uint32_t, Index>>(op);  // which wraps around
      case ir::DType::int64:
      case ir::DType::uint64: return std::make_unique<Scatter<uint64_t, Index>>(op);
      default: refuse(op, op.results[0]);
    }
  });
}

}  // namespace alloy::cpu
