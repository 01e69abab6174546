// A moment in a loop that looks for what another thread or device writes.
#pragma once

namespace alloy::host {

inline void pause() noexcept {
#ifdef __x86_64__
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

}  // namespace alloy::host
