// A short list of integers: the dimensions of a shape, axes, strides. Up to six integers are stored in the object, so
// the shapes of most tensors allocate nothing. Counts and indices are int64_t like the elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>

namespace alloy::ir {

class Dims {
 public:
  using value_type = int64_t;
  using iterator = int64_t*;
  using const_iterator = const int64_t*;

  Dims() = default;
  explicit Dims(int64_t count, int64_t value = 0) { resize(count, value); }
  Dims(std::initializer_list<int64_t> values) : Dims(values.begin(), values.end()) {}
  template <std::forward_iterator Iterator>
  Dims(Iterator first, Iterator last) {
    resize(std::distance(first, last));
    std::copy(first, last, begin());
  }
  Dims(const Dims& other) : Dims(other.begin(), other.end()) {}
  Dims(Dims&& other) noexcept { take(other); }
  Dims& operator=(Dims other) noexcept {
    release();
    take(other);
    return *this;
  }
  ~Dims() { release(); }

  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return elements_; }
  const int64_t* data() const { return elements_; }
  int64_t* begin() { return elements_; }
  const int64_t* begin() const { return elements_; }
  int64_t* end() { return elements_ + size_; }
  const int64_t* end() const { return elements_ + size_; }
  auto rbegin() const { return std::make_reverse_iterator(end()); }
  auto rend() const { return std::make_reverse_iterator(begin()); }
  int64_t& operator[](int64_t i) { return elements_[i]; }
  int64_t operator[](int64_t i) const { return elements_[i]; }
  int64_t& front() { return *begin(); }
  int64_t front() const { return *begin(); }
  int64_t& back() { return end()[-1]; }
  int64_t back() const { return end()[-1]; }

  // New elements have this value.
  void resize(int64_t count, int64_t value = 0) {
    reserve(count);
    if (count > size_) std::fill(end(), begin() + count, value);
    size_ = count;
  }
  void reserve(int64_t count);
  void clear() { size_ = 0; }
  void push_back(int64_t value) {
    resize(size_ + 1);
    back() = value;
  }
  void pop_back() { --size_; }
  // Inserts before the element at `place`.
  void insert(const int64_t* place, int64_t value) { insert(place, &value, &value + 1); }
  template <std::forward_iterator Iterator>
  void insert(const int64_t* place, Iterator first, Iterator last) {
    const int64_t at = place - begin(), count = std::distance(first, last), tail = size_ - at;
    const Dims inserted(first, last);  // a copy, since the range may be part of this list
    resize(size_ + count);
    std::copy_backward(begin() + at, begin() + at + tail, end());
    std::copy(inserted.begin(), inserted.end(), begin() + at);
  }
  void erase(const int64_t* place) { erase(place, place + 1); }
  void erase(const int64_t* first, const int64_t* last) {
    size_ = std::copy(last, std::as_const(*this).end(), begin() + (first - begin())) - begin();
  }
  bool operator==(const Dims& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }
  bool operator<(const Dims& other) const {
    return std::lexicographical_compare(begin(), end(), other.begin(), other.end());
  }

 private:
  static constexpr int64_t kInside = 6;

  // Takes the elements of another list; this one must be empty.
  void take(Dims& other) noexcept;
  void release() {
    if (elements_ != inside_) delete[] elements_;
  }

  int64_t* elements_ = inside_;
  int64_t size_ = 0, room_ = kInside;
  int64_t inside_[kInside];
};

}  // namespace alloy::ir
