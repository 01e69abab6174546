// The functions that make code: code_of_NAME for each NAME in the column `kernel` of ops.def. A missing function does
// not link: lacking.cpp has those that only refuse.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "cuda/codegen/code.h"

namespace alloy::cuda {

#define ALLOY_OP(name, fewest, most, results, attributes, facts, kernel, doc) Code code_of_##kernel(const ir::Op& op);
#include "ir/ops.def"

Code code_of_elementwise(const ir::Op& op);  // table ops except reductions
Code code_of_reduction(const ir::Op& op);    // reductions of the table, moments, argmax and argmin
Code code_of_copy(const ir::Op& op);         // copies the bytes; the shape may differ

// Throws Lacking for an op whose first operand is not float32.
void require_float(const ir::Op& op);

// ---- names of types in the vocabulary ----

// The type of an array's elements, and of the numbers that compute with them.
std::string element_of(ir::DType dtype);
std::string number_of(ir::DType dtype);
// The integer with a type's bits, for ops that only move elements.
std::string bits_of(ir::DType dtype);

// ---- loops ----

// The axes over which a function loops, from the slowest, and the steps of each array along them.
struct Axes {
  ir::Dims lengths;
  std::vector<ir::Dims> steps;

  int64_t rank() const { return lengths.size(); }
  int64_t count() const;
  // Appends the lengths and all steps.
  void append_to(std::vector<int64_t>& numbers) const;
};

// The same loop over as few axes as possible.
Axes joined(const Axes& axes);

// The reciprocal of a divisor up to 2^31 for the vocabulary's divided(), which is exact; that of 1 for 0: Granlund and
// Montgomery, "Division by Invariant Integers using Multiplication", 1994, theorem 4.2.
int64_t reciprocal_of(int64_t divisor);

// The distance between neighbours along each axis of a row-major array.
ir::Dims steps_of(const ir::Dims& dims);
// The same along the axes of an array of shape `to` to which this one broadcasts.
ir::Dims steps_of(const ir::Dims& dims, const ir::Dims& to);
int64_t count_of(const ir::Dims& dims);
// The product of the lengths of axes from `begin` to before `end`.
int64_t count_of(const ir::Dims& dims, int64_t begin, int64_t end);
// The op's axis, counted from the first.
int64_t axis_of(const ir::Op& op);

// The blocks of 256 threads for a loop over this many elements.
unsigned blocks_for(int64_t count);

// Text with numbers and names in the places of "@".
std::string filled(const std::string& text, std::initializer_list<std::string> words);

// A launch of one thread for each of `count` elements.
Launch launch_for(int64_t count, std::vector<const char*> libraries, std::string body, std::vector<Pointer> pointers,
                  std::vector<int64_t> numbers);

}  // namespace alloy::cuda
