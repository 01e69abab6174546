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

/// Uses the memory of the matrices: (rows, columns) of one, (matrices, rows, columns) of several.
- (instancetype)initWithMPSMatrix:(MPSMatrix*)matrix;

/// The same with that many dimensions: lengths of 1 come before them, or the first ones become one. Raises for a rank
/// of 0 or above 16, and where the elements of dimensions that become one have gaps between them.
- (instancetype)initWithMPSMatrix:(MPSMatrix*)matrix rank:(NSUInteger)rank;

/// Uses the memory of the vectors: (length) of one, (vectors, length) of several.
- (instancetype)initWithMPSVector:(MPSVector*)vector;

/// The same with that many dimensions, as of matrices.
- (instancetype)initWithMPSVector:(MPSVector*)vector rank:(NSUInteger)rank;

/// Raises: there are no textures on this device, and so no images.
- (instancetype)initWithMPSImageBatch:(MPSImageBatch*)imageBatch;

/// The array with this memory.
- (MPSNDArray*)mpsndarray;

@end

NS_ASSUME_NONNULL_END
