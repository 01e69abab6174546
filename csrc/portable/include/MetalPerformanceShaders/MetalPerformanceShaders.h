// Umbrella of the portable Metal Performance Shaders: arrays, matrices, command buffers, and the kernels of matrices.
#pragma once

#import <MPSCore/MPSCore.h>
#import <MPSMatrix/MPSMatrix.h>
#import <MPSNeuralNetwork/MPSNeuralNetwork.h>

NS_ASSUME_NONNULL_BEGIN

/// Kinds of devices to choose from; in this framework, only the default device is possible.
typedef NS_OPTIONS(NSUInteger, MPSDeviceOptions) {
  MPSDeviceOptionsDefault = 0,
  MPSDeviceOptionsLowPower = 1,
  MPSDeviceOptionsSkipRemovable = 2,
};

/// Whether the kernels run on the device: on every device of this framework.
MTL_EXTERN BOOL MPSSupportsMTLDevice(id<MTLDevice> _Nullable device);

/// The default device, autoreleased.
MTL_EXTERN id<MTLDevice> _Nullable MPSGetPreferredDevice(MPSDeviceOptions options);

/// Hints about temporary memory; the portable framework needs none.
MTL_EXTERN void MPSHintTemporaryMemoryHighWaterMark(id<MTLCommandBuffer> cmdBuf, NSUInteger bytes);
MTL_EXTERN void MPSSetHeapCacheDuration(id<MTLCommandBuffer> cmdBuf, double seconds);

NS_ASSUME_NONNULL_END
