// Operations: the nodes of a graph.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraphCore.h>

NS_ASSUME_NONNULL_BEGIN

@class MPSGraph, MPSGraphTensor;

/// A node, owned by its graph; copying returns the same operation.
@interface MPSGraphOperation : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Operands in order.
@property(nonatomic, readonly) NSArray<MPSGraphTensor*>* inputTensors;

/// Results in order.
@property(nonatomic, readonly) NSArray<MPSGraphTensor*>* outputTensors;

/// Operations that run before it without giving it a value.
@property(nonatomic, readonly) NSArray<MPSGraphOperation*>* controlDependencies;

/// The graph that owns it.
@property(nonatomic, readonly) MPSGraph* graph;

/// Unique in the graph, generated when none was given.
@property(nonatomic, readonly) NSString* name;

/// Operations are made by the methods of MPSGraph.
- (instancetype)init NS_UNAVAILABLE;

@end

NS_ASSUME_NONNULL_END
