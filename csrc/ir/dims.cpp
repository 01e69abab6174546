#include "ir/dims.h"

namespace alloy::ir {

void Dims::reserve(int64_t count) {
  if (count <= room_) return;
  const int64_t room = std::max(count, 2 * room_);
  int64_t* const elements = new int64_t[room];
  std::copy(begin(), end(), elements);
  release();
  elements_ = elements;
  room_ = room;
}

void Dims::take(Dims& other) noexcept {
  if (other.elements_ == other.inside_) {
    std::copy(other.begin(), other.end(), inside_);
    elements_ = inside_;
    room_ = kInside;
  } else {
    elements_ = std::exchange(other.elements_, other.inside_);
    room_ = std::exchange(other.room_, kInside);
  }
  size_ = std::exchange(other.size_, 0);
}

}  // namespace alloy::ir
