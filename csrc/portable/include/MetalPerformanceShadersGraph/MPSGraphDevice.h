// The device a graph is compiled for.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraphCore.h>

NS_ASSUME_NONNULL_BEGIN

/// Kinds of device.
typedef NS_ENUM(uint32_t, MPSGraphDeviceType) {
  MPSGraphDeviceTypeMetal = 0,
};

/// Wraps a Metal device.
@interface MPSGraphDevice : NSObject {
 @package
  void* _impl;
}

/// Kind of the device.
@property(nonatomic, readonly) MPSGraphDeviceType type;

/// The wrapped device.
@property(nonatomic, readonly, nullable) id<MTLDevice> metalDevice;

/// Retains `metalDevice`; autoreleased.
+ (instancetype)deviceWithMTLDevice:(id<MTLDevice>)metalDevice;

@end

NS_ASSUME_NONNULL_END
