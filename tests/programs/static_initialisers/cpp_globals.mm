// Globals of C++ classes that hold objects, made before main and destroyed after it.
#include "tensor_data.h"

#include <map>
#include <string>
#include <vector>

class Constants {
 public:
  explicit Constants(std::vector<double> values) : graph_([MPSGraph new]) {
    for (double value : values) tensors_.push_back([graph_ constantWithScalar:value dataType:MPSDataTypeFloat32]);
  }
  ~Constants() { CHECK(graph_ && tensors_.size() == 3); }
  float sum() const {
    MPSGraphTensor* sum = tensors_[0];
    for (size_t i = 1; i < tensors_.size(); ++i) {
      sum = [graph_ additionWithPrimaryTensor:sum secondaryTensor:tensors_[i] name:nil];
    }
    return float_of([graph_ runWithFeeds:@{} targetTensors:@[ sum ] targetOperations:nil][sum]);
  }

 private:
  MPSGraph* graph_;
  std::vector<MPSGraphTensor*> tensors_;
};

static const Constants constants({1, 2, 4});
static const std::map<std::string, NSString*> names = {{"a", [@"A" lowercaseString]}, {"b", @"b"}};
static const float total = constants.sum();
static thread_local __unsafe_unretained NSString* perThread = @"none";

int main() {
  @autoreleasepool {
    CHECK(total == 7);
    CHECK([names.at("a") isEqualToString:@"a"] && names.size() == 2);
    perThread = @"main";
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    dispatch_async(dispatch_get_global_queue(0, 0), ^{
      CHECK([perThread isEqualToString:@"none"]);
      dispatch_semaphore_signal(done);
    });
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    CHECK([perThread isEqualToString:@"main"]);
  }
}
