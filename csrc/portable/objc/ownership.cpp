// Automatic reference counting: the functions that compiled code calls, which send messages to objects.
// https://clang.llvm.org/docs/AutomaticReferenceCounting.html#runtime-support

#include <objc/runtime.h>

#include <array>
#include <mutex>

#include "objc/entry_points.h"
#include "objc/send.h"

extern "C" void objc_setProperty(id object, SEL selector, ptrdiff_t offset, id value, BOOL atomic, BOOL copy);

namespace {

// The lock for copying a value by a function of its own.
std::mutex& lock_of(const void* place) {
  static std::array<std::mutex, 16> locks;
  return locks[reinterpret_cast<uintptr_t>(place) / 16 % locks.size()];
}

// For NULL, CoreFoundation's functions end the process; here they raise an exception.
id required(const void* object, const char* function) {
  if (object) return static_cast<id>(const_cast<void*>(object));
  const auto text = [](const char* c) {
    return send(reinterpret_cast<id>(objc_getRequiredClass("NSString")), sel_registerName("stringWithUTF8String:"), c);
  };
  send(reinterpret_cast<id>(objc_getRequiredClass("NSException")), sel_registerName("raise:format:"),
       text("NSInvalidArgumentException"), text("[%s] Expected an object, but got NULL."), function);
  return nullptr;
}

}  // namespace

const void* CFRetain(const void* object) { return objc_retain(required(object, "CFRetain")); }

void CFRelease(const void* object) { objc_release(required(object, "CFRelease")); }

id objc_retain(id object) {
  static const SEL retain = sel_registerName("retain");
  static const Class block_in_scope = static_cast<Class>(objc_lookUpClass("AlloyStackBlock"));
  if (!object) return object;
  // The caller goes on with the same block; if it wants the block to outlive its scope, it copies it.
  if (object->class_pointer == block_in_scope) return object;
  return send(object, retain);
}

void objc_release(id object) {
  static const SEL release = sel_registerName("release");
  if (object) send(object, release);
}

id objc_autorelease(id object) {
  static const SEL autorelease = sel_registerName("autorelease");
  return object ? send(object, autorelease) : object;
}

id objc_retainAutorelease(id object) { return objc_autorelease(objc_retain(object)); }

id objc_retainAutoreleaseReturnValue(id object) { return objc_retainAutorelease(object); }

// Callers that claim the value find it in the pool, so no faster way is needed.
id objc_autoreleaseReturnValue(id object) { return objc_autorelease(object); }

id objc_retainAutoreleasedReturnValue(id object) { return objc_retain(object); }

id objc_unsafeClaimAutoreleasedReturnValue(id object) { return object; }

id objc_claimAutoreleasedReturnValue(id object) { return objc_retain(object); }

id objc_retainBlock(id block) {
  static const SEL copy = sel_registerName("copy");
  return block ? send(block, copy) : block;
}

id objc_storeStrong(id* place, id object) {
  const id before = *place;
  if (object == before) return object;
  objc_retain(object);
  *place = object;
  objc_release(before);
  return object;
}

void* objc_autoreleasePoolPush() {
  static const id pool = reinterpret_cast<id>(objc_getRequiredClass("NSAutoreleasePool"));
  static const SEL make = sel_registerName("new");
  return send(pool, make);
}

void objc_autoreleasePoolPop(void* pool) { objc_release(static_cast<id>(pool)); }

void objc_setProperty_atomic(id object, SEL selector, id value, ptrdiff_t offset) {
  objc_setProperty(object, selector, offset, value, YES, NO);
}

void objc_setProperty_nonatomic(id object, SEL selector, id value, ptrdiff_t offset) {
  objc_setProperty(object, selector, offset, value, NO, NO);
}

void objc_setProperty_atomic_copy(id object, SEL selector, id value, ptrdiff_t offset) {
  objc_setProperty(object, selector, offset, value, YES, YES);
}

void objc_setProperty_nonatomic_copy(id object, SEL selector, id value, ptrdiff_t offset) {
  objc_setProperty(object, selector, offset, value, NO, YES);
}

void objc_getCppObjectAtomic(void* to, const void* from, void (*copy)(void*, const void*)) {
  const std::lock_guard lock(lock_of(from));
  copy(to, from);
}

void objc_setCppObjectAtomic(void* to, const void* from, void (*copy)(void*, const void*)) {
  const std::lock_guard lock(lock_of(to));
  copy(to, from);
}
