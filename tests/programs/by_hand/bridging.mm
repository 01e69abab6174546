// CoreFoundation's functions on objects counted by hand.
#include "tensor_data.h"

int main() {
  run_steps(^{
    MPSGraph* graph = [MPSGraph new];
    CFTypeRef handle = CFRetain((CFTypeRef)graph);
    CHECK([graph retainCount] == 2);
    CFRelease(handle);
    CFTypeRef kept = CFBridgingRetain(graph);
    [graph release];
    MPSGraph* back = CFBridgingRelease(kept);
    MPSGraphTensor* x = [back constantWithScalar:0.5 dataType:MPSDataTypeFloat32];
    CHECK_NEAR(float_of([back runWithFeeds:@{} targetTensors:@[ x ] targetOperations:nil][x]), 0.5);
  });
}
