// Functions that a step calls on the host, between the parts that a device computes. Plain C++.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace alloy::engine {

class HostFunction {
 public:
  virtual ~HostFunction() = default;

  // Computes results of these static types. Operands and results are packed row-major. Returns an error message, or
  // nothing.
  virtual std::string compute(const std::vector<ir::Type>& given, const std::vector<const void*>& operands,
                              const std::vector<ir::Type>& types, const std::vector<void*>& results) const = 0;
};

// The function of an op that runs on the host.
std::shared_ptr<const HostFunction> host_function(const ir::Op& op);

// Sets the function of the op all_reduce, for executables that are compiled later. Without it, this process is the only
// one.
void set_all_reduce(std::shared_ptr<const HostFunction> function);

}  // namespace alloy::engine
