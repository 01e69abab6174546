// Positions in packed row-major arrays, and how the elements of operands that broadcast meet.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/shape.h"

namespace alloy::test {

inline size_t count_of(const ir::Dims& dims) {
  size_t count = 1;
  for (int64_t d : dims) count *= static_cast<size_t>(d);
  return count;
}

// Calls f with every index into `dims`, in row-major order.
template <class F>
void for_each_index(const ir::Dims& dims, const F& f) {
  ir::Dims index(dims.size(), 0);
  for (size_t left = count_of(dims); left > 0; --left) {
    f(static_cast<const ir::Dims&>(index));
    for (size_t axis = dims.size(); axis-- > 0 && ++index[axis] == dims[axis];) index[axis] = 0;
  }
}

// The position of `index`, aligned at the trailing dimension, in an array that broadcasts to it.
inline size_t position(const ir::Dims& dims, const ir::Dims& index) {
  size_t at = 0;
  for (int64_t i = 0; i < dims.size(); ++i) {
    const int64_t k = dims[i] == 1 ? 0 : index[index.size() - dims.size() + i];
    at = at * static_cast<size_t>(dims[i]) + static_cast<size_t>(k);
  }
  return at;
}

}  // namespace alloy::test
