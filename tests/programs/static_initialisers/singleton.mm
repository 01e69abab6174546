// Singletons: dispatch_once, +initialize, a static in a function of C++.
#include "tensor_data.h"

@interface Engine : NSObject
@property(class, readonly) Engine* shared;
@property(readonly) MPSGraph* graph;
@end

static int made, initialised;

@implementation Engine
+ (void)initialize {
  if (self == [Engine class]) ++initialised;
}
+ (Engine*)shared {
  static Engine* shared = nil;
  static dispatch_once_t once;
  dispatch_once(&once, ^{
    shared = [[self alloc] init];
  });
  return shared;
}
- (instancetype)init {
  self = [super init];
  if (self) {
    ++made;
    _graph = [MPSGraph new];
  }
  return self;
}
@end

static MPSGraph* second_graph() {
  static MPSGraph* graph = [MPSGraph new];
  return graph;
}

static Engine* const early = Engine.shared;

int main() {
  @autoreleasepool {
    CHECK(early && early == Engine.shared && made == 1 && initialised == 1);
    __block int same = 0;
    dispatch_queue_t serial = dispatch_queue_create("count", DISPATCH_QUEUE_SERIAL);
    dispatch_apply(32, dispatch_get_global_queue(0, 0), ^(size_t) {
      BOOL equal = Engine.shared.graph == early.graph && second_graph() == second_graph();
      dispatch_sync(serial, ^{
        same += equal;
      });
    });
    CHECK(same == 32 && made == 1);
    MPSGraphTensor* one = [second_graph() constantWithScalar:1 dataType:MPSDataTypeFloat32];
    CHECK_NEAR(float_of([second_graph() runWithFeeds:@{} targetTensors:@[ one ] targetOperations:nil][one]), 1);
  }
}
