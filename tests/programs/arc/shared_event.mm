// Two queues in order by an event: the second graph reads what the first one writes.
#include "tensor_data.h"

int main() {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> compute = [device newCommandQueue], post = [device newCommandQueue];
    id<MTLSharedEvent> event = [device newSharedEvent];
    MPSGraph *squares = [MPSGraph new], *sums = [MPSGraph new];
    MPSGraphTensor* x = [squares placeholderWithShape:@[ @2 ] dataType:MPSDataTypeFloat32 name:nil];
    MPSGraphTensor* square = [squares squareWithTensor:x name:nil];
    MPSGraphTensor* y = [sums placeholderWithShape:@[ @2 ] dataType:MPSDataTypeFloat32 name:nil];
    MPSGraphTensor* sum = [sums reductionSumWithTensor:y axis:0 name:nil];
    __block uint64_t turn = 0;
    run_steps(^{
      ++turn;
      const float values[] = {3, (float)turn};
      MPSGraphExecutionDescriptor *first = [MPSGraphExecutionDescriptor new],
                                  *second = [MPSGraphExecutionDescriptor new];
      [first signalEvent:event atExecutionEvent:MPSGraphExecutionStageCompleted value:turn];
      [second waitForEvent:event value:turn];
      second.waitUntilCompleted = YES;
      NSDictionary* squared = [squares runAsyncWithMTLCommandQueue:compute
                                                             feeds:@{
                                                               x : data_of(values, @[ @2 ])
                                                             }
                                                     targetTensors:@[ square ]
                                                  targetOperations:nil
                                               executionDescriptor:first];
      NSDictionary* summed = [sums runAsyncWithMTLCommandQueue:post
                                                         feeds:@{y : squared[square]}
                                                 targetTensors:@[ sum ]
                                              targetOperations:nil
                                           executionDescriptor:second];
      CHECK_NEAR(float_of(summed[sum]), 9 + (double)(turn * turn));
      CHECK(event.signaledValue == turn);
    });
  }
}
