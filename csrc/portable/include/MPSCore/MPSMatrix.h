// Matrices and vectors in buffers, one or several in a row.
#pragma once

#import <Foundation/Foundation.h>
#import <MPSCore/MPSCoreTypes.h>
#import <Metal/Metal.h>

NS_ASSUME_NONNULL_BEGIN

/// Extents and layout of matrices in a buffer.
@interface MPSMatrixDescriptor : NSObject {
 @package
  void* _impl;
}

/// Rows and columns of each matrix.
@property(nonatomic, readwrite) NSUInteger rows;
@property(nonatomic, readwrite) NSUInteger columns;

/// Number of matrices.
@property(nonatomic, readonly) NSUInteger matrices;

/// Type of the elements.
@property(nonatomic, readwrite) MPSDataType dataType;

/// Distance of rows in bytes, a multiple of the elements' size.
@property(nonatomic, readwrite) NSUInteger rowBytes;

/// Distance of matrices in bytes, a multiple of rowBytes.
@property(nonatomic, readonly) NSUInteger matrixBytes;

/// One matrix.
+ (instancetype)matrixDescriptorWithDimensions:(NSUInteger)rows
                                       columns:(NSUInteger)columns
                                      rowBytes:(NSUInteger)rowBytes
                                      dataType:(MPSDataType)dataType;
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                rowBytes:(NSUInteger)rowBytes
                                dataType:(MPSDataType)dataType;

/// Several matrices.
+ (instancetype)matrixDescriptorWithRows:(NSUInteger)rows
                                 columns:(NSUInteger)columns
                                matrices:(NSUInteger)matrices
                                rowBytes:(NSUInteger)rowBytes
                             matrixBytes:(NSUInteger)matrixBytes
                                dataType:(MPSDataType)dataType;

/// A good distance of rows: packed, rounded up to 16 bytes.
+ (size_t)rowBytesFromColumns:(NSUInteger)columns dataType:(MPSDataType)dataType;
+ (size_t)rowBytesForColumns:(NSUInteger)columns dataType:(MPSDataType)dataType;

@end

/// Lengths and layout of vectors in a buffer.
@interface MPSVectorDescriptor : NSObject {
 @package
  void* _impl;
}

/// Elements of each vector.
@property(nonatomic, readwrite) NSUInteger length;

/// Number of vectors.
@property(nonatomic, readonly) NSUInteger vectors;

/// Type of the elements.
@property(nonatomic, readwrite) MPSDataType dataType;

/// Distance of vectors in bytes, a multiple of the elements' size.
@property(nonatomic, readonly) NSUInteger vectorBytes;

/// One vector.
+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length dataType:(MPSDataType)dataType;

/// Several vectors.
+ (instancetype)vectorDescriptorWithLength:(NSUInteger)length
                                   vectors:(NSUInteger)vectors
                               vectorBytes:(NSUInteger)vectorBytes
                                  dataType:(MPSDataType)dataType;

/// A good distance of vectors: packed, rounded up to 16 bytes.
+ (size_t)vectorBytesForLength:(NSUInteger)length dataType:(MPSDataType)dataType;

@end

/// Matrices in a buffer.
@interface MPSMatrix : NSObject {
 @package
  void* _impl;
}

/// The device of the buffer.
@property(nonatomic, readonly, retain) id<MTLDevice> device;

/// The descriptor's values.
@property(nonatomic, readonly) NSUInteger rows;
@property(nonatomic, readonly) NSUInteger columns;
@property(nonatomic, readonly) NSUInteger matrices;
@property(nonatomic, readonly) MPSDataType dataType;
@property(nonatomic, readonly) NSUInteger rowBytes;
@property(nonatomic, readonly) NSUInteger matrixBytes;

/// Bytes from the start of the buffer to the first element.
@property(nonatomic, readonly) NSUInteger offset;

/// The buffer.
@property(nonatomic, readonly) id<MTLBuffer> data;

/// Uses the memory of `buffer`; raises if it is too short.
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSMatrixDescriptor*)descriptor;

/// The same from `offset` on, a multiple of the elements' size.
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSMatrixDescriptor*)descriptor;

/// Has memory of its own, zeros at first.
- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSMatrixDescriptor*)descriptor;

/// Use one of the initialisers with a descriptor.
- (instancetype)init NS_UNAVAILABLE;

/// Makes the result of earlier work visible to the host; does nothing if memory is shared.
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer;

/// Bytes of the buffer.
- (NSUInteger)resourceSize;

@end

/// Vectors in a buffer.
@interface MPSVector : NSObject {
 @package
  void* _impl;
}

/// The device of the buffer.
@property(nonatomic, readonly, retain) id<MTLDevice> device;

/// The descriptor's values.
@property(nonatomic, readonly) NSUInteger length;
@property(nonatomic, readonly) NSUInteger vectors;
@property(nonatomic, readonly) MPSDataType dataType;
@property(nonatomic, readonly) NSUInteger vectorBytes;

/// Bytes from the start of the buffer to the first element.
@property(nonatomic, readonly) NSUInteger offset;

/// The buffer.
@property(nonatomic, readonly) id<MTLBuffer> data;

/// Uses the memory of `buffer`; raises if it is too short.
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSVectorDescriptor*)descriptor;

/// The same from `offset` on, a multiple of the elements' size.
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSVectorDescriptor*)descriptor;

/// Has memory of its own, zeros at first.
- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSVectorDescriptor*)descriptor;

/// Use one of the initialisers with a descriptor.
- (instancetype)init NS_UNAVAILABLE;

/// Makes the result of earlier work visible to the host; does nothing if memory is shared.
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer;

/// Bytes of the buffer.
- (NSUInteger)resourceSize;

@end

/// Matrices that live as long as their command buffer needs them.
@interface MPSTemporaryMatrix : MPSMatrix

/// New matrices that the command buffer keeps until it is completed, autoreleased.
+ (instancetype)temporaryMatrixWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                                matrixDescriptor:(MPSMatrixDescriptor*)matrixDescriptor;

/// A hint about future memory; the portable framework needs none.
+ (void)prefetchStorageWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                    matrixDescriptorList:(NSArray<MPSMatrixDescriptor*>*)descriptorList;

/// Use the factory.
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSMatrixDescriptor*)descriptor NS_UNAVAILABLE;

/// The number of further kernels that may read the matrices; 1 by default. Each encoded kernel that reads them counts
/// down, and at 0 it raises. Setting it also raises at 0.
@property(nonatomic, readwrite) NSUInteger readCount;

@end

/// Vectors that live as long as their command buffer needs them.
@interface MPSTemporaryVector : MPSVector

/// New vectors that the command buffer keeps until it is completed, autoreleased.
+ (instancetype)temporaryVectorWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                                      descriptor:(MPSVectorDescriptor*)descriptor;

/// A hint about future memory; the portable framework needs none.
+ (void)prefetchStorageWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                          descriptorList:(NSArray<MPSVectorDescriptor*>*)descriptorList;

/// Use the factory.
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer descriptor:(MPSVectorDescriptor*)descriptor NS_UNAVAILABLE;

/// The number of further kernels that may read the vectors, as for temporary matrices.
@property(nonatomic, readwrite) NSUInteger readCount;

@end

NS_ASSUME_NONNULL_END
