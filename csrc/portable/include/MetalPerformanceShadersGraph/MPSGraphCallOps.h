// Executables that a graph calls.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

@interface MPSGraph (CallOp)

/// The results of the executable that the compilation descriptor's `callables` has under the name, in the order of its
/// targetTensors, for these inputs, in the order of its feedTensors. Compiling raises where there is none, and where a
/// type is another one than its own or than `outputTypes` says. No gradient flows through a call.
- (NSArray<MPSGraphTensor*>*)callSymbolName:(NSString*)symbolName
                               inputTensors:(NSArray<MPSGraphTensor*>*)inputTensors
                                outputTypes:(NSArray<MPSGraphType*>*)outputTypes
                                       name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
