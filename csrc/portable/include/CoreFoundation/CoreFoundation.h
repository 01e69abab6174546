// The part of CoreFoundation that Objective-C programs use: ownership of objects in C, and the time. Its objects are
// Foundation's. The functions of strings, collections and run loops are missing.
#pragma once

// Programs rely on Apple's header including these.
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
#define CF_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define CF_EXPORT extern __attribute__((visibility("default")))
#endif

/// An object of any class.
typedef const void* CFTypeRef;
/// Objects of Foundation's classes of these names.
typedef const struct __CFString* CFStringRef;
typedef const struct __CFArray* CFArrayRef;
typedef const struct __CFDictionary* CFDictionaryRef;
typedef const struct __CFData* CFDataRef;
typedef const struct __CFNumber* CFNumberRef;
typedef const struct __CFError* CFErrorRef;
typedef const struct __CFURL* CFURLRef;

typedef long CFIndex;
/// Seconds.
typedef double CFTimeInterval;
/// Seconds since 2001-01-01 00:00 UTC.
typedef CFTimeInterval CFAbsoluteTime;

/// Retains an object; raises for NULL.
CF_EXPORT CFTypeRef CFRetain(CFTypeRef object);

/// Releases an object; raises for NULL.
CF_EXPORT void CFRelease(CFTypeRef object);

/// The present time.
static inline CFAbsoluteTime CFAbsoluteTimeGetCurrent(void) {
  struct timeval now;
  gettimeofday(&now, 0);
  return (double)now.tv_sec - 978307200.0 + 1e-6 * (double)now.tv_usec;
}

#ifdef __OBJC__

/// Passes an object to C, which must release it.
static inline CFTypeRef CFBridgingRetain(id object) {
#if __has_feature(objc_arc)
  return (__bridge_retained CFTypeRef)object;
#else
  return object ? CFRetain((CFTypeRef)object) : (CFTypeRef)0;
#endif
}

/// Takes over an object that C owned.
static inline id CFBridgingRelease(CFTypeRef object) {
#if __has_feature(objc_arc)
  return (__bridge_transfer id)object;
#else
  return [(id)object autorelease];
#endif
}
#endif
