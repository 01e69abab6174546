// Matrices given by some of their elements.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Sets how positions are given: a row and a column for each element (COO), or compressed by columns (CSC) or by rows
/// (CSR).
typedef NS_ENUM(uint64_t, MPSGraphSparseStorageType) {
  MPSGraphSparseStorageCOO = 0,
  MPSGraphSparseStorageCSC = 1,
  MPSGraphSparseStorageCSR = 2,
};

/// Storage and type of a sparse matrix.
@interface MPSGraphCreateSparseOpDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

@property(nonatomic, readwrite) MPSGraphSparseStorageType sparseStorageType;
@property(nonatomic, readwrite) MPSDataType dataType;

+ (instancetype _Nullable)descriptorWithStorageType:(MPSGraphSparseStorageType)sparseStorageType
                                           dataType:(MPSDataType)dataType;

@end

/// Makes a matrix of the shape from the given elements; all others are zero. Here it takes as much memory as a dense
/// matrix. The tensors are vectors: the elements, of the data type, and two of integers. COO: the elements' rows and
/// columns. CSC: the elements' rows, then the index of each column's first element, and the number of elements. CSR:
/// the elements' columns, then the index of each row's first element, and the number of elements. Elements at the same
/// position are added; elements outside the shape are skipped.
@interface MPSGraph (MPSGraphSparseOps)

- (MPSGraphTensor*)sparseTensorWithType:(MPSGraphSparseStorageType)sparseStorageType
                                tensors:(NSArray<MPSGraphTensor*>*)inputTensorArray
                                  shape:(MPSShape*)shape
                               dataType:(MPSDataType)dataType
                                   name:(NSString* _Nullable)name;

- (MPSGraphTensor*)sparseTensorWithDescriptor:(MPSGraphCreateSparseOpDescriptor*)sparseDescriptor
                                      tensors:(NSArray<MPSGraphTensor*>*)inputTensorArray
                                        shape:(MPSShape*)shape
                                         name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
