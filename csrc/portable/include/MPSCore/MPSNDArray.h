// Device arrays of any rank; dimension 0 is the fastest one, shapes go from slow to fast.
#pragma once

#import <Foundation/Foundation.h>
#import <MPSCore/MPSCoreTypes.h>
#import <MPSCore/MPSImage.h>
#import <Metal/Metal.h>

NS_ASSUME_NONNULL_BEGIN

@class MPSKernel;
@class MPSNDArray;
@class MPSNDArrayDescriptor;

/// Sixteen small numbers, one for each dimension.
typedef unsigned char vector_uchar16 __attribute__((__ext_vector_type__(16)));

/// Makes the arrays that kernels write.
@protocol MPSNDArrayAllocator <NSObject, NSSecureCoding, NSCopying>

/// A new array, autoreleased.
- (MPSNDArray*)arrayForCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                     arrayDescriptor:(MPSNDArrayDescriptor*)descriptor
                              kernel:(MPSKernel*)kernel;

@end

/// Element type and lengths of an array with up to 16 dimensions. For a view, also the elements of its array and the
/// order of dimensions. All methods number the dimensions in their current order.
@interface MPSNDArrayDescriptor : NSObject {
 @package
  void* _impl;
}

/// Type of the elements.
@property(nonatomic, readwrite) MPSDataType dataType;

/// Number of dimensions; new ones have length 1.
@property(nonatomic, readwrite) NSUInteger numberOfDimensions;

/// Length of a dimension counted from the fastest, before it is sliced; 1 beyond the last.
- (NSUInteger)lengthOfDimension:(NSUInteger)dimensionIndex;

/// The range of a dimension in a view; {0, 1} beyond the last dimension.
- (MPSDimensionSlice)sliceRangeForDimension:(NSUInteger)dimensionIndex;

/// Restricts a view to these elements of a dimension; raises for a range that is empty or not inside.
- (void)sliceDimension:(NSUInteger)dimensionIndex withSubrange:(MPSDimensionSlice)subRange;

/// Exchanges two dimensions.
- (void)transposeDimension:(NSUInteger)dimensionIndex withDimension:(NSUInteger)dimensionIndex2;

/// For each dimension, its number in the array: {0, 1, 2, ...} by default, {1, 0, 2, ...} after exchanging the first
/// two.
- (vector_uchar16)dimensionOrder;

/// Moves dimension dimensionOrder[i] to position i; raises unless each dimension is named once.
- (void)permuteWithDimensionOrder:(NSUInteger*)dimensionOrder;

/// Lengths from slow to fast, before slicing.
- (NSArray<NSNumber*>*)getShape;

/// Asks for rows without gaps; rows never have gaps, whatever the value. NO by default.
@property(nonatomic, readwrite) BOOL preferPackedRows;

/// `dimensionSizes` lists lengths from fast to slow.
+ (instancetype)descriptorWithDataType:(MPSDataType)dataType
                        dimensionCount:(NSUInteger)numberOfDimensions
                        dimensionSizes:(NSUInteger*)dimensionSizes;

/// `shape` lists lengths from slow to fast.
+ (instancetype)descriptorWithDataType:(MPSDataType)dataType shape:(NSArray<NSNumber*>*)shape;

/// Lengths from fast to slow, each an NSUInteger, terminated by 0.
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

/// Makes arrays with memory of their own.
+ (id<MPSNDArrayAllocator>)defaultAllocator;

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// Type of the elements.
@property(nonatomic, readonly) MPSDataType dataType;

/// Bytes of one element.
@property(nonatomic, readonly) size_t dataTypeSize;

/// Number of dimensions.
@property(nonatomic, readonly) NSUInteger numberOfDimensions;

/// The device of the elements.
@property(nonatomic, readonly, retain) id<MTLDevice> device;

/// The array of which this is a view; nil for an array with memory of its own.
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

/// Uses the memory of `buffer` from `offset` on, packed. Raises if it is too short, or if the offset is not a multiple
/// of the elements' size.
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSNDArrayDescriptor*)descriptor NS_DESIGNATED_INITIALIZER;

