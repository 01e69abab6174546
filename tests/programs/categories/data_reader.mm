// A category on MPSGraphTensorData reads numbers, one on NSData writes them.
#include "tensor_data.h"

#include <vector>

@interface MPSGraphTensorData (Reading)
- (std::vector<float>)vector;
- (float)at:(NSUInteger)index, ...;
@end
@implementation MPSGraphTensorData (Reading)
- (std::vector<float>)vector {
  size_t count = 1;
  for (NSNumber* dimension in self.shape) count *= dimension.unsignedLongValue;
  std::vector<float> values(count);
  [self.mpsndarray readBytes:values.data() strideBytes:nil];
  return values;
}
- (float)at:(NSUInteger)index, ... {
  va_list more;
  va_start(more, index);
  for (NSUInteger i = 1; i < self.shape.count; ++i) {
    index = index * self.shape[i].unsignedIntegerValue + va_arg(more, NSUInteger);
  }
  va_end(more);
  return self.vector[index];
}
@end
@interface NSData (Floats)
+ (instancetype)dataWithFloats:(std::initializer_list<float>)values;
@end
@implementation NSData (Floats)
+ (instancetype)dataWithFloats:(std::initializer_list<float>)values {
  return [self dataWithBytes:values.begin() length:values.size() * sizeof(float)];
}
@end

int main() {
  run_steps(^{
    MPSGraph* graph = [MPSGraph new];
    MPSGraphTensor* x = [graph constantWithData:[NSData dataWithFloats:{1, 2, 3, 4, 5, 6}]
                                          shape:@[ @2, @3 ]
                                       dataType:MPSDataTypeFloat32];
    MPSGraphTensor* y = [graph cumulativeSumWithTensor:x axis:1 name:nil];
    MPSGraphTensorData* data = [graph runWithFeeds:@{} targetTensors:@[ y ] targetOperations:nil][y];
    CHECK([data vector] == (std::vector<float>{1, 3, 6, 4, 9, 15}));
    const float last = [data at:1ul, 2ul], second = [data at:0ul, 1ul];
    CHECK(last == 15 && second == 3);
  });
}
