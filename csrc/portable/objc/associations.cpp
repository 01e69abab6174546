// Associated objects, which categories use in place of instance variables.

#include <objc/runtime.h>

#include <utility>

#include "objc/entry_points.h"
#include "objc/send.h"
#include "objc/side_table.h"

extern "C" BOOL sel_is_mapped(SEL selector);  // true if a selector has the number that is in it

namespace {

// Apple's numbers of policies: assign is 0; the lowest bit means retain; the two lowest bits mean copy.
constexpr unsigned long kCopies = 3;

id owned(id value, unsigned long policy) {
  if ((policy & kCopies) == kCopies) return value ? send(value, sel_registerName("copy")) : nullptr;
  return policy ? objc_retain(value) : value;
}

void release(const Associated& associated) {
  if (associated.policy) objc_release(associated.value);
}

// The same key for all selectors of one name: programs use selectors as keys, and GCC's runtime has several of each.
const void* unique(const void* key) {
  constexpr uintptr_t kNoPointer = 0x10000;
  const auto place = reinterpret_cast<uintptr_t>(key);
  if (place < kNoPointer || place % alignof(void*) != 0) return key;
  const auto selector = static_cast<SEL>(key);
  if (!sel_is_mapped(selector)) return key;
  const auto types = reinterpret_cast<uintptr_t>(static_cast<const void* const*>(key)[1]);
  return types == 0 || types >= kNoPointer ? sel_getName(selector) : key;
}

// Stores a value, or removes it if it is null; returns the previous one.
Associated exchange(Associations& associations, const void* key, const Associated& value) {
  const Associated before = std::exchange(associations[key], value);
  if (!value.value) associations.erase(key);
  return before;
}

// The value of a key, retained unless its policy is assign.
Associated at(const Associations& associations, const void* key) {
  const auto found = associations.find(key);
  if (found == associations.end()) return {};
  if (found->second.policy) objc_retain(found->second.value);
  return found->second;
}

}  // namespace

void objc_setAssociatedObject(id object, const void* key, id value, unsigned long policy) {
  if (!object) return;
  const Associated associated{owned(value, policy), policy};
  if (Associations* dying = associations_of_dying(object)) return release(exchange(*dying, unique(key), associated));
  watch_releases();
  SideTable& table = table_of(object);
  std::unique_lock lock(table.mutex);
  const auto side = table.sides.try_emplace(object).first;
  const Associated before = exchange(side->second.associations, unique(key), associated);
  if (side->second.places.empty() && side->second.associations.empty()) table.sides.erase(side);
  lock.unlock();
  release(before);
}

id objc_getAssociatedObject(id object, const void* key) {
  Associated found{};
  if (const Associations* dying = associations_of_dying(object)) {
    found = at(*dying, unique(key));
  } else {
    SideTable& table = table_of(object);
    const std::lock_guard lock(table.mutex);
    if (const auto side = table.sides.find(object); side != table.sides.end())
      found = at(side->second.associations, unique(key));
  }
  return found.policy ? objc_autorelease(found.value) : found.value;
}

void objc_removeAssociatedObjects(id object) {
  Associations removed;
  if (Associations* dying = associations_of_dying(object)) {
    removed.swap(*dying);
  } else {
    SideTable& table = table_of(object);
    const std::lock_guard lock(table.mutex);
    const auto side = table.sides.find(object);
    if (side == table.sides.end()) return;
    removed.swap(side->second.associations);
    if (side->second.places.empty()) table.sides.erase(side);
  }
  for (const auto& [key, associated] : removed) release(associated);
}
