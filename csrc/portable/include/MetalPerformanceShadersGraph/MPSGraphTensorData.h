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

/// Lengths, slowest dimension first.
@property(nonatomic, readonly, copy) MPSShape* shape;

/// Type of the elements.
@property(nonatomic, readonly) MPSDataType dataType;

/// The device with the memory.
@property(nonatomic, readonly) MPSGraphDevice* device;

/// Copies as many bytes as the shape needs; raises if `data` is shorter. Data made without a copy and with
/// freeWhenDone:NO does not own its bytes; its length is not checked.
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

/// Uses the memory of one matrix, with shape (rows, columns), or of several, with shape (matrices, rows, columns).
- (instancetype)initWithMPSMatrix:(MPSMatrix*)matrix;

/// The same with `rank` dimensions: adds leading dimensions of 1, or merges the first dimensions. Raises for a rank of
/// 0 or above 16, and if merged dimensions have gaps between their elements.
- (instancetype)initWithMPSMatrix:(MPSMatrix*)matrix rank:(NSUInteger)rank;

/// Uses the memory of one vector, with shape (length), or of several, with shape (vectors, length).
- (instancetype)initWithMPSVector:(MPSVector*)vector;

/// The same with `rank` dimensions, as for matrices.
- (instancetype)initWithMPSVector:(MPSVector*)vector rank:(NSUInteger)rank;

/// Raises: this device has no textures, and so no images.
- (instancetype)initWithMPSImageBatch:(MPSImageBatch*)imageBatch;

/// An array that uses this memory.
- (MPSNDArray*)mpsndarray;

@end

NS_ASSUME_NONNULL_END
