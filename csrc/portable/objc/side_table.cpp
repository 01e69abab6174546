// When the first entry beside an object is made, the release methods of the root classes are replaced by ones that
// clear the object's entries before its last owner releases it.

#include "objc/side_table.h"

#include <objc/runtime.h>

#include <array>
#include <utility>

#include "objc/entry_points.h"
#include "objc/send.h"

extern "C" void __objc_update_dispatch_table_for_class(Class changed);  // and its subclasses

namespace {

// Objects whose last release is in progress on this thread, with their associated objects.
struct Dying {
  id object;
  Associations associations;
  Dying* outer;

  explicit Dying(id dying);
  ~Dying();
};

thread_local Dying* innermost = nullptr;

Dying::Dying(id dying) : object(dying), outer(innermost) { innermost = this; }

Dying::~Dying() {
  innermost = outer;
  for (auto& [key, associated] : associations) {
    if (associated.policy) objc_release(associated.value);
  }
}

Dying* find_dying(id object) {
  Dying* dying = innermost;
  while (dying && dying->object != object) dying = dying->outer;
  return dying;
}

// The classes that count owners, and their original methods.
constexpr std::array kCounting{"NSObject", "NSProxy", "AlloyBlock"};
struct Methods {
  void (*release)(id, SEL);
  unsigned long (*count)(id, SEL);
};
std::array<Methods, kCounting.size()> before;

template <size_t Counting>
void release(id object, SEL selector) {
  static const SEL count = sel_registerName("retainCount");
  const Methods& methods = before[Counting];
  SideTable& table = table_of(object);
  std::unique_lock lock(table.mutex);
  // With several owners, the release happens under the lock. Otherwise the other owners could make a weak reference to
  // the object and release it meanwhile, and this release would be the last one after all. An only owner has no rivals:
  // new owners come through weak references, under the lock.
  if (methods.count(object, count) > 1) return methods.release(object, selector);
  Dying dying(object);
  if (const auto found = table.sides.find(object); found != table.sides.end()) {
    for (id* place : found->second.places) __atomic_store_n(place, nullptr, __ATOMIC_RELEASE);
    dying.associations = std::move(found->second.associations);
    table.sides.erase(found);
  }
  lock.unlock();
  methods.release(object, selector);
}

template <class Method>
Method method_of(Class counting, const char* selector) {
  const IMP method = class_getMethodImplementation(counting, sel_registerName(selector));
  return reinterpret_cast<Method>(reinterpret_cast<void (*)()>(method));
}

template <size_t Counting>
void replace_release() {
  const Class counting = static_cast<Class>(objc_lookUpClass(kCounting[Counting]));
  if (!counting) return;
  before[Counting] = {method_of<void (*)(id, SEL)>(counting, "release"),
                      method_of<unsigned long (*)(id, SEL)>(counting, "retainCount")};
  const Method method = class_getInstanceMethod(counting, sel_registerName("release"));
  method_setImplementation(method, reinterpret_cast<IMP>(reinterpret_cast<void (*)()>(release<Counting>)));
  __objc_update_dispatch_table_for_class(counting);
}

}  // namespace

SideTable& table_of(id object) {
  static auto* tables = new std::array<SideTable, 64>;
  return (*tables)[reinterpret_cast<uintptr_t>(object) / 16 % tables->size()];
}

void watch_releases() {
  static std::once_flag replaced;
  std::call_once(replaced, [] {
    // Blocks first: their method is NSObject's.
    replace_release<2>();
    replace_release<1>();
    replace_release<0>();
  });
}

bool is_dying(id object) { return find_dying(object); }

Associations* associations_of_dying(id object) {
  Dying* dying = find_dying(object);
  return dying ? &dying->associations : nullptr;
}
