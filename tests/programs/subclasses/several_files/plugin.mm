#include "layers.h"

@interface Shifted : Layer
@end

static NSNumber* const shift = @100;

@implementation Shifted {
  NSString* _mark;
}
+ (void)load {
  [Layer add:self];
}
- (double)apply:(double)x {
  _mark = @"!";
  return [super apply:x] + shift.doubleValue;
}
- (NSString*)description {
  return @"unused";
}
- (NSString*)summary {
  return [[super summary] stringByReplacingOccurrencesOfString:@"Shifted"
                                                    withString:[@"Shifted" stringByAppendingString:_mark]];
}
@end
