// Ops that a `fused` op may begin with: a product, a reduction or a gradient of pooling, whose elements other ops then
// compute with, in the same function.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cuda/codegen/code.h"

namespace alloy::cuda {

// Functions in the text of a launch, as arguments of a call, and what they use.
struct Functions {
  std::vector<const char*> libraries;
  std::string text;
  std::vector<Pointer> pointers;
  std::vector<int64_t> numbers;
  int64_t reads = 0;  // elements that they read for each one that they get
};
// Makes them for a launch with this many other pointers and numbers, which come first. They get one element at a time,
// or as many neighbours in memory as `width`, which is 4 then.
using Maker = std::function<Functions(size_t pointers, size_t numbers, int width)>;
// Adds what they use to the launch, and returns their text.
std::string add(Launch& launch, const Maker& maker, int width = 1);

// What becomes of each element of a leader's result is a function of the element's index, which reads what is needed
// then, and one of the index, what was read, and the element. This one stores the elements of the op's only result.
Maker storing(const ir::Op& op);

// True if the op may come first.
bool leads(const ir::Op& op);
// The code of such an op. It has operands of its own beside those that the op has: they have the numbers behind.
Code code_of_leader(const ir::Op& op, const Maker& finish);

Code code_of_product(const ir::Op& op, const Maker& finish);
Code code_of_reduction(const ir::Op& op, const Maker& finish);
// The code of reductions of several values of one shape to one shape. `source` is a function of an element's index that
// makes Fold::Number, of the elements of all these values; `finish` gets the same of all results.
Code code_of_reductions(const std::vector<const ir::Op*>& ops, const Maker& source, const Maker& finish);
// True if the op may be one of those, and then the ops that compute its operand may be `source`.
bool gathers(const ir::Op& op);
Code code_of_pooling_gradient(const ir::Op& op, const Maker& finish);

}  // namespace alloy::cuda
