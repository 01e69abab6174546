// What all kernels of MPS have in common.
#pragma once

#import <Foundation/Foundation.h>
#import <MPSCore/MPSCoreTypes.h>

NS_ASSUME_NONNULL_BEGIN

/// Something that a device computes when it is encoded; its settings count at that moment. One thread encodes with it.
@interface MPSKernel : NSObject <NSCopying, NSSecureCoding> {
 @package
  void* _impl;
}

/// Kept, and of no effect: arguments are always checked, and sums are always in float32.
@property(nonatomic, readwrite) MPSKernelOptions options;

/// The device it computes on.
@property(nonatomic, readonly, retain) id<MTLDevice> device;

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// A kernel of the device.
- (instancetype)initWithDevice:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

/// A copy with all settings for `device`; nil stands for its own.
- (instancetype)copyWithZone:(NSZone* _Nullable)zone device:(id<MTLDevice> _Nullable)device;

/// What was encoded, for the default device.
- (instancetype _Nullable)initWithCoder:(NSCoder*)aDecoder;

/// What was encoded, for `device`.
- (instancetype _Nullable)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

@end

NS_ASSUME_NONNULL_END
