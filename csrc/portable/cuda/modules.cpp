#include "cuda/modules.h"

#include "cuda/nvrtc.h"

namespace alloy::cuda {

std::vector<CUfunction> Modules::functions_of(const std::vector<const Launch*>& launches) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  std::vector<const Launch*> unknown;
  for (const Launch* launch : launches) {
    names.push_back(name_of(*launch));
    if (!functions_.contains(names.back())) unknown.push_back(launch);
  }
  if (!unknown.empty()) {
    // Opened by the first program: a process that only asks for devices needs no compiler.
    static const Nvrtc& nvrtc = *new Nvrtc;
    const std::vector<char> code = compile_once(nvrtc, source_of(unknown), architecture_);
    const Driver& driver = context_.enter();
    CUmodule module = nullptr;
    driver.check(driver.module_load(&module, code.data()), "cuModuleLoadData");
    for (const Launch* launch : unknown) {
      const std::string name = name_of(*launch);
      driver.check(driver.module_function(&functions_[name], module, name.c_str()), "cuModuleGetFunction");
    }
  }
  std::vector<CUfunction> functions;
  for (const std::string& name : names) functions.push_back(functions_.at(name));
  return functions;
}

}  // namespace alloy::cuda
