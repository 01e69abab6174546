// Blocks as properties, with a weak self in them: no cycle.
#include "tensor_data.h"

static int alive;
@interface Trainer : NSObject
@property(nonatomic, copy) void (^onStep)(int step);
@property(nonatomic, strong) NSMutableArray<NSNumber*>* steps;
@end
@implementation Trainer
- (instancetype)init {
  if ((self = [super init])) {
    ++alive;
    _steps = [NSMutableArray new];
    __weak Trainer* weakSelf = self;
    self.onStep = ^(int step) {
      Trainer* self = weakSelf;
      if (self) [self.steps addObject:@(step)];
    };
  }
  return self;
}
- (void)dealloc {
  --alive;
}
@end

int main() {
  run_steps(^{
    void (^kept)(int) = nil;
    @autoreleasepool {
      Trainer* trainer = [Trainer new];
      for (int i = 0; i < 3; ++i) trainer.onStep(i);
      CHECK(trainer.steps.count == 3 && alive == 1);
      kept = trainer.onStep;
    }
    CHECK(alive == 0);
    kept(4);
  });
}
