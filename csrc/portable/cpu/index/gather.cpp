// Gathering elements by indices, and scattering elements to indices.
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

// Calls f with a zero of the type of the indices, which are operand number `operand`.
template <class F>
std::unique_ptr<Kernel> with_indices(const Op& op, size_t operand, const F& f) {
  switch (op.operands[operand].dtype()) {
    case ir::DType::int8: return f(int8_t{});
    case ir::DType::int16: return f(int16_t{});
    case ir::DType::int32: return f(int32_t{});
    case ir::DType::int64: return f(int64_t{});
    case ir::DType::uint8: return f(uint8_t{});
    case ir::DType::uint16: return f(uint16_t{});
    case ir::DType::uint32: return f(uint32_t{});
    case ir::DType::uint64: return f(int64_t{});  // indices inside the axis are the same in both types
    default: refuse(op, op.operands[operand].type());
  }
}

// Positions that tuples of indices select, after the batch dimensions.
struct Tuples {
  int64_t batches, rows, columns, count;  // in a batch: rows of `columns` elements, and tuples
  Dims extents;                           // of the axes that a tuple indexes

  Tuples(const Dims& x, const Dims& indices, int64_t batch) {
    const int64_t tuple = indices.back();
    batches = count_of(x.begin(), x.begin() + batch);
    extents = Dims(x.begin() + batch, x.begin() + batch + tuple);
    rows = count_of(extents.begin(), extents.end());
    columns = count_of(x.begin() + batch + tuple, x.end());
    count = count_of(indices.begin() + batch, indices.end() - 1);
  }

  // -1 if the tuple is outside.
  template <class Index>
  int64_t row_of(const Index* tuple) const {
    int64_t row = 0;
    for (int64_t k = 0; k < extents.size(); ++k) {
      if (tuple[k] < 0 || tuple[k] >= extents[k]) return -1;
      row = row * extents[k] + tuple[k];
    }
    return row;
  }
};

// For each batch, each position before the axis and each index, copies the bytes after the axis.
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

// Copies a row of bytes for each tuple of indices.
template <class Index>
class GatherTuples final : public Kernel {
 public:
  explicit GatherTuples(const Op& op)
      : tuples_(op.operands[0].shape().dims(), op.operands[1].shape().dims(), op.attributes.integer(Attr::kBatchDims)),
        row_bytes_(tuples_.columns * static_cast<int64_t>(size_of(op.results[0].dtype))) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const auto* const indices = reinterpret_cast<const Index*>(operands[1]);
    const int64_t width = tuples_.extents.size();
    parallel_for(tuples_.batches * tuples_.count, row_bytes_ / 16 + 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = tuples_.row_of(indices + i * width);
        std::byte* const to = results[0] + i * row_bytes_;
        if (row < 0) std::memset(to, 0, row_bytes_);
        else std::memcpy(to, operands[0] + (i / tuples_.count * tuples_.rows + row) * row_bytes_, row_bytes_);
      }
    });
  }

 private:
  Tuples tuples_;
  int64_t row_bytes_;
};

// Rows are added in order, so the sum does not depend on the number of threads, which divide batches and columns.
template <class T, class Index>
class Scatter final : public Kernel {
 public:
  explicit Scatter(const Op& op)
      : tuples_(op.results[0].shape.dims(), op.operands[1].shape().dims(), op.attributes.integer(Attr::kBatchDims)) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const Tuples& t = tuples_;
    const int64_t blocks = ir::divide_up(t.columns, kColumns),
                  work = (t.rows + t.count) * std::min(t.columns, kColumns);
    parallel_for(t.batches * blocks, work, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t batch = task / blocks, column = task % blocks * kColumns;
        add(reinterpret_cast<const T*>(operands[0]) + batch * t.count * t.columns + column,
            reinterpret_cast<const Index*>(operands[1]) + batch * t.count * t.extents.size(),
            reinterpret_cast<T*>(results[0]) + batch * t.rows * t.columns + column,
            std::min(kColumns, t.columns - column));
      }
    });
  }

 private:
  static constexpr int64_t kColumns = 64;  // that a thread adds at once

  void add(const T* updates, const Index* indices, T* to, int64_t columns) const {
    const Tuples& t = tuples_;
    for (int64_t row = 0; row < t.rows; ++row) std::memset(to + row * t.columns, 0, columns * sizeof(T));
    for (int64_t i = 0; i < t.count; ++i, updates += t.columns, indices += t.extents.size()) {
      const int64_t row = t.row_of(indices);
      if (row < 0) continue;
      T* const sum = to + row * t.columns;
      for (int64_t c = 0; c < columns; ++c) sum[c] += updates[c];
    }
  }

  Tuples tuples_;
};

// Combines an element with an update.
enum class Mode : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kMinimum, kMaximum, kSet };

Mode mode_of(const Op& op) {
  constexpr const char* names[] = {"add", "subtract", "multiply", "divide", "minimum", "maximum", "set"};
  const auto found = std::find(std::begin(names), std::end(names), op.attributes.word(Attr::kMode));
  return static_cast<Mode>(found - std::begin(names));
}

// Arithmetic on unsigned integers wraps around.
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

// Integer quotients truncate toward zero; x / 0 is 0.
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

// Combines `bytes` bytes of updates with those at `to`.
using Combine = void (*)(Mode mode, std::byte* to, const std::byte* updates, int64_t bytes);

constexpr int64_t kBlock = 4096;  // bytes of a row that a thread combines at once

// Combines slices in order into a copy of the data, or into the data. Threads divide the positions before and after the
// axis.
template <class Index>
class ScatterSlices final : public Kernel {
 public:
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
  Mode mode_;
  Combine combine_;
  int64_t places_, extent_, count_, row_bytes_;
};

