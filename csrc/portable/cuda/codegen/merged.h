// Several small launches as one.
#pragma once

#include <vector>

#include "cuda/codegen/code.h"

namespace alloy::cuda {

// The blocks of a merged launch are a cluster, whose barriers are quick.
inline constexpr unsigned kMergedBlocks = 8;

// True if the launch is so small that it takes about as long as beginning it.
bool is_small(const Launch& launch);

// A launch that computes these, one after the other. Its pointers are theirs, in this order. Its function depends on
// theirs alone, not on how often and in which order they are called.
Launch merged(const std::vector<const Launch*>& launches);
// The most bytes of arguments of a function.
inline constexpr size_t kMostArguments = 32000;
size_t argument_bytes(const std::vector<const Launch*>& launches);

}  // namespace alloy::cuda
