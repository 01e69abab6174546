// Categories that add class methods and super-calls to NSString, NSDictionary, NSMutableArray and NSObject itself.
#include "tensor_data.h"

@interface NSObject (Kind)
@property(readonly) NSString* kind;
@end
@implementation NSObject (Kind)
- (NSString*)kind {
  return @"object";
}
@end
@interface NSString (Kind)
+ (NSString*)named:(NSString*)format, ... NS_FORMAT_FUNCTION(1, 2);
@end
@implementation NSString (Kind)
- (NSString*)kind {
  return [[super kind] stringByAppendingString:@"/string"];
}
+ (NSString*)named:(NSString*)format, ... {
  va_list arguments;
  va_start(arguments, format);
  NSString* text = [[NSString alloc] initWithFormat:format arguments:arguments];
  va_end(arguments);
  return text;
}
@end
@interface NSMutableArray <ObjectType>(Stack)
- (void)push:(ObjectType)object;
- (ObjectType)pop;
@end
@implementation NSMutableArray (Stack)
- (void)push:(id)object {
  [self addObject:object];
}
- (id)pop {
  id last = self.lastObject;
  [self removeLastObject];
  return last;
}
@end

int main() {
  run_steps(^{
    MPSGraph* graph = [MPSGraph new];
    NSMutableArray<MPSGraphTensor*>* stack = [NSMutableArray array];
    for (int i = 1; i <= 3; ++i) {  // 1 2 3 - * : 1 * (2 - 3)
      [stack push:[graph placeholderWithShape:@[ @1 ] dataType:MPSDataTypeFloat32 name:[NSString named:@"x%d", i]]];
    }
    MPSGraphTensor *b = [stack pop], *a = [stack pop];
    CHECK([b.operation.name isEqualToString:@"x3"] && [b.operation.name.kind isEqual:@"object/string"]);
    [stack push:[graph subtractionWithPrimaryTensor:a secondaryTensor:b name:nil]];
    b = [stack pop], a = [stack pop];
    CHECK([b.kind isEqual:@"object"] && stack.count == 0);
    MPSGraphTensor* y = [graph multiplicationWithPrimaryTensor:a secondaryTensor:b name:nil];
    NSMutableDictionary* feeds = [NSMutableDictionary dictionary];
    for (MPSGraphTensor* x in graph.placeholderTensors) {
      float value = [x.operation.name substringFromIndex:1].floatValue;
      feeds[x] = data_of(&value, x.shape);
    }
    CHECK_NEAR(float_of([graph runWithFeeds:feeds targetTensors:@[ y ] targetOperations:nil][y]), -1);
  });
}
