// Executables that a graph calls.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

@interface MPSGraph (CallOp)

/// Calls the executable that the compilation descriptor's `callables` has under this name. The inputs are in the order
/// of its feedTensors, the results in the order of its targetTensors. Compiling raises if there is no such executable,
/// or if a type differs from the executable's or from `outputTypes`. No gradient flows through a call.
- (NSArray<MPSGraphTensor*>*)callSymbolName:(NSString*)symbolName
                               inputTensors:(NSArray<MPSGraphTensor*>*)inputTensors
                                outputTypes:(NSArray<MPSGraphType*>*)outputTypes
                                       name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END
