// Functions that compiled Objective-C calls and GCC's runtime lacks. The compiler knows the names of most; this
// framework's <objc/objc.h> renames those that other libraries define too.
#pragma once

#include <objc/runtime.h>
#include <unwind.h>

#include <cstddef>

#define ALLOY_EXPORT extern "C" __attribute__((visibility("default")))

struct objc_super;

// modules.cpp: each object file of a program or library hands over its module. Then the first of them makes all load,
// before their static initialisers run.
ALLOY_EXPORT void alloy_load_module(void* module);
ALLOY_EXPORT void alloy_load_waiting();

// messages.cpp
struct AlloySlot {
  Class owner;
  Class cached_for;
  const char* types;
  int version;
  IMP method;
};
ALLOY_EXPORT AlloySlot* objc_msg_lookup_sender(id* receiver, SEL selector, id sender);
ALLOY_EXPORT AlloySlot* objc_slot_lookup_super(objc_super* super, SEL selector);

// ownership.cpp: functions of CoreFoundation, and of automatic reference counting as clang specifies it.
ALLOY_EXPORT const void* CFRetain(const void* object);
ALLOY_EXPORT void CFRelease(const void* object);
ALLOY_EXPORT id objc_retain(id object);
ALLOY_EXPORT void objc_release(id object);
ALLOY_EXPORT id objc_autorelease(id object);
ALLOY_EXPORT id objc_retainAutorelease(id object);
ALLOY_EXPORT id objc_retainAutoreleaseReturnValue(id object);
ALLOY_EXPORT id objc_autoreleaseReturnValue(id object);
ALLOY_EXPORT id objc_retainAutoreleasedReturnValue(id object);
ALLOY_EXPORT id objc_unsafeClaimAutoreleasedReturnValue(id object);
ALLOY_EXPORT id objc_claimAutoreleasedReturnValue(id object);
ALLOY_EXPORT id objc_retainBlock(id block);
ALLOY_EXPORT id objc_storeStrong(id* place, id object);
ALLOY_EXPORT void* objc_autoreleasePoolPush();
ALLOY_EXPORT void objc_autoreleasePoolPop(void* pool);
ALLOY_EXPORT void objc_setProperty_atomic(id object, SEL selector, id value, ptrdiff_t offset);
ALLOY_EXPORT void objc_setProperty_nonatomic(id object, SEL selector, id value, ptrdiff_t offset);
ALLOY_EXPORT void objc_setProperty_atomic_copy(id object, SEL selector, id value, ptrdiff_t offset);
ALLOY_EXPORT void objc_setProperty_nonatomic_copy(id object, SEL selector, id value, ptrdiff_t offset);
ALLOY_EXPORT void objc_getCppObjectAtomic(void* to, const void* from, void (*copy)(void*, const void*));
ALLOY_EXPORT void objc_setCppObjectAtomic(void* to, const void* from, void (*copy)(void*, const void*));

// weak.cpp
ALLOY_EXPORT id objc_initWeak(id* place, id object);
ALLOY_EXPORT id objc_storeWeak(id* place, id object);
ALLOY_EXPORT id objc_loadWeakRetained(id* place);
ALLOY_EXPORT id objc_loadWeak(id* place);
ALLOY_EXPORT void objc_destroyWeak(id* place);
ALLOY_EXPORT void objc_copyWeak(id* to, id* from);
ALLOY_EXPORT void objc_moveWeak(id* to, id* from);

// associations.cpp
ALLOY_EXPORT void objc_setAssociatedObject(id object, const void* key, id value, unsigned long policy);
ALLOY_EXPORT id objc_getAssociatedObject(id object, const void* key);
ALLOY_EXPORT void objc_removeAssociatedObjects(id object);

// methods.cpp: after GCC's functions of these names, subclasses that have received a message keep the old method.
ALLOY_EXPORT IMP alloy_set_implementation(Method method, IMP implementation);
ALLOY_EXPORT void alloy_exchange_implementations(Method one, Method other);
ALLOY_EXPORT IMP alloy_replace_method(Class changed, SEL selector, IMP implementation, const char* types);

// properties.cpp
ALLOY_EXPORT objc_property** class_copyPropertyList(Class owner, unsigned* count);
ALLOY_EXPORT objc_property* class_getProperty(Class owner, const char* name);
ALLOY_EXPORT const char* property_getName(objc_property* property);
ALLOY_EXPORT const char* property_getAttributes(objc_property* property);

// exceptions.cpp
ALLOY_EXPORT _Unwind_Reason_Code __gnustep_objc_personality_v0(int version, _Unwind_Action actions,
                                                               _Unwind_Exception_Class kind,
                                                               _Unwind_Exception* exception, _Unwind_Context* context);
ALLOY_EXPORT _Unwind_Reason_Code __gnustep_objcxx_personality_v0(int version, _Unwind_Action actions,
                                                                 _Unwind_Exception_Class kind,
                                                                 _Unwind_Exception* exception,
                                                                 _Unwind_Context* context);
ALLOY_EXPORT void objc_exception_throw(id object);
ALLOY_EXPORT void* alloy_begin_catch(void* exception);
ALLOY_EXPORT void alloy_end_catch();
ALLOY_EXPORT void alloy_rethrow();
ALLOY_EXPORT void alloy_resume_or_rethrow(_Unwind_Exception* exception);
ALLOY_EXPORT void* objc_begin_catch(void* exception);
ALLOY_EXPORT void objc_end_catch();
ALLOY_EXPORT void objc_exception_rethrow(void* exception);
