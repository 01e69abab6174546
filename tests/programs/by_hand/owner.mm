// A class with retained and copied properties and a dealloc that releases them.
#include "tensor_data.h"

static int alive;
@interface Owner : NSObject {
  MPSGraph* _graph;
  NSString* _name;
}
@property(nonatomic, retain) MPSGraph* graph;
@property(nonatomic, copy) NSString* name;
@property(nonatomic, assign) id delegate;
@end
@implementation Owner
@synthesize graph = _graph, name = _name, delegate;
- (id)init {
  if ((self = [super init])) ++alive;
  return self;
}
- (void)dealloc {
  [_graph release];
  [_name release];
  --alive;
  [super dealloc];
}
@end

int main() {
  run_steps(^{
    Owner* owner = [[[Owner alloc] init] autorelease];
    MPSGraph* graph = [MPSGraph new];
    owner.graph = graph;
    owner.graph = graph;
    [graph release];
    NSMutableString* name = [[NSMutableString alloc] initWithString:@"n"];
    owner.name = name;
    [name appendString:@"m"];
    [name release];
    owner.delegate = owner;
    CHECK([owner.name isEqual:@"n"] && alive == 1);
    MPSGraphTensor* one = [owner.graph constantWithScalar:1 dataType:MPSDataTypeFloat32];
    CHECK_NEAR(float_of([owner.graph runWithFeeds:@{} targetTensors:@[ one ] targetOperations:nil][one]), 1);
  });
  CHECK(alive == 0);
}
