// The softmax of the rows of matrices.
#pragma once

#import <MPSMatrix/MPSMatrixTypes.h>

NS_ASSUME_NONNULL_BEGIN

/// For each row, the exponentials divided by their sum. Elements are Float32 or Float16, the same in both matrices.
@interface MPSMatrixSoftMax : MPSMatrixUnaryKernel {
 @package
  NSUInteger _sourceRows, _sourceColumns;
}

/// The most rows and columns that are read from the origin on; by default, all.
@property(nonatomic, readwrite) NSUInteger sourceRows;
@property(nonatomic, readwrite) NSUInteger sourceColumns;

/// A kernel of the device.
- (instancetype)initWithDevice:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

/// Encodes the kernel; raises if the result is too small. The result may share memory with the source.
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix*)inputMatrix
                 resultMatrix:(MPSMatrix*)resultMatrix;

/// Decodes a kernel for `device`.
- (instancetype _Nullable)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

/// A copy with all settings for `device`; nil means the same device.
- (instancetype)copyWithZone:(NSZone* _Nullable)zone device:(id<MTLDevice> _Nullable)device;

@end

/// The logarithm of the softmax.
@interface MPSMatrixLogSoftMax : MPSMatrixSoftMax
@end

NS_ASSUME_NONNULL_END
