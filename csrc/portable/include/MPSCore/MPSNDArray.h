// Device arrays of any rank; dimension 0 is the fastest one, shapes go from slow to fast.
#pragma once

#import <Foundation/Foundation.h>
#import <MPSCore/MPSCoreTypes.h>
#import <Metal/Metal.h>

NS_ASSUME_NONNULL_BEGIN

/// Element type and lengths of an array; up to 16 dimensions.
@interface MPSNDArrayDescriptor : NSObject {
 @package
  void* _impl;
}

/// Type of the elements.
@property(nonatomic, readwrite) MPSDataType dataType;

/// Number of dimensions; new ones have length 1.
@property(nonatomic, readwrite) NSUInteger numberOfDimensions;

/// Length of a dimension counted from the fastest; 1 beyond the last.
- (NSUInteger)lengthOfDimension:(NSUInteger)dimensionIndex;

/// `dimensionSizes` lists lengths from fast to slow.
+ (instancetype)descriptorWithDataType:(MPSDataType)dataType
                        dimensionCount:(NSUInteger)numberOfDimensions
                        dimensionSizes:(NSUInteger*)dimensionSizes;

/// `shape` lists lengths from slow to fast.
+ (instancetype)descriptorWithDataType:(MPSDataType)dataType shape:(NSArray<NSNumber*>*)shape;

/// Lengths from fast to slow, each an NSUInteger, ended by a 0.
+ (instancetype)descriptorWithDataType:(MPSDataType)dataType dimensionSizes:(NSUInteger)dimension0, ...;

/// Replaces number and lengths of the dimensions; `dimensionSizes` goes from fast to slow.
- (void)reshapeWithDimensionCount:(NSUInteger)numberOfDimensions dimensionSizes:(NSUInteger*)dimensionSizes;

/// Replaces number and lengths of the dimensions; `shape` goes from slow to fast.
- (void)reshapeWithShape:(NSArray<NSNumber*>*)shape;

/// Use one of the factories.
- (instancetype)init NS_UNAVAILABLE;

@end

/// Elements of one type in memory of a device; one writer or many readers at a time.
@interface MPSNDArray : NSObject {
 @package
  void* _impl;
}

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// Type of the elements.
@property(nonatomic, readonly) MPSDataType dataType;

/// Bytes of one element.
@property(nonatomic, readonly) size_t dataTypeSize;

/// Number of dimensions.
@property(nonatomic, readonly) NSUInteger numberOfDimensions;

/// Where the elements live.
@property(nonatomic, readonly, retain) id<MTLDevice> device;

/// The array this is a view of; nil for an array with memory of its own.
@property(nonatomic, readonly, retain, nullable) MPSNDArray* parent;

/// Length of a dimension counted from the fastest; 1 beyond the last.
- (NSUInteger)lengthOfDimension:(NSUInteger)dimensionIndex;

/// A new descriptor of this array.
- (MPSNDArrayDescriptor*)descriptor;

/// Use initWithDevice:descriptor:.
- (instancetype)init NS_UNAVAILABLE;

/// Elements are undefined until written.
- (instancetype)initWithDevice:(id<MTLDevice>)device
                    descriptor:(MPSNDArrayDescriptor*)descriptor NS_DESIGNATED_INITIALIZER;

/// One Float32 element in one dimension.
- (instancetype)initWithDevice:(id<MTLDevice>)device scalar:(double)value;

/// Bytes of device memory behind the array.
- (NSUInteger)resourceSize;

/// Copies all elements out to `buffer`; strides in bytes from fast to slow, nil for packed, zero and
/// negative allowed.
- (void)readBytes:(void*)buffer strideBytes:(NSInteger* _Nullable)strideBytesPerDimension;

/// Fills all elements from `buffer`; strides as for reading.
- (void)writeBytes:(void*)buffer strideBytes:(NSInteger* _Nullable)strideBytesPerDimension;

/// Makes the result of earlier work visible to the host; nothing to do where memory is shared.
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer;

@end

NS_ASSUME_NONNULL_END
