// The compiler of CUDA C++, from NVIDIA's package.
#pragma once

#include <string>
#include <vector>

#include "cuda/library.h"

namespace alloy::cuda {

class Nvrtc {
 public:
  // Throws std::runtime_error, one sentence, if there is no compiler.
  Nvrtc();

  // For example "13.0".
  const std::string& version() const { return version_; }

  // Compiles to machine code for an architecture such as "sm_90". Throws std::runtime_error with the compiler's own
  // messages.
  std::vector<char> compile(const std::string& source, const std::string& architecture) const;

 private:
  using Program = struct NvrtcProgram*;

  Library library_;
  std::string version_;
  const char* (*error_string_)(int);
  int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*);
  int (*compile_)(Program, int, const char* const*);
  int (*destroy_)(Program*);
  int (*log_size_)(Program, size_t*);
  int (*log_)(Program, char*);
  int (*code_size_)(Program, size_t*);
  int (*code_)(Program, char*);
};

// The same, but what was compiled before is read from the user's cache: $XDG_CACHE_HOME/alloy or ~/.cache/alloy.
std::vector<char> compile_once(const Nvrtc& nvrtc, const std::string& source, const std::string& architecture);

}  // namespace alloy::cuda
