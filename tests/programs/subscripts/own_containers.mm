// Classes of one's own that answer to subscripts, by number and by key.
#include "tensor_data.h"

@interface Vector : NSObject {
  float _values[4];
}
- (NSNumber*)objectAtIndexedSubscript:(NSUInteger)index;
- (void)setObject:(NSNumber*)number atIndexedSubscript:(NSUInteger)index;
@property(readonly) MPSGraphTensorData* data;
@end

@implementation Vector
- (NSNumber*)objectAtIndexedSubscript:(NSUInteger)index {
  return @(_values[index]);
}
- (void)setObject:(NSNumber*)number atIndexedSubscript:(NSUInteger)index {
  _values[index] = number.floatValue;
}
- (MPSGraphTensorData*)data {
  return data_of(_values, @[ @4 ]);
}
@end

@interface Variables : NSObject
- (nullable MPSGraphTensor*)objectForKeyedSubscript:(NSString*)name;
- (void)setObject:(nullable MPSGraphTensor*)tensor forKeyedSubscript:(NSString*)name;
@end

@implementation Variables {
  NSMutableDictionary* _tensors;
}
- (instancetype)init {
  if ((self = [super init])) _tensors = [NSMutableDictionary dictionary];
  return self;
}
- (MPSGraphTensor*)objectForKeyedSubscript:(NSString*)name {
  return _tensors[name];
}
- (void)setObject:(MPSGraphTensor*)tensor forKeyedSubscript:(NSString*)name {
  if (tensor) _tensors[name] = tensor;
  else [_tensors removeObjectForKey:name];
}
@end

int main() {
  run_steps(^{
    Vector* vector = [Vector new];
    for (NSUInteger i = 0; i < 4; ++i) vector[i] = @(i * i);
    vector[0] = @(vector[3].intValue + 1);
    MPSGraph* graph = [MPSGraph new];
    Variables* variables = [Variables new];
    variables[@"in"] = [graph placeholderWithShape:@[ @4 ] dataType:MPSDataTypeFloat32 name:nil];
    variables[@"out"] = [graph reductionMaximumWithTensor:variables[@"in"] axis:0 name:nil];
    auto results = [graph runWithFeeds:@{variables[@"in"] : vector.data}
                         targetTensors:@[ variables[@"out"] ]
                      targetOperations:nil];
    CHECK_NEAR(float_of(results[variables[@"out"]]), 10);
    variables[@"out"] = nil;
    CHECK(!variables[@"out"]);
  });
}
