// A subscript that is itself computed by messages, and side effects that happen once.
#include "tensor_data.h"

static int calls;

static NSUInteger next(void) { return (NSUInteger)calls++; }

static int containers;

static NSMutableArray* container(NSMutableArray* array) {
  ++containers;
  return array;
}

int main(void) {
  @autoreleasepool {
    NSMutableArray* array = [NSMutableArray arrayWithObjects:@"a", @"b", @"c", nil];
    array[next()] = array[2];
    CHECK(calls == 1 && [array[0] isEqual:@"c"]);
    container(array)[next()] = @"d";
    CHECK(calls == 2 && containers == 1 && [array[1] isEqual:@"d"]);
    NSString* text = array[[array indexOfObject:@"c"]];
    CHECK([text isEqual:@"c"]);
    NSDictionary* names = @{@(MPSDataTypeFloat32) : @"float", @(MPSDataTypeInt32) : @"int"};
    MPSGraph* graph = [MPSGraph new];
    MPSGraphTensor* cast = [graph castTensor:[graph constantWithScalar:2.75 dataType:MPSDataTypeFloat32]
                                      toType:MPSDataTypeInt32
                                        name:nil];
    CHECK([names[@(cast.dataType)] isEqual:@"int"]);
    int32_t value = 0;
    [[[graph runWithFeeds:@{} targetTensors:@[ cast ]
         targetOperations:nil][cast] mpsndarray] readBytes:&value strideBytes:NULL];
    CHECK(value == 2);
  }
  return 0;
}
