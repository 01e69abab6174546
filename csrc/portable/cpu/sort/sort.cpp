// The order of elements along an axis.
#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

#include "cpu/families.h"
#include "cpu/threads/parallel.h"

namespace alloy::cpu {
namespace {

using ir::Attr;
using ir::Op;

// An unsigned number of T's width with the order of the elements: -0 equals 0, and NaN is the greatest.
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

// A key and its position. Equal keys differ by the position, so every way of sorting keeps their order.
struct WideEntry {
  uint64_t key;
  int32_t position;

  static constexpr int kBytes = 8;  // of the key

  WideEntry(uint64_t key, int32_t position) : key(key), position(position) {}
  size_t byte(int i) const { return key >> 8 * i & 0xff; }
  bool operator<(const WideEntry& other) const {
    return key != other.key ? key < other.key : position < other.position;
  }
};
// Key and position in one number.
struct Entry {
  uint64_t both;

  static constexpr int kBytes = 4;

  Entry(uint32_t key, int32_t position) : both(uint64_t{key} << 32 | static_cast<uint32_t>(position)) {}
  size_t byte(int i) const { return both >> (32 + 8 * i) & 0xff; }
  bool operator<(const Entry& other) const { return both < other.both; }
};
int32_t position_of(const WideEntry& entry) { return entry.position; }
int32_t position_of(const Entry& entry) { return static_cast<int32_t>(entry.both); }

// Sorts entries, which are in the order of their positions, by the bytes of their keys, the last byte first. Returns
// the array that holds the result, which is one of the two.
template <class Pair>
Pair* sort_by_bytes(Pair* entries, Pair* other, int64_t count) {
  uint32_t starts[Pair::kBytes][256] = {};
  for (int64_t i = 0; i < count; ++i) {
    for (int k = 0; k < Pair::kBytes; ++k) ++starts[k][entries[i].byte(k)];
  }
  for (int k = 0; k < Pair::kBytes; ++k) {
    if (starts[k][entries[0].byte(k)] == count) continue;  // all keys have the same byte
    uint32_t next = 0;
    for (uint32_t& start : starts[k]) next += std::exchange(start, next);
    for (int64_t i = 0; i < count; ++i) other[starts[k][entries[i].byte(k)]++] = entries[i];
    std::swap(entries, other);
  }
  return entries;
}

template <class T>
class ArgSort final : public Kernel {
 public:
  explicit ArgSort(const Op& op) : descending_(op.attributes.flag(Attr::kDescending)) {
    const ir::Dims& x = op.operands[0].shape().dims();
    const int64_t axis = *ir::normalize_axis(op.attributes.integer(Attr::kAxis), x.size());
    for (int64_t i = 0; i < x.size(); ++i) (i < axis ? lines_ : i == axis ? extent_ : columns_) *= x[i];
    count_ = op.results[0].shape.dims()[axis];
  }

  size_t scratch_bytes() const override { return static_cast<size_t>(threads() * 2 * extent_) * sizeof(Pair); }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    parallel_shares(lines_ * columns_, extent_ * kWork, [&](int64_t share, int64_t begin, int64_t end) {
      Pair* const entries = reinterpret_cast<Pair*>(scratch) + share * 2 * extent_;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t line = i / columns_, column = i % columns_;
        sort(reinterpret_cast<const T*>(operands[0]) + line * extent_ * columns_ + column, entries,
             reinterpret_cast<int32_t*>(results[0]) + line * count_ * columns_ + column);
      }
    });
  }

 private:
  using Pair = std::conditional_t<sizeof(T) == 4, Entry, WideEntry>;
  static constexpr int64_t kWork = 32;       // to sort an element
  static constexpr int64_t kBytewise = 512;  // from this number of elements on, sorts by bytes instead of comparisons
  static constexpr int64_t kRoom = 256;      // entries from which the best are selected

  Pair entry(const T* x, int64_t i) const {
    const auto key = key_of(x[i * columns_]);
    return Pair(descending_ ? ~key : key, static_cast<int32_t>(i));
  }

  void sort(const T* x, Pair* entries, int32_t* positions) const {
    if (4 * count_ <= extent_) {
      select(x, entries);
    } else {
      for (int64_t i = 0; i < extent_; ++i) entries[i] = entry(x, i);
      if (extent_ >= kBytewise) entries = sort_by_bytes(entries, entries + extent_, extent_);
      else std::sort(entries, entries + extent_);
    }
    for (int64_t i = 0; i < count_; ++i) positions[i * columns_] = position_of(entries[i]);
  }

  // The first `count_` entries in order. Collects entries until there is no more room, keeps the best, and from then on
  // collects only entries that come before the last of these.
  void select(const T* x, Pair* entries) const {
    const int64_t room = std::max(2 * count_, std::min(kRoom, extent_));
    int64_t filled = 0;
    for (; filled < room; ++filled) entries[filled] = entry(x, filled);
    for (int64_t i = room; filled == room;) {
      std::nth_element(entries, entries + count_ - 1, entries + filled);
      const Pair last = entries[count_ - 1];
      for (filled = count_; i < extent_ && filled < room; ++i) {
        const Pair next = entry(x, i);
        if (next < last) entries[filled++] = next;
      }
    }
    std::nth_element(entries, entries + count_ - 1, entries + filled);
    std::sort(entries, entries + count_);
  }

  bool descending_;
  int64_t lines_ = 1, extent_ = 1, columns_ = 1, count_;  // before the axis, along it, after it; number wanted
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
