// Foundation: GNUstep's, and definitions that programs expect from Apple's header or compiler and GNUstep lacks:
// booleans in literals, a nil that converts to every pointer, nullability, availability, linkage.
#pragma once
#pragma GCC system_header  // include_next is not standard C

// GNUstep declares these methods of dictionaries with the dictionary's types of keys and values. Here block parameters
// are `id`, so blocks may be written with any class.
#define enumerateKeysAndObjectsUsingBlock alloy_enumerate
#define enumerateKeysAndObjectsWithOptions alloy_enumerateWithOptions
#define keysOfEntriesPassingTest alloy_keysOfEntries
#define keysOfEntriesWithOptions alloy_keysOfEntriesWithOptions
#define keysSortedByValueUsingSelector alloy_keysSortedBySelector
#define keysSortedByValueUsingComparator alloy_keysSortedByComparator
#define keysSortedByValueWithOptions alloy_keysSortedWithOptions
#include_next <Foundation/Foundation.h>
#undef enumerateKeysAndObjectsUsingBlock
#undef enumerateKeysAndObjectsWithOptions
#undef keysOfEntriesPassingTest
#undef keysOfEntriesWithOptions
#undef keysSortedByValueUsingSelector
#undef keysSortedByValueUsingComparator
#undef keysSortedByValueWithOptions
#if defined(__OBJC__) && __has_feature(objc_generics)
@interface NSDictionary <KeyType, ObjectType>(AlloyTypes)
- (void)enumerateKeysAndObjectsUsingBlock:(void (^)(id key, id object, BOOL* stop))block;
- (void)enumerateKeysAndObjectsWithOptions:(NSEnumerationOptions)options
                                usingBlock:(void (^)(id key, id object, BOOL* stop))block;
- (NSSet<KeyType>*)keysOfEntriesPassingTest:(BOOL (^)(id key, id object, BOOL* stop))predicate;
- (NSSet<KeyType>*)keysOfEntriesWithOptions:(NSEnumerationOptions)options
                                passingTest:(BOOL (^)(id key, id object, BOOL* stop))predicate;
- (NSArray<KeyType>*)keysSortedByValueUsingSelector:(SEL)selector;
- (NSArray<KeyType>*)keysSortedByValueUsingComparator:(NSComparator)comparator;
- (NSArray<KeyType>*)keysSortedByValueWithOptions:(NSSortOptions)options usingComparator:(NSComparator)comparator;
@end
#endif

#import <CoreFoundation/CoreFoundation.h>
#include <TargetConditionals.h>
#include <mach/vm_param.h>

// The nullability words are Apple's API, and clang's -pedantic would report each of them.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif

// GNUstep's definitions are casts, which @YES does not accept.
#if defined(__clang__)
#undef YES
#undef NO
#define YES __objc_yes
#define NO __objc_no
#endif

// GNUstep's nil is (id)0, which no C pointer accepts; Apple's programs pass nil for `NSInteger *` too.
#undef nil
#undef Nil
#ifdef __cplusplus
#define nil nullptr
#define Nil nullptr
#else
#define nil ((void*)0)
#define Nil ((void*)0)
#endif

// Apple's compiler knows these older words. The C library has a macro __nonnull(parameters). Here the word alone
// becomes _Nonnull; followed by the C library's parameters in parentheses, it becomes that library's attribute.
#undef __nonnull
#define __nonnull _Nonnull
#define __nullable _Nullable
#define __null_unspecified _Null_unspecified
#define _Nonnull(...) ALLOY_NONNULL_PICK(ALLOY_NONNULL_PROBE __VA_ARGS__, ALLOY_NONNULL_WORD, )(__VA_ARGS__)
#define ALLOY_NONNULL_PROBE(...) ~, ALLOY_NONNULL_ATTRIBUTE
#define ALLOY_NONNULL_PICK(first, ...) ALLOY_NONNULL_SECOND(first, __VA_ARGS__)
#define ALLOY_NONNULL_SECOND(first, second, ...) second
#define ALLOY_NONNULL_ATTRIBUTE(parameters) __attribute__((__nonnull__ parameters))
#define ALLOY_NONNULL_WORD(...) _Nonnull(__VA_ARGS__)

// GNUstep defines this to nothing, so `[[MPSNDArray alloc] init]` would compile here and not on a Mac.
#undef NS_UNAVAILABLE
#define NS_UNAVAILABLE __attribute__((unavailable))

#ifndef NS_RETURNS_INNER_POINTER
#define NS_RETURNS_INNER_POINTER __attribute__((objc_returns_inner_pointer))
#endif
#ifndef NS_SWIFT_NAME
#define NS_SWIFT_NAME(name)
#endif
#ifndef NS_REFINED_FOR_SWIFT
#define NS_REFINED_FOR_SWIFT
#endif
#ifndef NS_NOESCAPE
#define NS_NOESCAPE
#endif
#ifndef NS_INLINE
#define NS_INLINE static inline
#endif

// Everything declared here is available, so availability macros mean nothing.
#ifndef API_AVAILABLE
#define API_AVAILABLE(...)
#define API_UNAVAILABLE(...)
#define API_DEPRECATED(...)
#define API_DEPRECATED_WITH_REPLACEMENT(...)
#define API_AVAILABLE_BEGIN(...)
#define API_AVAILABLE_END
#endif
#ifndef NS_AVAILABLE
#define NS_AVAILABLE(...)
#define NS_AVAILABLE_MAC(...)
#define NS_AVAILABLE_IOS(...)
#endif
