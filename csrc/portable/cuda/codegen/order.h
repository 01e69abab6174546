// Sorting, for other ops, too.
#pragma once

#include <string>

#include "cuda/codegen/code.h"

namespace alloy::cuda {

// Lines longer than this are sorted by merging.
inline constexpr int64_t kLongLine = 512;

// `count` elements in lines of `length` elements at distance `step`.
struct Sorting {
  std::string type;  // of the elements
  bool is_descending;
  Pointer x;
  int64_t count, length, step;
};

// Sorts by merging. Returns where the int32 positions of each line lie in the scratch, line by line.
Pointer append_sort(Code& code, const Sorting& sorting);

}  // namespace alloy::cuda
