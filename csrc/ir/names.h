// How the names of ops tell the phases of a training step: what computes gradients is named after the op that they came
// of, what belongs to an optimizer after its variable, each behind its phase; the rest is forward.
#pragma once

#include <string>
#include <string_view>

namespace alloy::ir {

inline constexpr std::string_view kGradients = "gradients", kOptimizer = "optimizer";

// The name of what is of this phase for what has that name; the phase's own where that has none.
inline std::string name_in(std::string_view phase, std::string_view name) {
  return std::string(phase) + (name.empty() ? "" : "/") + std::string(name);
}

}  // namespace alloy::ir
