#include "cuda/nvrtc.h"

#include <sys/mman.h>

#include <array>
#include <new>
#include <stdexcept>

namespace alloy::cuda {
namespace {

// Where NVRTC finds no memory, it ends the process. It takes 30 MB for a text, and several threads compile.
void require_memory() {
  constexpr size_t kBytes = 128 << 20;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  munmap(memory, kBytes);
}

}  // namespace

Nvrtc::Nvrtc() : library_({"libnvrtc.so.13", "libnvrtc.so.12"}) {
  int (*version)(int*, int*) = nullptr;
  library_.find("nvrtcVersion", version);
  library_.find("nvrtcGetErrorString", error_string_);
  library_.find("nvrtcCreateProgram", create_);
  library_.find("nvrtcCompileProgram", compile_);
  library_.find("nvrtcDestroyProgram", destroy_);
  library_.find("nvrtcGetProgramLogSize", log_size_);
  library_.find("nvrtcGetProgramLog", log_);
  library_.find("nvrtcGetCUBINSize", code_size_);
  library_.find("nvrtcGetCUBIN", code_);
  int major = 0, minor = 0;
  version(&major, &minor);
  version_ = std::to_string(major) + "." + std::to_string(minor);
  try {
    // NVRTC opens it by its name. In NVIDIA's package, version 13.0 does not look in its own folder.
    static_cast<void>(Library({"libnvrtc-builtins.so." + version_}));
  } catch (const std::runtime_error&) {
    // Then NVRTC says what it lacks.
  }
}

std::vector<char> Nvrtc::compile(const std::string& source, const std::string& architecture) const {
  require_memory();
  const std::string for_architecture = "--gpu-architecture=" + architecture;
  // Denormals count as zero, as on the CPU and on Apple's devices; otherwise floats are exact.
  const std::array options{for_architecture.c_str(), "--std=c++17", "--ftz=true", "--prec-div=true", "--prec-sqrt=true",
                           "--device-int128", "-w",
                           // NVRTC 13.0 needs it for generic functions inside others.
                           "--device-as-default-execution-space"};
  Program program = nullptr;
  const auto check = [&](int result) {
    if (result == 0) return;
    size_t size = 0;
    std::string log;
    if (program != nullptr && log_size_(program, &size) == 0 && size > 1) {
      log.resize(size);
      log_(program, log.data());
      log.resize(size - 1);
    }
    if (program != nullptr) destroy_(&program);
    throw std::runtime_error("NVRTC " + version_ + " failed: " + error_string_(result) + "." +
                             (log.empty() ? "" : "\n" + log));
  };
  check(create_(&program, source.c_str(), "alloy.cu", 0, nullptr, nullptr));
  check(compile_(program, static_cast<int>(options.size()), options.data()));
  size_t size = 0;
  check(code_size_(program, &size));
  std::vector<char> code(size);
  check(code_(program, code.data()));
  destroy_(&program);
  return code;
}

}  // namespace alloy::cuda
