// Subscripts in templates, lambdas and classes of C++.
#include "tensor_data.h"

#include <algorithm>
#include <string>
#include <vector>

template <class Container, class Key>
static float value_of(Container* container, Key key) {
  return [container[key] floatValue];
}

class Registry {
 public:
  void put(const std::string& name, MPSGraphTensor* tensor) { tensors_[@(name.c_str())] = tensor; }
  MPSGraphTensor* operator[](const std::string& name) const { return tensors_[@(name.c_str())]; }

 private:
  NSMutableDictionary<NSString*, MPSGraphTensor*>* tensors_ = [NSMutableDictionary new];
};

int main() {
  run_steps(^{
    CHECK_NEAR(value_of(@[ @1.5, @2.5 ], 1), 2.5);
    CHECK_NEAR((value_of(@{@"k" : @"-3"}, @"k")), -3);
    NSArray<NSNumber*>* numbers = @[ @3, @1, @2 ];
    std::vector<NSUInteger> order = {0, 1, 2};
    std::sort(order.begin(), order.end(),
              [=](NSUInteger a, NSUInteger b) { return numbers[a].intValue < numbers[b].intValue; });
    CHECK(order[0] == 1 && order[2] == 0);
    MPSGraph* graph = [MPSGraph new];
    Registry registry;
    registry.put("half", [graph constantWithScalar:0.5 dataType:MPSDataTypeFloat32]);
    registry.put("exp", [graph exponentWithTensor:registry["half"] name:nil]);
    MPSGraphTensor* target = registry["exp"];
    CHECK_NEAR(float_of([graph runWithFeeds:@{} targetTensors:@[ target ] targetOperations:nil][target]), 1.6487213);
    CHECK(!registry["other"]);
  });
}
