#include "layers.h"

@implementation Scale {
  int _calls;
  char _hidden;
}
+ (void)load {
  [Layer add:self];
}
- (double)apply:(double)x {
  ++_calls;
  _hidden = 'h';
  return [super apply:x] * _factor + _bias;
}
@end
