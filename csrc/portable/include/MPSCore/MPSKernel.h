// The base class of all kernels of MPS.
#pragma once

#import <Foundation/Foundation.h>
#import <MPSCore/MPSCoreTypes.h>

NS_ASSUME_NONNULL_BEGIN

/// A computation that a device runs when it is encoded, with the kernel's settings at that moment. One thread encodes.
@interface MPSKernel : NSObject <NSCopying, NSSecureCoding> {
 @package
  void* _impl;
}

/// Stored without effect: arguments are always checked, and sums are always in float32.
@property(nonatomic, readwrite) MPSKernelOptions options;

/// The device it computes on.
@property(nonatomic, readonly, retain) id<MTLDevice> device;

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// A kernel of the device.
- (instancetype)initWithDevice:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

/// A copy with all settings for `device`; nil means the same device.
- (instancetype)copyWithZone:(NSZone* _Nullable)zone device:(id<MTLDevice> _Nullable)device;

/// Decodes a kernel for the default device.
- (instancetype _Nullable)initWithCoder:(NSCoder*)aDecoder;

/// Decodes a kernel for `device`.
- (instancetype _Nullable)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

@end

NS_ASSUME_NONNULL_END
