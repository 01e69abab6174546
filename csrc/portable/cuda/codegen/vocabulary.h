// The text that every source begins with: types of elements and numbers, loops over elements, and the functions of the
// columns forward, init and combine of ops.def.
#pragma once

namespace alloy::cuda {

extern const char* const kVocabulary;

}  // namespace alloy::cuda
