// What kernels of matrices have in common.
#pragma once

#import <MPSCore/MPSKernel.h>
#import <MPSCore/MPSMatrix.h>

NS_ASSUME_NONNULL_BEGIN

/// Makes one matrix of one; of several matrices behind each other one of each.
@interface MPSMatrixUnaryKernel : MPSKernel {
 @package
  MTLOrigin _sourceMatrixOrigin, _resultMatrixOrigin;
  NSUInteger _batchStart, _batchSize;
}

/// The first element that is read and the first that is written: x is the row, y the column, z is 0.
@property(nonatomic, readwrite) MTLOrigin sourceMatrixOrigin;
@property(nonatomic, readwrite) MTLOrigin resultMatrixOrigin;

/// The first of the matrices, and how many; as many as all of them have at first.
@property(nonatomic, readwrite) NSUInteger batchStart;
@property(nonatomic, readwrite) NSUInteger batchSize;

@end

/// Makes one matrix of two.
@interface MPSMatrixBinaryKernel : MPSKernel {
 @package
  MTLOrigin _primarySourceMatrixOrigin, _secondarySourceMatrixOrigin, _resultMatrixOrigin;
  NSUInteger _batchStart, _batchSize;
}

/// The first elements that are read and written, as of a unary kernel.
@property(nonatomic, readwrite) MTLOrigin primarySourceMatrixOrigin;
@property(nonatomic, readwrite) MTLOrigin secondarySourceMatrixOrigin;
@property(nonatomic, readwrite) MTLOrigin resultMatrixOrigin;

/// The first of the matrices, and how many.
@property(nonatomic, readwrite) NSUInteger batchStart;
@property(nonatomic, readwrite) NSUInteger batchSize;

@end

NS_ASSUME_NONNULL_END
