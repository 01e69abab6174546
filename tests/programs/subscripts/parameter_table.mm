// Parameters in nested mutable containers, changed in place.
#include "tensor_data.h"

typedef NSMutableDictionary<NSString*, NSMutableArray<NSNumber*>*> Table;

static float dot(NSArray<NSNumber*>* a, NSArray<NSNumber*>* b) {
  MPSGraph* graph = [MPSGraph new];
  MPSGraphTensor* sum = nil;
  for (NSUInteger i = 0; i < a.count; i++) {
    MPSGraphTensor* term =
        [graph multiplicationWithPrimaryTensor:[graph constantWithScalar:a[i].doubleValue dataType:MPSDataTypeFloat32]
                               secondaryTensor:[graph constantWithScalar:b[i].doubleValue dataType:MPSDataTypeFloat32]
                                          name:nil];
    sum = sum ? [graph additionWithPrimaryTensor:sum secondaryTensor:term name:nil] : term;
  }
  return float_of([graph runWithFeeds:@{} targetTensors:@[ sum ] targetOperations:nil][sum]);
}

int main() {
  @autoreleasepool {
    Table* table = [@{@"w" : [@[ @1, @2, @3 ] mutableCopy], @"v" : [@[ @0, @0 ] mutableCopy]} mutableCopy];
    table[@"w"][1] = @(-2);
    table[@"v"][2] = @4;  // one behind the end
    table[@"v"][0] = table[@"w"][2];
    CHECK(table[@"v"].count == 3);
    CHECK_NEAR(dot(table[@"w"], table[@"v"]), 3 + 0 + 12);
    BOOL refused = NO;
    @try {
      table[@"w"][5] = @1;
    } @catch (NSException* e) {
      refused = [e.name isEqualToString:NSRangeException];
    }
    CHECK(refused);
    refused = NO;
    @try {
      (void)table[@"w"][3];
    } @catch (NSException* e) {
      refused = e.name == NSRangeException || [e.name isEqual:NSRangeException];
    }
    CHECK(refused);
    NSNumber* last = nil;
    int i = 0;
    while (i < 3) last = table[@"w"][(NSUInteger)i++];
    CHECK(last.intValue == 3);
    id anything = table;
    CHECK([anything[@"w"][0] isEqual:@1]);
  }
}
