// The floating-point mode of the threads that compute.
#include "cpu/kernel.h"
#include "cpu/threads/parallel.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace alloy::cpu {
namespace {

#if defined(__SSE__)
constexpr uint64_t kFlush = 0x8040;  // flush results and operands
uint64_t mode() { return _mm_getcsr(); }
void set_mode(uint64_t mode) { _mm_setcsr(static_cast<unsigned>(mode)); }
#elif defined(__aarch64__)
constexpr uint64_t kFlush = uint64_t{1} << 24;
uint64_t mode() {
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
void set_mode(uint64_t mode) { asm volatile("msr fpcr, %0" ::"r"(mode)); }
#else
constexpr uint64_t kFlush = 0;
uint64_t mode() { return 0; }
void set_mode(uint64_t) {}
#endif

}  // namespace

void flush_denormals() { set_mode(mode() | kFlush); }

FlushDenormals::FlushDenormals() : before_(mode()) { flush_denormals(); }

FlushDenormals::~FlushDenormals() { set_mode(before_); }

}  // namespace alloy::cpu
