// Where in one stretch of memory each of many buffers lies that live for a while.
#pragma once

#include <cstddef>
#include <vector>

namespace alloy::compiler {

struct Lifetime {
  size_t bytes;        // a multiple of the alignment that every offset must have
  size_t first, last;  // times, inclusive
};

// An offset for each, so that no two that live at the same time overlap; and the end of the highest one. Near the least
// that there can be for some thousand buffers, of which the largest are placed first; of more, the smaller ones share a
// stretch of their own in the order of time, which takes n log n steps and may leave gaps.
struct Offsets {
  std::vector<size_t> of;
  size_t end = 0;
};
Offsets assign_offsets(const std::vector<Lifetime>& buffers);

}  // namespace alloy::compiler
