// Compiled functions on a device.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda/codegen/code.h"
#include "cuda/driver.h"

namespace alloy::cuda {

// Keeps every function as long as the process lives, since programs often share them.
class Modules {
 public:
  // The architecture is 10 * major + minor.
  Modules(const Context& context, int architecture) : context_(context), architecture_(architecture) {}

  // True if blocks of the device can be clusters.
  bool has_clusters() const { return architecture_ >= 90; }

  // The functions of these launches. Throws std::runtime_error.
  std::vector<CUfunction> functions_of(const std::vector<const Launch*>& launches);

 private:
  void load(const std::vector<const Launch*>& launches);

  const Context& context_;
  const int architecture_;
  std::mutex mutex_;
  std::unordered_map<std::string, CUfunction> functions_;  // by name
};

}  // namespace alloy::cuda
