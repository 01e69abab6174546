// Memory of objects that one thread makes and another one ends, run after run. malloc lets both threads wait for each
// other then: the one that frees keeps nothing for the one that allocates.
#pragma once

#include <cstddef>

namespace alloy::host {

// As operator new and delete, for small sizes out of a few spare blocks. Threads never wait.
void* take_recycled(size_t bytes);
void recycle(void* memory, size_t bytes) noexcept;

// An allocator for containers and std::allocate_shared.
template <class T>
struct Recycler {
  using value_type = T;
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  Recycler() = default;
  template <class Other>
  Recycler(const Recycler<Other>&) noexcept {}

  T* allocate(size_t count) { return static_cast<T*>(take_recycled(count * sizeof(T))); }
  void deallocate(T* memory, size_t count) noexcept { recycle(memory, count * sizeof(T)); }
  bool operator==(const Recycler&) const = default;
};

}  // namespace alloy::host