/// The buffer that the array was made with; nil for one with memory of its own.
- (id<MTLBuffer> _Nullable)userBuffer;

/// A view with the descriptor's slices, order, shape and type, autoreleased. It shares the memory, unless the strategy
/// forbids that or it is impossible; then it is a copy, which the command buffer makes. A view of another type is
/// always a copy, and so is another shape of elements that are not contiguous. Nil if the strategy is ShallAlias and
/// sharing is impossible. Raises for a descriptor of other lengths than the array's.
- (MPSNDArray* _Nullable)arrayViewWithCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                                         descriptor:(MPSNDArrayDescriptor*)descriptor
                                           aliasing:(MPSAliasingStrategy)aliasing;

/// The same without a command buffer; nil if the view cannot share the memory.
- (MPSNDArray* _Nullable)arrayViewWithDescriptor:(MPSNDArrayDescriptor*)descriptor;

/// A view of any shape of the memory, with strides in elements. Both go from slow to fast; nil means the array's shape.
/// Nil if the view reaches beyond the end of the array.
- (MPSNDArray* _Nullable)arrayViewWithShape:(MPSShape* _Nullable)shape strides:(MPSShape*)strides;

/// The same with lengths and strides from fast to slow.
- (MPSNDArray* _Nullable)arrayViewWithDimensionCount:(NSUInteger)numberOfDimensions
                                      dimensionSizes:(const NSUInteger*)dimensionSizes
                                             strides:(const NSUInteger*)dimStrides;

/// Encodes a copy of all elements to a buffer, as elements of that type, from `offset` bytes on. `rowStrides` has the
/// distances in bytes of each dimension but the fastest, from fast to slow; nil for packed. Raises if an element would
/// be outside the buffer.
- (void)exportDataWithCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                           toBuffer:(id<MTLBuffer>)buffer
                destinationDataType:(MPSDataType)destinationDataType
                             offset:(NSUInteger)offset
                         rowStrides:(NSInteger* _Nullable)rowStrides;

/// Encodes a copy of all elements from a buffer; the arguments are those of exporting.
- (void)importDataWithCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                         fromBuffer:(id<MTLBuffer>)buffer
                     sourceDataType:(MPSDataType)sourceDataType
                             offset:(NSUInteger)offset
                         rowStrides:(NSInteger* _Nullable)rowStrides;

/// Raise: this device has no textures, and so no images.
- (void)exportDataWithCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                           toImages:(MPSImageBatch*)images
                             offset:(MPSImageCoordinate)offset;
- (void)importDataWithCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                         fromImages:(MPSImageBatch*)images
                             offset:(MPSImageCoordinate)offset;

/// Bytes of the array's device memory.
- (NSUInteger)resourceSize;

/// Copies all elements to `buffer`. Strides are in bytes from fast to slow; nil for packed; zero and negative are
/// allowed.
- (void)readBytes:(void*)buffer strideBytes:(NSInteger* _Nullable)strideBytesPerDimension;

/// Sets all elements from `buffer`; strides as for reading.
- (void)writeBytes:(void*)buffer strideBytes:(NSInteger* _Nullable)strideBytesPerDimension;

/// Makes the result of earlier work visible to the host; does nothing if memory is shared.
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer;

@end

/// An array that lives as long as its command buffer needs it.
@interface MPSTemporaryNDArray : MPSNDArray

/// Makes temporary arrays.
+ (id<MPSNDArrayAllocator>)defaultAllocator;

/// A new array that the command buffer keeps until it is completed, autoreleased.
+ (instancetype)temporaryNDArrayWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                                       descriptor:(MPSNDArrayDescriptor*)descriptor;

/// Use the factory.
- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSNDArrayDescriptor*)descriptor NS_UNAVAILABLE;

/// The number of further exports, copies and kernels that may read the array; 1 by default. Each that is encoded counts
/// down, and at 0 it raises. Setting it also raises at 0.
@property(nonatomic, readwrite) NSUInteger readCount;

@end

NS_ASSUME_NONNULL_END
