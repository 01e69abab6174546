// Compiled functions on a device.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda/codegen/code.h"
#include "cuda/driver.h"

namespace alloy::cuda {

// Machine code on the device.
class Module {
 public:
  // Throws std::runtime_error or std::bad_alloc.
  Module(const Context& context, const std::vector<char>& code);
  // No run may use its functions any more.
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Throws std::runtime_error.
  CUfunction function(const std::string& name) const;

 private:
  const Context& context_;
  CUmodule module_ = nullptr;
};

using ModuleRef = std::shared_ptr<const Module>;

// Functions, which last as long as their modules.
struct Loaded {
  std::vector<CUfunction> functions = {};
  std::vector<ModuleRef> modules = {};
};

// Programs often share functions, so those of the programs that exist are found here, and some that were used lately.
class Modules {
 public:
  // The architecture is 10 * major + minor.
  Modules(const Context& context, int architecture) : context_(context), architecture_(architecture) {}

  // True if the GPU has clusters of blocks, and launches that begin early and wait.
  bool is_hopper() const { return architecture_ >= 90; }

  // The functions of these launches. Throws std::runtime_error or std::bad_alloc.
  Loaded functions_of(const std::vector<const Launch*>& launches);

 private:
  struct Known {
    CUfunction function;
    std::weak_ptr<const Module> module;
  };

  // Compiles the launches and returns their modules.
  std::vector<ModuleRef> load(const std::vector<const Launch*>& launches);
  void keep(const std::vector<ModuleRef>& modules);

  const Context& context_;
  const int architecture_;
  std::mutex mutex_;                                  // guards all that follows
  std::unordered_map<std::string, Known> functions_;  // by name
  size_t most_functions_ = 1024;                      // at which those without modules are removed
  std::deque<ModuleRef> recent_;                      // the latest last
};

}  // namespace alloy::cuda
