// Objective-C classes with members of C++, and C++ classes with members of Objective-C.
#include "tensor_data.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

static int alive;

struct Counted {
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  ~Counted() { --alive; }
  int value = 7;
};

struct Layer {
  MPSGraphTensor* weights;
  std::string name;
};

@interface Model : NSObject
@property(nonatomic) std::vector<float> shape;
@property(nonatomic, strong) MPSGraph* graph;
- (MPSGraphTensor*)add:(const std::string&)name value:(float)value;
- (float)total;
@end

@implementation Model {
  std::map<std::string, Layer> _layers;
  std::unique_ptr<Counted> _owned;
  Counted _member;
  std::vector<MPSGraphTensor*> _order;
  std::shared_ptr<std::string> _label;
}

- (instancetype)init {
  if (self = [super init]) {
    CHECK(_member.value == 7 && _layers.empty() && !_owned && alive == 1);
    _owned = std::make_unique<Counted>();
    _label = std::make_shared<std::string>("a label that is too long for the small buffer");
    _graph = [MPSGraph new];
  }
  return self;
}

- (MPSGraphTensor*)add:(const std::string&)name value:(float)value {
  MPSGraphTensor* weights = [_graph constantWithScalar:value dataType:MPSDataTypeFloat32];
  _layers.emplace(name, Layer{weights, name});
  _order.push_back(weights);
  return weights;
}

- (float)total {
  MPSGraphTensor* sum = nil;
  for (const auto& [name, layer] : _layers) {
    sum =
        sum ? [_graph additionWithPrimaryTensor:sum secondaryTensor:layer.weights name:@(name.c_str())] : layer.weights;
  }
  return float_of([_graph runWithFeeds:@{} targetTensors:@[ sum ] targetOperations:nil][sum]);
}

@end

int main() {
  run_steps(^{
    Model* model = [Model new];
    [model add:"one" value:1];
    [model add:"two" value:2.5];
    model.shape = {1, 2, 3};
    CHECK(model.shape.size() == 3 && model.shape[2] == 3);
    CHECK_NEAR(model.total, 3.5);
    CHECK(alive == 2);
    std::vector<Model*> models(3, model);
    models.resize(100);
    auto first = [model] { return model; };
    CHECK(first() == models[2] && !models[99]);
  });
  CHECK(alive == 0);
}
