// Libraries of NVIDIA that are opened when a program first asks for a device, and that may be missing.
#pragma once

#include <string>
#include <vector>

namespace alloy::cuda {

class Library {
 public:
  // Opens the first of these that there is. Looks beside the Python package of this library, where NVIDIA's packages
  // lie, and then where the system looks. Throws std::runtime_error, one sentence, if there is none.
  explicit Library(const std::vector<std::string>& names);

  // Sets `function` to the function with this name. Throws std::runtime_error if the library lacks it.
  template <class F>
  void find(const char* name, F& function) const {
    function = reinterpret_cast<F>(address_of(name));
  }

 private:
  void* address_of(const char* name) const;

  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace alloy::cuda
