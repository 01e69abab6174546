#include "compiler/offsets.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace alloy::compiler {
namespace {

// The number of buffers that are compared with each other.
constexpr size_t kMostCompared = 8192;

// Places each buffer at the lowest offset where no buffer with an overlapping lifetime is.
class Heap {
 public:
  size_t place(const Lifetime& buffer) {
    size_t offset = 0;
    for (const Placed& other : placed_) {  // by ascending offset
      if (other.lifetime.last < buffer.first || buffer.last < other.lifetime.first) continue;
      if (offset + buffer.bytes <= other.offset) break;
      offset = std::max(offset, other.offset + other.lifetime.bytes);
    }
    const auto behind = std::upper_bound(placed_.begin(), placed_.end(), offset,
                                         [](size_t at, const Placed& other) { return at < other.offset; });
    placed_.insert(behind, {offset, buffer});
    return offset;
  }

 private:
  struct Placed {
    size_t offset;
    Lifetime lifetime;
  };
  std::vector<Placed> placed_;
};

// The free gaps of a range of memory. A buffer takes the smallest gap that is large enough; if there is none, the range
// grows.
class Gaps {
 public:
  explicit Gaps(size_t begin) : end_(begin) {}

  size_t end() const { return end_; }

  size_t take(size_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) {
      const size_t offset = ends_with_gap() ? by_offset_.rbegin()->first : end_;
      if (offset != end_) remove(offset);
      end_ = offset + bytes;
      return offset;
    }
    const auto [size, offset] = *fit;
    remove(offset);
    if (size > bytes) add(offset + bytes, size - bytes);
    return offset;
  }

  void give_back(size_t offset, size_t bytes) {
    const auto next = by_offset_.lower_bound(offset);
    const size_t behind = next == by_offset_.end() ? end_ : next->first;
    size_t begin = offset, end = offset + bytes;
    if (next != by_offset_.begin()) {
      const auto [at, size] = *std::prev(next);
      if (at + size == offset) begin = at;
    }
    if (next != by_offset_.end() && behind == end) {
      end += next->second;
      remove(behind);
    }
    if (begin != offset) remove(begin);
    add(begin, end - begin);
  }

 private:
  bool ends_with_gap() const {
    return !by_offset_.empty() && by_offset_.rbegin()->first + by_offset_.rbegin()->second == end_;
  }
  void add(size_t offset, size_t bytes) {
    by_offset_[offset] = bytes;
    by_size_.insert({bytes, offset});
  }
  void remove(size_t offset) {
    by_size_.erase({by_offset_.at(offset), offset});
    by_offset_.erase(offset);
  }

  std::map<size_t, size_t> by_offset_;           // bytes by offset
  std::set<std::pair<size_t, size_t>> by_size_;  // (bytes, offset)
  size_t end_;
};

void place_in_order_of_time(const std::vector<Lifetime>& buffers, std::vector<size_t> order, Offsets& offsets) {
  std::vector<size_t> ending = order;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return buffers[a].first < buffers[b].first; });
  std::stable_sort(ending.begin(), ending.end(), [&](size_t a, size_t b) { return buffers[a].last < buffers[b].last; });
  Gaps gaps(offsets.end);
  auto ended = ending.begin();
  for (const size_t b : order) {
    for (; buffers[*ended].last < buffers[b].first; ++ended) gaps.give_back(offsets.of[*ended], buffers[*ended].bytes);
    offsets.of[b] = gaps.take(buffers[b].bytes);
  }
  offsets.end = gaps.end();
}

}  // namespace

Offsets assign_offsets(const std::vector<Lifetime>& buffers) {
  Offsets offsets{std::vector<size_t>(buffers.size(), 0)};
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t b) { return buffers[b].bytes == 0; });
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  const auto rest = order.begin() + static_cast<long>(std::min(order.size(), kMostCompared));
  Heap heap;
  for (auto it = order.begin(); it != rest; ++it) {
    offsets.of[*it] = heap.place(buffers[*it]);
    offsets.end = std::max(offsets.end, offsets.of[*it] + buffers[*it].bytes);
  }
  if (rest != order.end()) place_in_order_of_time(buffers, {rest, order.end()}, offsets);
  return offsets;
}

}  // namespace alloy::compiler
