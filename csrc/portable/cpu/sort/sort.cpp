// The order of elements along an axis.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "cpu/families.h"
#include "cpu/threads/parallel.h"

namespace alloy::cpu {
namespace {

using ir::Attr;
using ir::Op;

// An unsigned number of the width of T that is in the order of the elements: -0 equals 0, and NaN is the greatest.
template <class T>
auto key_of(T x) {
  if constexpr (std::is_same_v<T, float>) {
    if (x != x) return ~uint32_t{0};
    const auto bits = std::bit_cast<uint32_t>(x + 0.0F);
    return bits >> 31 != 0 ? ~bits : bits | uint32_t{1} << 31;
  } else {
    using Key = std::make_unsigned_t<T>;
    return static_cast<Key>(static_cast<Key>(x) ^ (std::is_signed_v<T> ? Key{1} << (8 * sizeof(T) - 1) : 0));
  }
}

// A key and its position, which makes equal keys differ, so that any way of sorting keeps their order.
struct WideEntry {
  uint64_t key;
  int32_t position;

  WideEntry(uint64_t key, int32_t position) : key(key), position(position) {}
  bool operator<(const WideEntry& other) const {
    return key != other.key ? key < other.key : position < other.position;
  }
};
// Both in one number.
struct Entry {
  uint64_t both;

  Entry(uint32_t key, int32_t position) : both(uint64_t{key} << 32 | static_cast<uint32_t>(position)) {}
  bool operator<(const Entry& other) const { return both < other.both; }
};
int32_t position_of(const WideEntry& entry) { return entry.position; }
int32_t position_of(const Entry& entry) { return static_cast<int32_t>(entry.both); }

template <class T>
class ArgSort final : public Kernel {
 public:
  explicit ArgSort(const Op& op) : descending_(op.attributes.flag(Attr::kDescending)) {
    const ir::Dims& x = op.operands[0].shape().dims();
    const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), x.size());
    for (int64_t i = 0; i < x.size(); ++i) (i < axis ? lines_ : i == axis ? extent_ : columns_) *= x[i];
    count_ = op.results[0].shape.dims()[axis];
  }

  size_t scratch_bytes() const override { return static_cast<size_t>(threads() * extent_) * sizeof(Pair); }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    parallel_shares(lines_ * columns_, extent_ * kWork, [&](int64_t share, int64_t begin, int64_t end) {
      Pair* const entries = reinterpret_cast<Pair*>(scratch) + share * extent_;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t line = i / columns_, column = i % columns_;
        sort(reinterpret_cast<const T*>(operands[0]) + line * extent_ * columns_ + column, entries,
             reinterpret_cast<int32_t*>(results[0]) + line * count_ * columns_ + column);
      }
    });
  }

 private:
  using Pair = std::conditional_t<sizeof(T) == 4, Entry, WideEntry>;
  static constexpr int64_t kWork = 32;  // of an element that is sorted

  void sort(const T* x, Pair* entries, int32_t* positions) const {
    for (int64_t i = 0; i < extent_; ++i) {
      const auto key = key_of(x[i * columns_]);
      entries[i] = Pair(descending_ ? ~key : key, static_cast<int32_t>(i));
    }
    if (count_ < extent_) std::nth_element(entries, entries + count_, entries + extent_);
    std::sort(entries, entries + count_);
    for (int64_t i = 0; i < count_; ++i) positions[i * columns_] = position_of(entries[i]);
  }

  bool descending_;
  int64_t lines_ = 1, extent_ = 1, columns_ = 1, count_;  // before the axis, along it, behind it; how many are wanted
};

}  // namespace

std::unique_ptr<Kernel> make_argsort(const Op& op) {
  switch (op.operands[0].dtype()) {
    case ir::DType::float32: return std::make_unique<ArgSort<float>>(op);
    case ir::DType::int32: return std::make_unique<ArgSort<int32_t>>(op);
    case ir::DType::int64: return std::make_unique<ArgSort<int64_t>>(op);
    case ir::DType::uint64: return std::make_unique<ArgSort<uint64_t>>(op);
    default: refuse(op, op.operands[0].type());
  }
}

}  // namespace alloy::cpu
