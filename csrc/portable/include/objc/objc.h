// The types of the Objective-C runtime, and what each file compiled for -fobjc-runtime=gnustep-1.9 needs to run on
// GCC's runtime: the names under which libAlloyObjC has what other libraries have too, and its classes before anything
// else.
#pragma once
#pragma GCC system_header  // include_next is no standard C

// A method is of Apple's type, which compilers let programs cast to that of any function.
#define IMP alloy_variadic_method
#include_next <objc/objc.h>
#undef IMP
typedef void (*IMP)(void);

#if defined(__OBJC__) && defined(__OBJC_GNUSTEP_RUNTIME_ABI__)
__asm__(
    ".weakref __objc_exec_class, alloy_load_module\n"
    ".weakref __cxa_begin_catch, alloy_begin_catch\n"
    ".weakref __cxa_end_catch, alloy_end_catch\n"
    ".weakref __cxa_rethrow, alloy_rethrow\n"
    ".weakref _Unwind_Resume_or_Rethrow, alloy_resume_or_rethrow\n"
    ".weakref method_setImplementation, alloy_set_implementation\n"
    ".weakref method_exchangeImplementations, alloy_exchange_implementations\n"
    ".weakref class_replaceMethod, alloy_replace_method\n"
    ".weakref alloy_load_file, .objc_load_function");

// The compiler registers a file's classes, selectors and strings behind its static initialisers, which may use them:
// here each file hands them over first, and when all of a program or library have, they are loaded.
#ifdef __cplusplus
extern "C" {
#endif
void alloy_load_waiting(void);
void alloy_load_file(void) __attribute__((weak));
__attribute__((constructor(101), used)) static void alloy_load_file_first(void) {
  if (alloy_load_file) alloy_load_file();
}
__attribute__((constructor(102), used)) static void alloy_load_all_files(void) { alloy_load_waiting(); }
#ifdef __cplusplus
}
#endif
#endif
