// An array that changes while it is enumerated is refused; a copy is not.
#import <Foundation/Foundation.h>

#include "program.h"

int main() {
  @autoreleasepool {
    NSMutableArray<NSNumber*>* numbers = [NSMutableArray array];
    for (int i = 0; i < 40; ++i) numbers[(NSUInteger)i] = @(i);
    BOOL refused = NO;
    @try {
      for (NSNumber* number in numbers) {
        if (number.intValue == 20) [numbers addObject:@40];
      }
    } @catch (NSException* e) {
      refused = YES;
    }
    CHECK(refused);
    for (NSNumber* number in [numbers copy]) {
      if (number.intValue % 2) [numbers removeObject:number];
    }
    CHECK(numbers.count == 21 && numbers[20].intValue == 40);
  }
}
