// Dictionaries and arrays made before main, some out of others.
#include "tensor_data.h"

static NSDictionary<NSString*, NSNumber*>* const kTypes = @{
  @"float" : @(MPSDataTypeFloat32),
  @"half" : @(MPSDataTypeFloat16),
  @"int" : @(MPSDataTypeInt32),
};
static NSArray<NSString*>* const kNames = [kTypes.allKeys sortedArrayUsingSelector:@selector(compare:)];
static NSNumberFormatter* const kFormatter = [] {
  NSNumberFormatter* formatter = [NSNumberFormatter new];
  formatter.maximumFractionDigits = 2;
  return formatter;
}();
static NSSet<NSString*>* const kFloats = [NSSet setWithArray:@[ @"float", @"half" ]];

int main() {
  @autoreleasepool {
    CHECK(kNames.count == 3 && [kNames[0] isEqual:@"float"] && [kNames[2] isEqual:@"int"]);
    CHECK([kFloats containsObject:@"half"] && ![kFloats containsObject:@"int"] && kFormatter);
    for (NSString* name in kNames) {
      MPSGraph* graph = [MPSGraph new];
      MPSDataType type = (MPSDataType)kTypes[name].unsignedIntValue;
      MPSGraphTensor* seven = [graph castTensor:[graph constantWithScalar:7 dataType:type]
                                         toType:MPSDataTypeFloat32
                                           name:nil];
      CHECK_NEAR(float_of([graph runWithFeeds:@{} targetTensors:@[ seven ] targetOperations:nil][seven]), 7);
    }
  }
}
