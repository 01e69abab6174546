// The device and its queue as globals of the program.
#include "tensor_data.h"

static id<MTLDevice> const device = MTLCreateSystemDefaultDevice();
static id<MTLCommandQueue> const queue = [device newCommandQueue];
static MPSGraphDevice* const graphDevice = [MPSGraphDevice deviceWithMTLDevice:device];
static const NSUInteger maximum = device.maxBufferLength;

int main() {
  CHECK(device && queue.device == device && graphDevice.metalDevice == device && maximum > 0);
  MPSGraph* graph = [MPSGraph new];
  MPSGraphTensor* x = [graph placeholderWithShape:@[ @3 ] dataType:MPSDataTypeFloat32 name:nil];
  MPSGraphTensor* y = [graph reverseTensor:x axes:@[ @0 ] name:nil];
  run_steps(^{
    const float values[] = {1, 2, 3};
    id<MTLBuffer> buffer = [device newBufferWithBytes:values length:sizeof values options:MTLResourceStorageModeShared];
    MPSGraphTensorData* data = [[MPSGraphTensorData alloc] initWithMTLBuffer:buffer
                                                                       shape:@[ @3 ]
                                                                    dataType:MPSDataTypeFloat32];
    NSDictionary* results = [graph runWithMTLCommandQueue:queue
                                                    feeds:@{x : data}
                                            targetTensors:@[ y ]
                                         targetOperations:nil];
    CHECK(floats_of(results[y])[0] == 3);
  });
}
