// Messages by the functions that compiled code sends them with elsewhere.
#pragma once
#pragma GCC system_header  // include_next is no standard C

#include_next <objc/message.h>

#ifdef __cplusplus
extern "C" {
#endif
/// Sends a message; to be cast to the type of its method. nil answers 0.
void objc_msgSend(void);

/// Sends a message to the method of a superclass; to be cast to the type of the method, whose first parameter is a
/// `struct objc_super*` instead.
void objc_msgSendSuper(void);

#ifdef __x86_64__
/// The same for methods that give back a structure in memory.
void objc_msgSend_stret(void);
void objc_msgSendSuper_stret(void);
#endif
#ifdef __cplusplus
}
#endif
