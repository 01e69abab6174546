// Elements taken from places that indices tell, and added to such places.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "cpu/families.h"
#include "cpu/threads/parallel.h"
#include "ir/half.h"
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

// How an element is combined with an update.
enum class Mode : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kMinimum, kMaximum, kSet };

Mode mode_of(const Op& op) {
  constexpr const char* names[] = {"add", "subtract", "multiply", "divide", "minimum", "maximum", "set"};
  const auto found = std::find(std::begin(names), std::end(names), op.attributes.word(Attr::kMode));
  return static_cast<Mode>(found - std::begin(names));
}

// Integers wrap around.
template <class T>
struct WrappedType {
  using type = std::make_unsigned_t<T>;
};
template <>
struct WrappedType<float> {
  using type = float;
};
template <class T>
using Wrapped = typename WrappedType<T>::type;

// Of integers truncated toward zero; x / 0 is 0.
template <class T>
T quotient(T x, T by) {
  if constexpr (std::is_integral_v<T>) {
    if (by == 0) return 0;
    if (std::is_signed_v<T> && by == static_cast<T>(-1)) return static_cast<T>(-Wrapped<T>(x));
  }
  return x / by;
}

template <class T>
T combined(Mode mode, T x, T update) {
  switch (mode) {
    case Mode::kAdd: return static_cast<T>(Wrapped<T>(x) + Wrapped<T>(update));
    case Mode::kSubtract: return static_cast<T>(Wrapped<T>(x) - Wrapped<T>(update));
    case Mode::kMultiply: return static_cast<T>(Wrapped<T>(x) * Wrapped<T>(update));
    case Mode::kDivide: return quotient(x, update);
    case Mode::kMinimum: return update < x ? update : x;
    case Mode::kMaximum: return x < update ? update : x;
    case Mode::kSet: return update;
  }
  return x;
}

// Slices are combined into a copy of the data, or into the data themselves, one after the other. Threads divide what
// lies before the axis and behind it among them.
template <class Index>
class ScatterSlices final : public Kernel {
 public:
  using Combine = void (*)(Mode mode, std::byte* to, const std::byte* updates, int64_t bytes);

  ScatterSlices(const Op& op, Combine combine) : mode_(mode_of(op)), combine_(combine) {
    const Dims& x = op.operands[0].shape().dims();
    const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), x.size());
    places_ = count_of(x.begin(), x.begin() + axis);
    extent_ = x[axis];
    count_ = op.operands[2].shape().element_count();
    row_bytes_ = count_of(x.begin() + axis + 1, x.end()) * size_of(op.results[0].dtype);
  }

  bool in_place(size_t operand, size_t) const override { return operand == 0; }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const auto* const indices = reinterpret_cast<const Index*>(operands[2]);
    const int64_t blocks = ir::divide_up(row_bytes_, kBlock), copied = results[0] == operands[0] ? 0 : extent_;
    const int64_t work = (copied + count_) * (std::min(row_bytes_, kBlock) / 16 + 4);
    parallel_for(places_ * blocks, work, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t place = task / blocks, from = task % blocks * kBlock, bytes = std::min(kBlock, row_bytes_ - from);
        const auto row = [&](std::byte* array, int64_t extent, int64_t i) {
          return array + (place * extent + i) * row_bytes_ + from;
        };
        auto* const data = const_cast<std::byte*>(operands[0]);
        auto* const updates = const_cast<std::byte*>(operands[1]);
        for (int64_t i = 0; i < copied; ++i) std::memcpy(row(results[0], extent_, i), row(data, extent_, i), bytes);
        for (int64_t i = 0; i < count_; ++i) {
          const int64_t to = indices[i];
          if (to < 0 || to >= extent_) continue;
          if (mode_ == Mode::kSet) std::memcpy(row(results[0], extent_, to), row(updates, count_, i), bytes);
          else combine_(mode_, row(results[0], extent_, to), row(updates, count_, i), bytes);
        }
      }
    });
  }

 private:
  static constexpr int64_t kBlock = 4096;  // bytes of a row that one thread takes at once

  Mode mode_;
  Combine combine_;
  int64_t places_, extent_, count_, row_bytes_;
};

// Each element is combined as a number of type Wide.
template <class T, class Wide = T>
void combine_rows(Mode mode, std::byte* to, const std::byte* updates, int64_t bytes) {
  auto* const x = reinterpret_cast<T*>(to);
  const auto* const update = reinterpret_cast<const T*>(updates);
  for (int64_t i = 0; i < bytes / static_cast<int64_t>(sizeof(T)); ++i) {
    x[i] = static_cast<T>(combined(mode, static_cast<Wide>(x[i]), static_cast<Wide>(update[i])));
  }
}

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

std::unique_ptr<Kernel> make_scatter(const Op& op) {
  const auto with = [&](auto combine) -> std::unique_ptr<Kernel> {
    switch (op.operands[2].dtype()) {
      case ir::DType::int8: return std::make_unique<ScatterSlices<int8_t>>(op, combine);
      case ir::DType::int16: return std::make_unique<ScatterSlices<int16_t>>(op, combine);
      case ir::DType::int32: return std::make_unique<ScatterSlices<int32_t>>(op, combine);
      case ir::DType::uint8: return std::make_unique<ScatterSlices<uint8_t>>(op, combine);
      case ir::DType::uint16: return std::make_unique<ScatterSlices<uint16_t>>(op, combine);
      case ir::DType::uint32: return std::make_unique<ScatterSlices<uint32_t>>(op, combine);
      case ir::DType::int64:
      case ir::DType::uint64: return std::make_unique<ScatterSlices<int64_t>>(op, combine);
      default: refuse(op, op.operands[2].type());
    }
  };
  if (mode_of(op) == Mode::kSet) return with(nullptr);
  switch (op.results[0].dtype) {
    case ir::DType::float32: return with(combine_rows<float>);
    case ir::DType::float16: return with(combine_rows<ir::Float16, float>);
    case ir::DType::bfloat16: return with(combine_rows<ir::BFloat16, float>);
    case ir::DType::int8: return with(combine_rows<int8_t, int32_t>);
    case ir::DType::int16: return with(combine_rows<int16_t, int32_t>);
    case ir::DType::int32: return with(combine_rows<int32_t>);
    case ir::DType::int64: return with(combine_rows<int64_t>);
    case ir::DType::uint8: return with(combine_rows<uint8_t, int32_t>);
    case ir::DType::uint16: return with(combine_rows<uint16_t, int32_t>);
    case ir::DType::uint32: return with(combine_rows<uint32_t, int64_t>);
    case ir::DType::uint64: return with(combine_rows<uint64_t>);
    default: refuse(op, op.results[0]);
  }
}

}  // namespace alloy::cpu
