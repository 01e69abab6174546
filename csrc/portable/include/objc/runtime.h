// The functions of the Objective-C runtime.
#pragma once
#pragma GCC system_header  // include_next is no standard C

// GCC's header reads an object's class from a field of a structure, which automatic reference counting refuses.
#if defined(__OBJC__) && __has_feature(objc_arc)
struct alloy_object {
  __unsafe_unretained Class class_pointer;
};
#define object_getClass(parameter) alloy_class_of(struct alloy_object* object)
#include_next <objc/runtime.h>
#undef object_getClass
static inline Class object_getClass(id object) { return alloy_class_of((__bridge struct alloy_object*)object); }
#else
#include_next <objc/runtime.h>
#endif

// Functions that GCC's runtime lacks.
#ifdef __cplusplus
extern "C" {
#endif
/// The ways in which an association keeps its object.
enum {
  OBJC_ASSOCIATION_ASSIGN = 0,
  OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1,
  OBJC_ASSOCIATION_COPY_NONATOMIC = 3,
  OBJC_ASSOCIATION_RETAIN = 01401,
  OBJC_ASSOCIATION_COPY = 01403
};
typedef uintptr_t objc_AssociationPolicy;

/// Associates `value` with `object` under the key, in place of an earlier value, until `object` is freed; nil removes
/// it.
void objc_setAssociatedObject(id object, const void* key, id value, objc_AssociationPolicy policy);

/// The value associated with `object` under the key, or nil.
id objc_getAssociatedObject(id object, const void* key);

/// Removes all values associated with `object`.
void objc_removeAssociatedObjects(id object);
#ifdef __cplusplus
}
#endif
