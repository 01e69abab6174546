// Places buffers with limited lifetimes in one block of memory.
#pragma once

#include <cstddef>
#include <vector>

namespace alloy::compiler {

struct Lifetime {
  size_t bytes;        // a multiple of the alignment that every offset must have
  size_t first, last;  // times, inclusive
};

// An offset for each buffer, so that no two with overlapping lifetimes overlap, and the end of the highest one. The
// largest buffers are placed first. For up to some thousand buffers the end is near the possible minimum. If there are
// more, the smaller ones share a block of their own in the order of time, which takes n log n steps and may leave gaps.
struct Offsets {
  std::vector<size_t> of;
  size_t end = 0;
};
Offsets assign_offsets(const std::vector<Lifetime>& buffers);

}  // namespace alloy::compiler
