// What an op should give, by the reference (csrc/reference). Plain C++.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace alloy::engine {

// The elements of a tensor, row-major.
struct Elements {
  ir::Dims dims;
  std::vector<double> values;
};

// The results of the op for operands of these static shapes. Nothing if the reference cannot tell: of regions, effects,
// ops of libraries, random numbers, constants, complex numbers.
std::optional<std::vector<Elements>> reference_results(const ir::Op& op, std::vector<Elements> operands);

}  // namespace alloy::engine
