// Key-value observing and coding of classes of one's own.
#include "tensor_data.h"

@interface Trainer : NSObject
@property(nonatomic) float loss;
@property(nonatomic, strong) NSString* state;
@property(nonatomic, readonly) NSArray<NSNumber*>* losses;
@end
@interface Trainer (Running)
- (void)run:(int)steps;
@end
@implementation Trainer {
  NSMutableArray* _losses;
}
- (NSArray*)losses {
  if (!_losses) _losses = [NSMutableArray new];
  return _losses;
}
@end
@implementation Trainer (Running)
- (void)run:(int)steps {
  MPSGraph* graph = [MPSGraph new];
  MPSGraphTensor* x = [graph placeholderWithShape:@[ @1 ] dataType:MPSDataTypeFloat32 name:nil];
  MPSGraphTensor* y = [graph reciprocalWithTensor:x name:nil];
  for (int i = 1; i <= steps; ++i) {
    float value = (float)i;
    self.loss = float_of([graph runWithFeeds:@{x : data_of(&value, @[ @1 ])} targetTensors:@[ y ]
                            targetOperations:nil][y]);
    [(NSMutableArray*)self.losses addObject:@(self.loss)];
  }
  self.state = @"done";
}
@end

@interface Observer : NSObject
@property(nonatomic) NSMutableArray* seen;
@end
@implementation Observer
- (void)observeValueForKeyPath:(NSString*)path ofObject:(id)object change:(NSDictionary*)change context:(void*)context {
  CHECK([object isKindOfClass:[Trainer class]] && !context);
  [self.seen addObject:[NSString stringWithFormat:@"%@=%@", path, change[NSKeyValueChangeNewKey]]];
}
@end

int main() {
  @autoreleasepool {
    Trainer* trainer = [Trainer new];
    Observer* observer = [Observer new];
    observer.seen = [NSMutableArray array];
    for (NSString* key in @[ @"loss", @"state" ]) {
      [trainer addObserver:observer forKeyPath:key options:NSKeyValueObservingOptionNew context:nil];
    }
    [trainer run:2];
    CHECK([observer.seen isEqual:(@[ @"loss=1", @"loss=0.5", @"state=done" ])]);
    for (NSString* key in @[ @"loss", @"state" ]) [trainer removeObserver:observer forKeyPath:key];
    trainer.loss = 3;
    CHECK(observer.seen.count == 3 && [trainer class] == [Trainer class]);
    CHECK_NEAR([[trainer valueForKeyPath:@"losses.@max.floatValue"] floatValue], 1);
  }
}
