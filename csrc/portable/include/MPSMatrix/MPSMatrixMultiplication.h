// Products of matrices, and of matrices with vectors.
#pragma once

#import <MPSMatrix/MPSMatrixTypes.h>

NS_ASSUME_NONNULL_BEGIN

/// C = alpha * op(A) * op(B) + beta * C, where op may transpose. C has elements of Float32 or Float16, A and B these or
/// integers of 8 or 16 bits. Sums are in float32.
@interface MPSMatrixMultiplication : MPSKernel {
 @package
  MTLOrigin _resultMatrixOrigin, _leftMatrixOrigin, _rightMatrixOrigin;
  NSUInteger _batchStart, _batchSize;
  BOOL _transposeLeft, _transposeRight;
  NSUInteger _resultRows, _resultColumns, _interiorColumns;
  double _alpha, _beta;
}

/// The first elements that are written and read: x is the row, y the column, z is 0.
@property(nonatomic, readwrite) MTLOrigin resultMatrixOrigin;
@property(nonatomic, readwrite) MTLOrigin leftMatrixOrigin;
@property(nonatomic, readwrite) MTLOrigin rightMatrixOrigin;

/// The first matrix and the number of matrices; by default, as many as all three have.
@property(nonatomic, readwrite) NSUInteger batchStart;
@property(nonatomic, readwrite) NSUInteger batchSize;

/// op(A) has resultRows rows and interiorColumns columns. With beta 0, C is not read.
- (instancetype)initWithDevice:(id<MTLDevice>)device
                 transposeLeft:(BOOL)transposeLeft
                transposeRight:(BOOL)transposeRight
                    resultRows:(NSUInteger)resultRows
                 resultColumns:(NSUInteger)resultColumns
               interiorColumns:(NSUInteger)interiorColumns
                         alpha:(double)alpha
                          beta:(double)beta;

/// C = A * B.
- (instancetype)initWithDevice:(id<MTLDevice>)device
                    resultRows:(NSUInteger)resultRows
                 resultColumns:(NSUInteger)resultColumns
               interiorColumns:(NSUInteger)interiorColumns;

/// Use another initialiser.
- (instancetype)initWithDevice:(id<MTLDevice>)device NS_UNAVAILABLE;

/// Encodes the product; raises for matrices that are too small and for unsupported types. The result may share memory
/// with the others.
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                   leftMatrix:(MPSMatrix*)leftMatrix
                  rightMatrix:(MPSMatrix*)rightMatrix
                 resultMatrix:(MPSMatrix*)resultMatrix;

@end

/// y = alpha * op(A) * x + beta * y, where op may transpose; types as for MPSMatrixMultiplication.
@interface MPSMatrixVectorMultiplication : MPSMatrixBinaryKernel {
 @package
  BOOL _transpose;
  NSUInteger _rows, _columns;
  double _alpha, _beta;
}

/// op(A) has `rows` rows and `columns` columns. With beta 0, y is not read.
- (instancetype)initWithDevice:(id<MTLDevice>)device
                     transpose:(BOOL)transpose
                          rows:(NSUInteger)rows
                       columns:(NSUInteger)columns
                         alpha:(double)alpha
                          beta:(double)beta;

/// y = A * x.
- (instancetype)initWithDevice:(id<MTLDevice>)device rows:(NSUInteger)rows columns:(NSUInteger)columns;

/// Use another initialiser.
- (instancetype)initWithDevice:(id<MTLDevice>)device NS_UNAVAILABLE;

/// Encodes the product; raises as for matrices. In the origins of vectors, x is the first element.
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  inputMatrix:(MPSMatrix*)inputMatrix
                  inputVector:(MPSVector*)inputVector
                 resultVector:(MPSVector*)resultVector;

@end

NS_ASSUME_NONNULL_END
