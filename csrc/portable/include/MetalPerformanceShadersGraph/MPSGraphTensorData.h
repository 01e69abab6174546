// Tensor data: the concrete values fed to and returned by runs.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraphCore.h>
#import <MetalPerformanceShadersGraph/MPSGraphDevice.h>

NS_ASSUME_NONNULL_BEGIN

/// A shape and an element type over memory of a device.
@interface MPSGraphTensorData : NSObject {
 @package
  void* _impl;
}

/// Lengths from slow to fast.
@property(nonatomic, readonly, copy) MPSShape* shape;

/// Type of the elements.
@property(nonatomic, readonly) MPSDataType dataType;

/// Where the memory is.
@property(nonatomic, readonly) MPSGraphDevice* device;

/// Copies as many bytes as the shape needs. For data that does not own its bytes (made without a copy and with
/// freeWhenDone:NO) the length is not checked; other data must be long enough.
- (instancetype)initWithDevice:(MPSGraphDevice*)device
                          data:(NSData*)data
                         shape:(MPSShape*)shape
                      dataType:(MPSDataType)dataType;

/// Uses the memory of `buffer`, packed, slowest dimension first.
- (instancetype)initWithMTLBuffer:(id<MTLBuffer>)buffer shape:(MPSShape*)shape dataType:(MPSDataType)dataType;

/// Uses the memory of `buffer` with `rowBytes` from one row of the fastest dimension to the next.
- (instancetype)initWithMTLBuffer:(id<MTLBuffer>)buffer
                            shape:(MPSShape*)shape
                         dataType:(MPSDataType)dataType
                         rowBytes:(NSUInteger)rowBytes;

/// Uses the memory of `ndarray`.
- (instancetype)initWithMPSNDArray:(MPSNDArray*)ndarray;

/// The array with this memory.
- (MPSNDArray*)mpsndarray;

@end

NS_ASSUME_NONNULL_END
