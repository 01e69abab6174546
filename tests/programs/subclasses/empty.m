// Classes without variables or methods, deep below each other, and a singleton that cannot be released.
#include "tensor_data.h"

@interface A : NSObject
@end
@interface B : A
@end
@interface C : B
@end
@interface D : C
@property(nonatomic, strong) MPSGraph* graph;
@end
@implementation D
@end
@implementation C
@end
@implementation B
@end
@implementation A
@end

int main(void) {
  run_steps(^{
    D* d = [D new];
    d.graph = [MPSGraph new];
    C* c = [C new];
    CHECK([d isKindOfClass:[A class]] && [c isKindOfClass:[B class]] && ![c isKindOfClass:[D class]]);
    CHECK([D superclass] == [C class] && d.graph && [d.description hasPrefix:@"<D"]);
  });
  return 0;
}
