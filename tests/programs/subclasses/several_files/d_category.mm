#include "layers.h"

@implementation Layer (Describing)
- (NSString*)summary {
  return [NSString stringWithFormat:@"%@ %@ %g", [self class], self.name, self.rate];
}
@end
