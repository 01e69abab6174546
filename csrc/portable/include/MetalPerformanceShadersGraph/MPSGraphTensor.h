// Tensors: the symbolic values of a graph.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraphCore.h>

NS_ASSUME_NONNULL_BEGIN

@class MPSGraphOperation;

/// A result of an operation, owned by its graph. Copying returns the same tensor, so a tensor can be a key of a
/// dictionary.
@interface MPSGraphTensor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Inferred when the op was added; nil when the rank is unknown.
@property(nonatomic, readonly, copy, nullable) MPSShape* shape;

/// Type of the elements.
@property(nonatomic, readonly) MPSDataType dataType;

/// The operation that makes the tensor.
@property(nonatomic, readonly) MPSGraphOperation* operation;

/// Tensors are made by the methods of MPSGraph.
- (instancetype)init NS_UNAVAILABLE;

@end

NS_ASSUME_NONNULL_END
