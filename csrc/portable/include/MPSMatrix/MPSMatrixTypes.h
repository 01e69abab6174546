// Base classes of matrix kernels.
#pragma once

#import <MPSCore/MPSKernel.h>
#import <MPSCore/MPSMatrix.h>

NS_ASSUME_NONNULL_BEGIN

/// Computes a matrix from a matrix; for several matrices in a row, each from one.
@interface MPSMatrixUnaryKernel : MPSKernel {
 @package
  MTLOrigin _sourceMatrixOrigin, _resultMatrixOrigin;
  NSUInteger _batchStart, _batchSize;
}

/// The first element that is read and the first that is written: x is the row, y the column, z is 0.
@property(nonatomic, readwrite) MTLOrigin sourceMatrixOrigin;
@property(nonatomic, readwrite) MTLOrigin resultMatrixOrigin;

/// The first matrix and the number of matrices; by default, as many as all have.
@property(nonatomic, readwrite) NSUInteger batchStart;
@property(nonatomic, readwrite) NSUInteger batchSize;

@end

/// Computes a matrix from two.
@interface MPSMatrixBinaryKernel : MPSKernel {
 @package
  MTLOrigin _primarySourceMatrixOrigin, _secondarySourceMatrixOrigin, _resultMatrixOrigin;
  NSUInteger _batchStart, _batchSize;
}

/// The first elements that are read and written, as in a unary kernel.
@property(nonatomic, readwrite) MTLOrigin primarySourceMatrixOrigin;
@property(nonatomic, readwrite) MTLOrigin secondarySourceMatrixOrigin;
@property(nonatomic, readwrite) MTLOrigin resultMatrixOrigin;

/// The first matrix and the number of matrices.
@property(nonatomic, readwrite) NSUInteger batchStart;
@property(nonatomic, readwrite) NSUInteger batchSize;

@end

NS_ASSUME_NONNULL_END
