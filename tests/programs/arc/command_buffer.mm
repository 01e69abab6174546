// Several graphs encoded into one command buffer, the second fed with the first one's result.
#include "tensor_data.h"

int main() {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> queue = [device newCommandQueue];
    MPSGraph *doubling = [MPSGraph new], *adding = [MPSGraph new];
    MPSGraphTensor* a = [doubling placeholderWithShape:@[ @3 ] dataType:MPSDataTypeFloat32 name:nil];
    MPSGraphTensor* twice = [doubling additionWithPrimaryTensor:a secondaryTensor:a name:nil];
    MPSGraphTensor* b = [adding placeholderWithShape:@[ @3 ] dataType:MPSDataTypeFloat32 name:nil];
    MPSGraphTensor* total = [adding reductionSumWithTensor:b axis:0 name:nil];
    static const float values[] = {1, 2, 4};
    run_steps(^{
      MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:queue];
      MPSGraphTensorDataDictionary* first = [doubling encodeToCommandBuffer:commands
                                                                      feeds:@{
                                                                        a : data_of(values, @[ @3 ])
                                                                      }
                                                              targetTensors:@[ twice ]
                                                           targetOperations:nil
                                                        executionDescriptor:nil];
      [commands commitAndContinue];
      auto second = [adding encodeToCommandBuffer:commands
                                            feeds:@{b : first[twice]}
                                    targetTensors:@[ total ]
                                 targetOperations:nil
                              executionDescriptor:nil];
      __block BOOL completed = NO;
      [commands addCompletedHandler:^(id<MTLCommandBuffer> buffer) {
        completed = buffer.error == nil;
      }];
      [commands commit];
      [commands waitUntilCompleted];
      CHECK(completed && commands.status == MTLCommandBufferStatusCompleted);
      CHECK_NEAR(float_of(second[total]), 14);
    });
  }
}