// The same for rows at tuples of indices; threads divide batches and columns.
template <class Index>
class ScatterTuples final : public Kernel {
 public:
  ScatterTuples(const Op& op, Combine combine)
      : tuples_(op.operands[0].shape().dims(), op.operands[2].shape().dims(), op.attributes.integer(Attr::kBatchDims)),
        row_bytes_(tuples_.columns * static_cast<int64_t>(size_of(op.results[0].dtype))),
        mode_(mode_of(op)),
        combine_(combine) {}

  bool in_place(size_t operand, size_t) const override { return operand == 0; }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte*) const override {
    const Tuples& t = tuples_;
    const int64_t blocks = ir::divide_up(row_bytes_, kBlock), copied = results[0] == operands[0] ? 0 : t.rows;
    const int64_t work = (copied + t.count) * (std::min(row_bytes_, kBlock) / 16 + 4);
    parallel_for(t.batches * blocks, work, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t batch = task / blocks, from = task % blocks * kBlock, bytes = std::min(kBlock, row_bytes_ - from),
                      before = batch * t.rows * row_bytes_ + from;
        if (copied > 0) copy(operands[0] + before, results[0] + before, bytes);
        combine(operands[1] + batch * t.count * row_bytes_ + from,
                reinterpret_cast<const Index*>(operands[2]) + batch * t.count * t.extents.size(), results[0] + before,
                bytes);
      }
    });
  }

 private:
  void copy(const std::byte* data, std::byte* to, int64_t bytes) const {
    const int64_t rows = bytes == row_bytes_ ? 1 : tuples_.rows,
                  each = bytes == row_bytes_ ? tuples_.rows * bytes : bytes;
    for (int64_t row = 0; row < rows; ++row) std::memcpy(to + row * row_bytes_, data + row * row_bytes_, each);
  }

  void combine(const std::byte* updates, const Index* indices, std::byte* to, int64_t bytes) const {
    for (int64_t i = 0; i < tuples_.count; ++i, updates += row_bytes_, indices += tuples_.extents.size()) {
      const int64_t row = tuples_.row_of(indices);
      if (row < 0) continue;
      if (mode_ == Mode::kSet) std::memcpy(to + row * row_bytes_, updates, bytes);
      else combine_(mode_, to + row * row_bytes_, updates, bytes);
    }
  }

  Tuples tuples_;
  int64_t row_bytes_;
  Mode mode_;
  Combine combine_;
};

// Combines elements as numbers of type Wide.
template <class T, class Wide = T>
void combine_rows(Mode mode, std::byte* to, const std::byte* updates, int64_t bytes) {
  auto* const x = reinterpret_cast<T*>(to);
  const auto* const update = reinterpret_cast<const T*>(updates);
  for (int64_t i = 0; i < bytes / static_cast<int64_t>(sizeof(T)); ++i) {
    x[i] = static_cast<T>(combined(mode, static_cast<Wide>(x[i]), static_cast<Wide>(update[i])));
  }
}

// By element type; null for kSet.
Combine combine_of(const Op& op) {
  if (mode_of(op) == Mode::kSet) return nullptr;
  switch (op.results[0].dtype) {
    case ir::DType::float32: return combine_rows<float>;
    case ir::DType::float16: return combine_rows<ir::Float16, float>;
    case ir::DType::bfloat16: return combine_rows<ir::BFloat16, float>;
    case ir::DType::int8: return combine_rows<int8_t, int32_t>;
    case ir::DType::int16: return combine_rows<int16_t, int32_t>;
    case ir::DType::int32: return combine_rows<int32_t>;
    case ir::DType::int64: return combine_rows<int64_t>;
    case ir::DType::uint8: return combine_rows<uint8_t, int32_t>;
    case ir::DType::uint16: return combine_rows<uint16_t, int32_t>;
    case ir::DType::uint32: return combine_rows<uint32_t, int64_t>;
    case ir::DType::uint64: return combine_rows<uint64_t>;
    default: refuse(op, op.results[0]);
  }
}

}  // namespace

std::unique_ptr<Kernel> make_gather(const Op& op) {
  return with_indices(op, 1, [&](auto index) { return std::make_unique<Gather<decltype(index)>>(op); });
}

std::unique_ptr<Kernel> make_gather_nd(const Op& op) {
  return with_indices(op, 1, [&](auto index) { return std::make_unique<GatherTuples<decltype(index)>>(op); });
}

std::unique_ptr<Kernel> make_scatter_nd(const Op& op) {
  return with_indices(op, 1, [&](auto index) -> std::unique_ptr<Kernel> {
    using Index = decltype(index);
    switch (op.results[0].dtype) {
      case ir::DType::float32: return std::make_unique<Scatter<float, Index>>(op);
      case ir::DType::int32: return std::make_unique<Scatter<uint32_t, Index>>(op);  // unsigned, to wrap around
      case ir::DType::int64:
      case ir::DType::uint64: return std::make_unique<Scatter<uint64_t, Index>>(op);
      default: refuse(op, op.results[0]);
    }
  });
}

std::unique_ptr<Kernel> make_scatter(const Op& op) {
  return with_indices(op, 2,
                      [&](auto index) { return std::make_unique<ScatterSlices<decltype(index)>>(op, combine_of(op)); });
}

std::unique_ptr<Kernel> make_scatter_nd_update(const Op& op) {
  return with_indices(op, 2,
                      [&](auto index) { return std::make_unique<ScatterTuples<decltype(index)>>(op, combine_of(op)); });
}

}  // namespace alloy::cpu
