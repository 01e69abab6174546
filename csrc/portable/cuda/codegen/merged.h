// Several small launches as one.
#pragma once

#include <vector>

#include "cuda/codegen/code.h"

namespace alloy::cuda {

// The blocks of a merged launch in which all must wait for all: they are a cluster, whose barriers are quick.
inline constexpr unsigned kMergedBlocks = 8;

// True if the launch is so small that it takes about as long as beginning it.
bool is_small(const Launch& launch);

// What a part of a merged launch waits for: nothing, the parts before it in the same block, or all before it.
enum class Waiting : uint8_t { kNone, kBlock, kAll };
struct MergedPart {
  const Launch* launch;
  Waiting waiting;
};
// A launch that computes these, one after the other. Its pointers are theirs, in this order.
Launch merged(const std::vector<MergedPart>& parts);
// The same launch if a predicate of so many bytes, which are not all zero if it is true, is as wanted; else one that
// does nothing. The predicate is the last pointer.
Launch predicated(const Launch& launch, size_t bytes, bool wanted);
// The most that are one launch, each of which takes up to a third of a second to compile; and the most pointers of one.
inline constexpr size_t kMostParts = 24, kMostPointers = 4000;

}  // namespace alloy::cuda
