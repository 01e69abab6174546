// The classes that this library's compiled code names in messages.

#import <objc/runtime.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

// Takes the place of GCC's function within this library. That one searches a table of all classes at each message to a
// class.
extern "C" __attribute__((visibility("hidden"))) Class objc_lookup_class(const char* name) {
  // By the address of the name. Their type is void* because atomics take no classes.
  static std::array<std::atomic<void*>, 256> known;
  std::atomic<void*>& entry = known[(reinterpret_cast<uintptr_t>(name) * 0x9e3779b97f4a7c15) >> 56];
  Class found = (Class)entry.load(std::memory_order_acquire);
  if (found != Nil && std::strcmp(class_getName(found), name) == 0) return found;
  found = objc_lookUpClass(name);
  if (found != Nil) entry.store((void*)found, std::memory_order_release);
  return found;
}
