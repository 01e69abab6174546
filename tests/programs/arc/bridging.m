// Objects handed to C and back, as handles of a C interface do.
#include "tensor_data.h"

typedef const void* graph_handle;

static graph_handle graph_create(void) { return CFBridgingRetain([MPSGraph new]); }

static void graph_destroy(graph_handle graph) { CFRelease(graph); }

static float graph_power(graph_handle handle, float base, float exponent) {
  MPSGraph* graph = (__bridge MPSGraph*)handle;
  MPSGraphTensor* a = [graph constantWithScalar:base dataType:MPSDataTypeFloat32];
  MPSGraphTensor* b = [graph constantWithScalar:exponent dataType:MPSDataTypeFloat32];
  MPSGraphTensor* power = [graph powerWithPrimaryTensor:a secondaryTensor:b name:nil];
  return float_of([graph runWithFeeds:@{} targetTensors:@[ power ] targetOperations:nil][power]);
}

static int destroyed;
@interface Payload : NSObject
@end
@implementation Payload
- (void)dealloc {
  ++destroyed;
}
@end

static void call_back(void* context, void (*function)(void*)) { function(context); }

static void finish(void* context) {
  Payload* payload = (__bridge_transfer Payload*)context;
  CHECK([payload isKindOfClass:[Payload class]]);
}

int main(void) {
  run_steps(^{
    graph_handle graph = graph_create();
    CHECK_NEAR(graph_power(graph, 2, 5), 32);
    CFTypeRef again = CFRetain(graph);
    CHECK(again == graph);
    CFRelease(again);
    graph_destroy(graph);
  });
  destroyed = 0;
  @autoreleasepool {
    call_back((__bridge_retained void*)[Payload new], finish);
    CHECK(destroyed == 1);
    CFTypeRef kept = CFBridgingRetain([Payload new]);
    Payload* taken = CFBridgingRelease(kept);
    CHECK(taken && destroyed == 1);
    CFStringRef text = (__bridge CFStringRef) @"text";
    CHECK([(__bridge NSString*)text isEqualToString:@"text"]);
    CHECK(CFBridgingRetain(nil) == NULL && CFBridgingRelease(NULL) == nil);
  }
  CHECK(destroyed == 2);
}
