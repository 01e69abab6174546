#include "cuda/modules.h"

#include <algorithm>
#include <exception>
#include <future>
#include <map>
#include <thread>
#include <utility>

#include "cuda/nvrtc.h"
#include "host/signals.h"

namespace alloy::cuda {
namespace {

// Compiles at once on several threads. Each compilation reads the common text first, so it should have some functions,
// or a long one.
constexpr size_t kBytesOfSource = 4000;
// Modules that stay even if no program uses them; each takes up to some megabytes.
constexpr size_t kMostRecent = 32;

size_t bytes_of(const Launch& launch) {
  size_t bytes = launch.body.size();
  for (const std::string& function : launch.functions) bytes += function.size();
  return bytes;
}

std::vector<std::vector<const Launch*>> divided(const std::vector<const Launch*>& launches) {
  size_t all = 0, before = 0;
  for (const Launch* launch : launches) all += bytes_of(*launch);
  const size_t threads = std::max(std::thread::hardware_concurrency(), 1U);
  const size_t sources = std::clamp<size_t>(all / kBytesOfSource, 1, threads);
  std::vector<std::vector<const Launch*>> parts(sources);
  for (const Launch* launch : launches) {
    parts[before * sources / all].push_back(launch);
    before += bytes_of(*launch);
  }
  std::erase_if(parts, [](const auto& part) { return part.empty(); });
  return parts;
}

}  // namespace

Module::Module(const Context& context, const std::vector<char>& code) : context_(context) {
  const Driver& driver = context.enter();
  driver.check(driver.module_load(&module_, code.data()), "cuModuleLoadData");
}

Module::~Module() {
  try {
    const Driver& driver = context_.enter();
    static_cast<void>(driver.module_unload(module_));
  } catch (const std::exception&) {
    // At the end of the process the driver has unloaded all modules.
  }
}

CUfunction Module::function(const std::string& name) const {
  const Driver& driver = context_.enter();
  CUfunction function = nullptr;
  driver.check(driver.module_function(&function, module_, name.c_str()), "cuModuleGetFunction");
  return function;
}

Loaded Modules::functions_of(const std::vector<const Launch*>& launches) {
  context_.enter();  // before the lock, which a forked child may find held
  const std::lock_guard lock(mutex_);
  Loaded found;
  std::vector<std::string> names;
  std::map<std::string, const Launch*> unknown;
  for (const Launch* launch : launches) {
    names.push_back(name_of(*launch));
    const auto known = functions_.find(names.back());
    if (ModuleRef module = known == functions_.end() ? nullptr : known->second.module.lock()) {
      found.modules.push_back(std::move(module));
    } else {
      unknown.emplace(names.back(), launch);
    }
  }
  if (!unknown.empty()) {
    std::vector<const Launch*> all;
    for (const auto& [name, launch] : unknown) all.push_back(launch);
    const std::vector<ModuleRef> loaded = load(all);
    found.modules.insert(found.modules.end(), loaded.begin(), loaded.end());
  }
  for (const std::string& name : names) found.functions.push_back(functions_.at(name).function);
  std::sort(found.modules.begin(), found.modules.end());
  found.modules.erase(std::unique(found.modules.begin(), found.modules.end()), found.modules.end());
  keep(found.modules);
  return found;
}

void Modules::keep(const std::vector<ModuleRef>& modules) {
  for (const ModuleRef& module : modules) {
    std::erase(recent_, module);
    recent_.push_back(module);
  }
  while (recent_.size() > kMostRecent) recent_.pop_front();
  if (functions_.size() < most_functions_) return;
  std::erase_if(functions_, [](const auto& one) { return one.second.module.expired(); });
  most_functions_ = 2 * functions_.size() + 1024;
}

std::vector<ModuleRef> Modules::load(const std::vector<const Launch*>& launches) {
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
  std::vector<ModuleRef> modules;
  for (size_t i = 0; i < parts.size(); ++i) {
    modules.push_back(std::make_shared<Module>(context_, compiled[i].get()));
    for (const Launch* launch : parts[i]) {
      const std::string name = name_of(*launch);
      functions_[name] = {modules.back()->function(name), modules.back()};
    }
  }
  return modules;
}

}  // namespace alloy::cuda
