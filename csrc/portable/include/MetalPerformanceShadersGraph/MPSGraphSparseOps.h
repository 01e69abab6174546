// Matrices of which only some elements are given.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// How places are given: a row and a column for each element; or compressed, columns or rows one behind the other.
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

/// A matrix of the shape with zeros where nothing is given; on this framework it is as large in memory as any other.
/// The tensors are vectors: the elements, of the data type, and two of integers. COO: rows and columns. CSC: rows, and
/// where each column begins among the elements, and the last one ends. CSR: columns, and where each row begins, and the
/// last one ends. Elements of the same place are added, those of places outside skipped.
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
