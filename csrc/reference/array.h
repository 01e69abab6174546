// Arrays of numbers in row-major order, and positions of their elements.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/shape.h"

namespace alloy::reference {

using namespace ir;

inline size_t count_of(const Dims& dims) {
  size_t count = 1;
  for (int64_t d : dims) count *= static_cast<size_t>(d);
  return count;
}

// The elements of a tensor; those of a bool are 0 and 1.
template <class N>
struct Numbers {
  Dims dims;
  std::vector<N> values;

  Numbers() = default;
  Numbers(Dims d, std::vector<N> v) : dims(std::move(d)), values(std::move(v)) {}
  explicit Numbers(Dims d, N fill = 0) : dims(std::move(d)), values(count_of(dims), fill) {}
  size_t size() const { return values.size(); }
};

using Array = Numbers<double>;

// ---- positions ----

// Calls f with every index into `dims`, in row-major order.
template <class F>
void for_each_index(const Dims& dims, const F& f) {
  Dims index(dims.size(), 0);
  for (size_t left = count_of(dims); left > 0; --left) {
    f(static_cast<const Dims&>(index));
    for (int64_t axis = dims.size(); axis-- > 0 && ++index[axis] == dims[axis];) index[axis] = 0;
  }
}

// The position of `index`, aligned at the trailing dimension, in an array that broadcasts to the index's shape.
inline size_t position(const Dims& dims, const Dims& index) {
  size_t at = 0;
  for (int64_t i = 0; i < dims.size(); ++i) {
    const int64_t k = dims[i] == 1 ? 0 : index[index.size() - dims.size() + i];
    at = at * static_cast<size_t>(dims[i]) + static_cast<size_t>(k);
  }
  return at;
}

// The distance between neighbours along each axis.
inline Dims steps_of(const Dims& dims) {
  Dims steps(dims.size(), 1);
  for (int64_t i = dims.size() - 1; i > 0; --i) steps[i - 1] = steps[i] * dims[i];
  return steps;
}

// The same along the axes of an array of shape `to` to which this one broadcasts.
inline Dims steps_of(const Dims& dims, const Dims& to) {
  const Dims own = steps_of(dims);
  Dims steps(to.size(), 0);
  for (int64_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1) steps[to.size() - dims.size() + i] = own[i];
  }
  return steps;
}

// Calls f with a position for every index into `dims`, in row-major order: `first`, plus `steps` times the index.
template <class F>
void for_each_place(const Dims& dims, const Dims& steps, int64_t first, const F& f) {
  if (dims.empty()) return f(static_cast<size_t>(first));
  const int64_t last = dims.size() - 1;
  for_each_index(Dims(dims.begin(), dims.begin() + last), [&](const Dims& index) {
    int64_t at = first;
    for (int64_t i = 0; i < last; ++i) at += index[i] * steps[i];
    for (int64_t k = 0; k < dims[last]; ++k, at += steps[last]) f(static_cast<size_t>(at));
  });
}

}  // namespace alloy::reference
