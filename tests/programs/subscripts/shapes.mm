// Shapes read and made by subscript: a reshape, a transposition, a slice.
#include "tensor_data.h"

static MPSShape* reversed(MPSShape* shape) {
  NSMutableArray<NSNumber*>* dimensions = [NSMutableArray arrayWithCapacity:shape.count];
  for (NSUInteger i = shape.count; i-- > 0;) [dimensions addObject:shape[i]];
  return dimensions;
}

int main() {
  @autoreleasepool {
    MPSGraph* graph = [MPSGraph new];
    MPSGraphTensor* x = [graph placeholderWithShape:@[ @2, @3 ] dataType:MPSDataTypeFloat32 name:nil];
    MPSGraphTensor* turned = [graph transposeTensor:x dimension:0 withDimension:1 name:nil];
    CHECK([turned.shape isEqualToArray:reversed(x.shape)]);
    MPSGraphTensor* flat = [graph reshapeTensor:turned
                                      withShape:@[ @(x.shape[0].intValue * x.shape[1].intValue) ]
                                           name:nil];
    MPSGraphTensor* part = [graph sliceTensor:flat dimension:0 start:1 length:x.shape[1].integerValue name:nil];
    const float values[] = {1, 2, 3, 4, 5, 6};
    auto results = [graph runWithFeeds:@{x : data_of(values, x.shape)} targetTensors:@[ part ] targetOperations:nil];
    const float* numbers = floats_of(results[part]);
    CHECK(numbers[0] == 4 && numbers[1] == 2 && numbers[2] == 5);
    CHECK(results[part].shape[0].unsignedIntegerValue == 3);
  }
}
