// Autorelease pools for threads without one, as on a Mac. GNUstep prints a line for each object that such a thread
// autoreleases, and never releases it.

#include "objc/pools.h"

#include <objc/runtime.h>

#include "objc/entry_points.h"

namespace {

// Replaces the class's method by `with`, if the class has it, and returns the old method.
template <class Function>
Function* replace(Class owner, const char* name, Function* with) {
  const SEL selector = sel_registerName(name);
  const Method method = class_getInstanceMethod(owner, selector);
  if (!method) return nullptr;
  const auto implementation = reinterpret_cast<IMP>(reinterpret_cast<void (*)()>(with));
  const IMP before = alloy_replace_method(owner, selector, implementation, method_getTypeEncoding(method));
  return reinterpret_cast<Function*>(reinterpret_cast<void (*)()>(before));
}

BOOL (*adopt_before)(id, SEL);
void (*main_before)(id, SEL);

BOOL adopt(id threads, SEL selector) {
  const BOOL adopted = adopt_before(threads, selector);
  if (adopted) objc_autoreleasePoolPush();  // drained when the thread ends
  return adopted;
}

void run_main(id thread, SEL selector) {
  void* const pool = objc_autoreleasePoolPush();
  main_before(thread, selector);
  objc_autoreleasePoolPop(pool);
}

}  // namespace

void give_threads_pools() {
  objc_autoreleasePoolPush();  // for the thread that goes on to main
  const Class thread = static_cast<Class>(objc_lookUpClass("NSThread"));
  main_before = replace(thread, "main", run_main);
  // GNUstep sends this message when a thread that it did not start uses it for the first time.
  adopt_before = replace(object_getClass(reinterpret_cast<id>(thread)), "_createThreadForCurrentPthread", adopt);
}
