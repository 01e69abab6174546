// The functions that send messages where compiled code calls them; programs can call them here too.
#pragma once
#pragma GCC system_header  // include_next is no standard C

#include_next <objc/message.h>

#ifdef __cplusplus
extern "C" {
#endif
/// Sends a message; cast it to the type of the method. A message to nil returns 0.
void objc_msgSend(void);

/// Sends a message to the superclass's method; cast it to the type of the method, with a `struct objc_super*` as the
/// first parameter.
void objc_msgSendSuper(void);

#ifdef __x86_64__
/// The same for methods that return a structure in memory.
void objc_msgSend_stret(void);
void objc_msgSendSuper_stret(void);
#endif
#ifdef __cplusplus
}
#endif
