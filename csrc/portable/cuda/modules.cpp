#include "cuda/modules.h"

#include <algorithm>
#include <future>
#include <map>
#include <thread>

#include "cuda/nvrtc.h"
#include "host/signals.h"

namespace alloy::cuda {
namespace {

// Compiles at once on several threads. Each compilation reads the common text first, so it should have some functions.
constexpr size_t kFunctionsOfSource = 4;

std::vector<std::vector<const Launch*>> divided(const std::vector<const Launch*>& launches) {
  const size_t threads = std::max(std::thread::hardware_concurrency(), 1U);
  const size_t sources = std::clamp<size_t>(launches.size() / kFunctionsOfSource, 1, threads);
  std::vector<std::vector<const Launch*>> parts(sources);
  for (size_t i = 0; i < launches.size(); ++i) parts[i * sources / launches.size()].push_back(launches[i]);
  return parts;
}

}  // namespace

std::vector<CUfunction> Modules::functions_of(const std::vector<const Launch*>& launches) {
  context_.enter();  // before the lock, which a forked child may find held
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  std::map<std::string, const Launch*> unknown;
  for (const Launch* launch : launches) {
    names.push_back(name_of(*launch));
    if (!functions_.contains(names.back())) unknown.emplace(names.back(), launch);
  }
  if (!unknown.empty()) {
    std::vector<const Launch*> all;
    for (const auto& [name, launch] : unknown) all.push_back(launch);
    load(all);
  }
  std::vector<CUfunction> functions;
  for (const std::string& name : names) functions.push_back(functions_.at(name));
  return functions;
}

void Modules::load(const std::vector<const Launch*>& launches) {
  // Opened by the first program: a process that only asks for devices needs no compiler.
  static const Nvrtc& nvrtc = *new Nvrtc;
  const std::vector<std::vector<const Launch*>> parts = divided(launches);
  std::vector<std::future<std::vector<char>>> compiled;
  const host::BlockSignals blocked;  // they are for the program's own threads
  for (const std::vector<const Launch*>& part : parts) {
    compiled.push_back(std::async(std::launch::async, [this, &part] {
      return compile_once(nvrtc, source_of(part), "sm_" + std::to_string(architecture_));
    }));
  }
  const Driver& driver = context_.enter();
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::vector<char> code = compiled[i].get();
    CUmodule module = nullptr;
    driver.check(driver.module_load(&module, code.data()), "cuModuleLoadData");
    for (const Launch* launch : parts[i]) {
      const std::string name = name_of(*launch);
      CUfunction function = nullptr;
      driver.check(driver.module_function(&function, module, name.c_str()), "cuModuleGetFunction");
      functions_.emplace(name, function);
    }
  }
}

}  // namespace alloy::cuda
