// Globals that are initialised by functions with messages, errors and exceptions in them.
#include "tensor_data.h"

static NSString* attempt(NSString* key) {
  @try {
    return [key isEqual:@"known"] ? @"value" : @[][0];
  } @catch (NSException* e) {
    return e.name;
  } @finally {
    (void)key;
  }
}

static NSError* const error = [NSError errorWithDomain:@"Example"
                                                  code:7
                                              userInfo:@{NSLocalizedDescriptionKey : @"bad"}];
static NSString *const found = attempt(@"known"), *const missing = attempt(@"unknown");
static const bool thrown = [] {
  try {
    throw error;
  } catch (NSError* e) {
    return e.code == 7;
  }
  return false;
}();
static NSArray<NSString*>* const shape = [@"2,3" componentsSeparatedByString:@","];

int main() {
  CHECK([found isEqual:@"value"] && [missing isEqual:NSRangeException] && thrown);
  CHECK([error.localizedDescription isEqual:@"bad"] && shape.count == 2);
  @autoreleasepool {
    MPSGraph* graph = [MPSGraph new];
    MPSGraphTensor* ones = [graph constantWithScalar:1
                                               shape:@[ @(shape[0].intValue), @(shape[1].intValue) ]
                                            dataType:MPSDataTypeFloat32];
    MPSGraphTensor* sum = [graph reductionSumWithTensor:ones axes:nil name:nil];
    CHECK_NEAR(float_of([graph runWithFeeds:@{} targetTensors:@[ sum ] targetOperations:nil][sum]), 6);
  }
}
