// Functions that a step calls on the host, between the parts that a device computes. Plain C++.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace alloy::engine {

class HostFunction {
 public:
  // Memory for the operands and results of a call: whole pages, which last as long as the owner.
  struct Memory {
    std::vector<void*> operands, results;
    std::shared_ptr<void> owner;
  };

  virtual ~HostFunction() = default;

  // Memory in which a call with these types would be fast; no owner if the function does not care.
  virtual Memory memory(const std::vector<ir::Type>&, const std::vector<ir::Type>&) const { return {}; }
  // The bytes of operands with which a call of a function of any number of operands begins, while later operands are
  // still computed.
  virtual uint64_t call_bytes() const { return UINT64_MAX; }

  // Computes results of these static types. Operands and results are packed row-major. `meanwhile`: the device computes
  // at the same time, and needs the cores. Returns an error message, or nothing.
  virtual std::string compute(const std::vector<ir::Type>& given, const std::vector<const void*>& operands,
                              const std::vector<ir::Type>& types, const std::vector<void*>& results,
                              bool meanwhile) const = 0;
};

// The function of an op that runs on the host.
std::shared_ptr<const HostFunction> host_function(const ir::Op& op);

// Writes the sums of float32 arrays, element by element and in the order of the terms, to all of `sums`.
void add_up(const std::vector<const float*>& terms, const std::vector<float*>& sums, size_t count);

// Sets the function of the op all_reduce, for executables that are compiled later. Without it, this process is the only
// one.
void set_all_reduce(std::shared_ptr<const HostFunction> function);

}  // namespace alloy::engine
