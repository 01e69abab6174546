// What every type of a graph has.

#include "facade/FacadePrivate.h"

@implementation MPSGraphType

- (id)copyWithZone:(NSZone*)zone {
  return [[[self class] allocWithZone:zone] init];
}

@end
