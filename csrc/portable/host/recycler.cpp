#include "host/recycler.h"

#include <array>
#include <atomic>
#include <new>

namespace alloy::host {
namespace {

constexpr size_t kUnit = 128, kKinds = 8;  // sizes are multiples of the unit
constexpr size_t kSpares = 16;             // of each size; more than small steps have in flight

std::array<std::array<std::atomic<void*>, kSpares>, kKinds> g_spares;

size_t kind_of(size_t bytes) { return bytes == 0 ? 0 : (bytes - 1) / kUnit; }

}  // namespace

void* take_recycled(size_t bytes) {
  const size_t kind = kind_of(bytes);
  if (kind >= kKinds) return ::operator new(bytes);
  for (std::atomic<void*>& spare : g_spares[kind]) {
    if (spare.load(std::memory_order_relaxed) == nullptr) continue;
    if (void* const memory = spare.exchange(nullptr, std::memory_order_acquire)) return memory;
  }
  return ::operator new((kind + 1) * kUnit);
}

void recycle(void* memory, size_t bytes) noexcept {
  const size_t kind = kind_of(bytes);
  if (kind < kKinds) {
    for (std::atomic<void*>& spare : g_spares[kind]) {
      void* none = nullptr;
      if (spare.load(std::memory_order_relaxed) == nullptr &&
          spare.compare_exchange_strong(none, memory, std::memory_order_release, std::memory_order_relaxed)) {
        return;
      }
    }
  }
  ::operator delete(memory);
}

}  // namespace alloy::host
