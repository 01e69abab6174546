// Op names tell the phases of a training step. An op that computes a gradient is named "gradients/" and the
// differentiated op's name, an op of an optimizer "optimizer/" and its variable's name. All other ops are forward.
#pragma once

#include <string>
#include <string_view>

namespace alloy::ir {

inline constexpr std::string_view kGradients = "gradients", kOptimizer = "optimizer";

// The name of an op of the phase for an op or variable named `name`; the phase alone if that is empty.
inline std::string name_in(std::string_view phase, std::string_view name) {
  return std::string(phase) + (name.empty() ? "" : "/") + std::string(name);
}

}  // namespace alloy::ir
