// The types of the Objective-C runtime. In each file compiled for -fobjc-runtime=gnustep-1.9, it also makes GCC's
// runtime usable: it renames the functions that libAlloyObjC defines and other libraries define too, and loads the
// file's classes before anything else.
#pragma once
#pragma GCC system_header  // include_next is no standard C

// Gives methods Apple's type, which compilers let programs cast to any function type.
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

// The compiler registers a file's classes, selectors and strings after the file's static initialisers, which may use
// them. So each file registers them first here, and they are loaded when all files of a program or library have done
// so.
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
