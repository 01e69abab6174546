// The softmax of the rows of matrices.
#pragma once

#import <MPSMatrix/MPSMatrixTypes.h>

NS_ASSUME_NONNULL_BEGIN

/// Of each row the exponentials, divided by their sum. Elements are Float32 or Float16, of both matrices the same.
@interface MPSMatrixSoftMax : MPSMatrixUnaryKernel {
 @package
  NSUInteger _sourceRows, _sourceColumns;
}

/// How many rows and columns are read from the origin on; all there are at first, and at most so many.
@property(nonatomic, readwrite) NSUInteger sourceRows;
@property(nonatomic, readwrite) NSUInteger sourceColumns;

/// A kernel of the device.
- (instancetype)initWithDevice:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

/// Encodes it; raises for a result that is too small. The result may share memory with the source.
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix*)inputMatrix
                 resultMatrix:(MPSMatrix*)resultMatrix;

/// What was encoded, for `device`.
- (instancetype _Nullable)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

/// A copy with all settings for `device`; nil stands for its own.
- (instancetype)copyWithZone:(NSZone* _Nullable)zone device:(id<MTLDevice> _Nullable)device;

@end

/// The logarithms of that.
@interface MPSMatrixLogSoftMax : MPSMatrixSoftMax
@end

NS_ASSUME_NONNULL_END
