// Ops that a `fused` op may begin with: a product, a reduction or a gradient of pooling, whose elements other ops then
// compute with, in the same function.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cuda/codegen/code.h"

namespace alloy::cuda {

// What becomes of each element of an op's result: it is stored, or other ops compute with it first.
struct Finish {
  std::vector<const char*> libraries;
  // Functions of an element's index: of what is read for it, and of what follows from that and the element.
  std::string read, write;
  std::vector<Pointer> pointers;
  std::vector<int64_t> numbers;
};

// Makes that for a function with this many other pointers and numbers, which come first.
using Finisher = std::function<Finish(size_t pointers, size_t numbers)>;
// Stores the elements of the op's only result.
Finisher storing(const ir::Op& op);

// Adds what it needs to a launch; its functions are then two arguments of a call.
std::string add_finish(Launch& launch, const Finisher& finisher);

// True if the op may come first.
bool leads(const ir::Op& op);
// The code of such an op. It has operands of its own beside those that the op has: they have the numbers behind.
Code code_of_leader(const ir::Op& op, const Finisher& finisher);

Code code_of_product(const ir::Op& op, const Finisher& finisher);
Code code_of_reduction(const ir::Op& op, const Finisher& finisher);
Code code_of_pooling_gradient(const ir::Op& op, const Finisher& finisher);

}  // namespace alloy::cuda
