// Blocks that compare, search and test, of Foundation's collections.
#include "tensor_data.h"

int main() {
  run_steps(^{
    NSDictionary<NSString*, NSNumber*>* scores = @{@"a" : @3, @"b" : @1, @"c" : @2};
    NSArray<NSString*>* order = [scores keysSortedByValueUsingComparator:^(NSNumber* x, NSNumber* y) {
      return [y compare:x];
    }];
    CHECK([order isEqual:(@[ @"a", @"c", @"b" ])]);
    NSSet<NSString*>* large = [scores keysOfEntriesPassingTest:^(NSString*, NSNumber* score, BOOL*) {
      return (BOOL)(score.intValue > 1);
    }];
    CHECK(large.count == 2 && ![large containsObject:@"b"]);
    NSUInteger found = [order indexOfObjectPassingTest:^(NSString* name, NSUInteger, BOOL*) {
      return [name isEqualToString:@"c"];
    }];
    NSArray* sorted = [@[ @5, @2, @9 ] sortedArrayUsingComparator:^NSComparisonResult(NSNumber* x, NSNumber* y) {
      return [x compare:y];
    }];
    CHECK(found == 1 && [sorted.lastObject isEqual:@9]);
    __block int sum = 0;
    [scores enumerateKeysAndObjectsUsingBlock:^(NSString* key, NSNumber* score, BOOL* stop) {
      sum += score.intValue * (int)key.length;
      *stop = NO;
    }];
    CHECK(sum == 6);
  });
}
