#include "cuda/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace alloy::cuda {
namespace {

namespace fs = std::filesystem;

// The folders nvidia/*/lib beside the folder of this library, the last version first.
std::vector<fs::path> folders_of_packages() {
  Dl_info info;
  std::vector<fs::path> folders;
  if (dladdr(reinterpret_cast<const void*>(&folders_of_packages), &info) == 0) return folders;
  std::error_code ignored;
  const fs::path packages = fs::absolute(info.dli_fname, ignored).parent_path().parent_path() / "nvidia";
  for (const fs::directory_entry& entry : fs::directory_iterator(packages, ignored)) {
    folders.push_back(entry.path() / "lib");
  }
  std::sort(folders.rbegin(), folders.rend());
  return folders;
}

}  // namespace

Library::Library(const std::vector<std::string>& names) {
  const std::vector<fs::path> folders = folders_of_packages();
  std::string missing;
  for (const std::string& name : names) {
    name_ = name;
    for (const fs::path& folder : folders) {
      std::error_code ignored;
      if (!fs::exists(folder / name, ignored)) continue;
      handle_ = dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) return;
    }
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    missing += (missing.empty() ? "" : " or ") + name;
  }
  throw std::runtime_error("The library " + missing + " is missing.");
}

void* Library::address_of(const char* name) const {
  void* const address = dlsym(handle_, name);
  if (address == nullptr) throw std::runtime_error("The library " + name_ + " is too old: it lacks " + name + ".");
  return address;
}

}  // namespace alloy::cuda
