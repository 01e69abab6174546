// Replacing methods while the program runs.

#include <objc/runtime.h>

#include <cstdlib>
#include <vector>

#include "objc/entry_points.h"

extern "C" void __objc_update_dispatch_table_for_class(Class changed);  // and its subclasses

namespace {

bool has_itself(Class owner, Method method) {
  unsigned count = 0;
  Method* methods = class_copyMethodList(owner, &count);
  bool found = false;
  for (unsigned i = 0; i < count && !found; ++i) found = methods[i] == method;
  std::free(methods);
  return found;
}

// Makes the class that has the method, and its subclasses, see the new implementation.
void update_owner_of(Method method) {
  std::vector<Class> classes(static_cast<size_t>(objc_getClassList(nullptr, 0)));
  classes.resize(static_cast<size_t>(objc_getClassList(classes.data(), static_cast<int>(classes.size()))));
  for (const Class known : classes) {
    for (const Class owner : {known, object_getClass(reinterpret_cast<id>(known))}) {
      if (has_itself(owner, method)) return __objc_update_dispatch_table_for_class(owner);
    }
  }
}

}  // namespace

IMP alloy_set_implementation(Method method, IMP implementation) {
  const IMP before = method_setImplementation(method, implementation);
  update_owner_of(method);
  return before;
}

void alloy_exchange_implementations(Method one, Method other) {
  method_exchangeImplementations(one, other);
  update_owner_of(one);
  update_owner_of(other);
}

IMP alloy_replace_method(Class changed, SEL selector, IMP implementation, const char* types) {
  const IMP before = class_replaceMethod(changed, selector, implementation, types);
  __objc_update_dispatch_table_for_class(changed);
  return before;
}
