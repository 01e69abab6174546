// Macros that Apple's Metal headers define for their own use: linkage and availability.
#pragma once

#import <Foundation/Foundation.h>

#ifdef __cplusplus
#define MTL_EXTERN extern "C" __attribute__((visibility("default")))
#else
#define MTL_EXTERN extern __attribute__((visibility("default")))
#endif

// Everything declared here is available, so availability macros mean nothing.
#define MPS_AVAILABLE_STARTING(...)
#define MPS_CLASS_AVAILABLE_STARTING(...)
#define MPS_ENUM_AVAILABLE_STARTING(...)
#define MPS_SWIFT_NAME(name)
