// What Apple's headers take from the compiler and from Foundation of a Mac and GNUstep lacks: availability,
// unavailability, linkage, and a nil that is a pointer of every kind. Refuses to declare any API.
#pragma once

#import <Foundation/Foundation.h>

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

// GNUstep defines it to nothing, which would let `[[MPSNDArray alloc] init]` compile here and not on a Mac.
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

#ifdef __cplusplus
#define MTL_EXTERN extern "C" __attribute__((visibility("default")))
#else
#define MTL_EXTERN extern __attribute__((visibility("default")))
#endif

// Everything declared here is there, so availability says nothing.
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
#define MPS_AVAILABLE_STARTING(...)
#define MPS_CLASS_AVAILABLE_STARTING(...)
#define MPS_ENUM_AVAILABLE_STARTING(...)
#define MPS_SWIFT_NAME(name)

// The nullability words are Apple's API, and clang's -pedantic would report each of them.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wnullability-extension"
#endif
