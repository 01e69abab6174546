// What blocks capture: objects, C++ objects, structures, __block variables of every kind, lambdas that become blocks.
#include "tensor_data.h"

#include <memory>
#include <string>
#include <vector>

static int (^counter_from(int start))(void) {
  __block int count = start;
  return ^{
    return count++;
  };
}

int main() {
  run_steps(^{
    auto shared = std::make_shared<int>(5);
    std::vector<std::string> words = {"a", "b"};
    __block std::vector<int> numbers;
    __block NSString* text = @"before";
    NSRange range = {1, 2};
    @autoreleasepool {
      void (^block)(void) = ^{
        numbers.push_back(*shared + (int)words.size() + (int)range.length);
        text = [text stringByAppendingString:@" after"];
      };
      block();
      CHECK(shared.use_count() >= 2);
      void (^copy)(void) = [block copy];
      copy();
    }
    CHECK(shared.use_count() == 1 && numbers.size() == 2 && numbers[1] == 9);
    CHECK([text isEqual:@"before after after"]);
    int (^one)(void) = counter_from(1), (^ten)(void) = counter_from(10);
    CHECK(one() == 1 && one() == 2 && ten() == 10 && one() == 3);
    int (^lambda)(int) = [shared](int x) { return x * *shared; };
    CHECK(lambda(3) == 15);
  });
}
