// Conditionals, loops and control dependencies from functions that build their blocks.
#pragma once

#include "graph_testing.h"

using Branch = std::function<NSArray*()>;
using Body = std::function<NSArray*(MPSGraphTensor* index, NSArray* carried)>;

inline MPSGraphTensor* first(NSArray* tensors) { return [tensors objectAtIndex:0]; }

inline MPSGraphTensor* read(MPSGraph* graph, MPSGraphTensor* variable) {
  return [graph readVariable:variable name:nil];
}

inline Array flag(int value) { return Array({1}, value, MPSDataTypeBool); }

inline NSArray* choose(MPSGraph* graph, MPSGraphTensor* predicate, const Branch& yes, const Branch& no) {
  return [graph ifWithPredicateTensor:predicate
      thenBlock:^{
        return yes();
      }
      elseBlock:^{
        return no();
      }
      name:nil];
}

// What the function makes, after an operation.
inline NSArray* after(MPSGraph* graph, MPSGraphOperation* operation, const Branch& then) {
  return [graph controlDependencyWithOperations:list(operation)
                                 dependentBlock:^{
                                   return then();
                                 }
                                           name:nil];
}

inline NSArray* repeated(MPSGraph* graph, MPSGraphTensor* times, NSArray* initial, const Body& body) {
  return [graph forLoopWithNumberOfIterations:times
                         initialBodyArguments:initial
                                         body:^(MPSGraphTensor* index, NSArray* carried) {
                                           return body(index, carried);
                                         }
                                         name:nil];
}

inline NSArray* counted(MPSGraph* graph, MPSGraphTensor* lower, MPSGraphTensor* upper, MPSGraphTensor* step,
                        NSArray* initial, const Body& body) {
  return [graph forLoopWithLowerBound:lower
                           upperBound:upper
                                 step:step
                 initialBodyArguments:initial
                                 body:^(MPSGraphTensor* index, NSArray* carried) {
                                   return body(index, carried);
                                 }
                                 name:nil];
}
