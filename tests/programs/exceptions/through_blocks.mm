// Exceptions raised inside the blocks of a graph, and by the framework, caught outside.
#include "tensor_data.h"

#include <exception>
#include <stdexcept>
#include <string>

static NSArray<MPSGraphTensor*>* choose(MPSGraph* graph, MPSGraphIfThenElseBlock then) {
  MPSGraphTensor* yes = [graph constantWithScalar:1 dataType:MPSDataTypeBool];
  return [graph ifWithPredicateTensor:yes
                            thenBlock:then
                            elseBlock:^{
                              return @[ [graph constantWithScalar:2 dataType:MPSDataTypeFloat32] ];
                            }
                                 name:nil];
}

int main() {
  @autoreleasepool {
    MPSGraph* graph = [MPSGraph new];
    NSString* reason = nil;
    @try {
      choose(graph, ^NSArray<MPSGraphTensor*>* {
        [NSException raise:NSInvalidArgumentException format:@"no branch"];
        return @[];
      });
    } @catch (NSException* e) {
      reason = e.reason;
    }
    CHECK([reason isEqual:@"no branch"]);

    std::string text;
    try {
      choose(graph, ^NSArray<MPSGraphTensor*>* {
        throw std::runtime_error("no then");
      });
    } catch (const std::exception& e) {
      text = e.what();
    }
    CHECK(text == "no then");

    // The graph is usable after that.
    NSArray<MPSGraphTensor*>* chosen = choose(graph, ^{
      return @[ [graph constantWithScalar:1.5 dataType:MPSDataTypeFloat32] ];
    });
    NSDictionary* results = [graph runWithFeeds:@{} targetTensors:chosen targetOperations:nil];
    CHECK_NEAR(float_of(results[chosen[0]]), 1.5);

    // In a block that an array calls.
    int visited = 0;
    @try {
      int* counter = &visited;
      [@[ @1, @2, @3 ] enumerateObjectsUsingBlock:^(NSNumber* number, NSUInteger, BOOL*) {
        ++*counter;
        if (number.intValue == 2) @throw number;
      }];
    } @catch (NSNumber* number) {
      CHECK(number.intValue == 2 && visited == 2);
    }
  }
}
