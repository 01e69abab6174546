// Classes that are keys: copied, compared, hashed.
#include "tensor_data.h"

@interface Key : NSObject <NSCopying>
@property(nonatomic, readonly) NSUInteger width;
- (instancetype)initWithWidth:(NSUInteger)width NS_DESIGNATED_INITIALIZER;
- (instancetype)init NS_UNAVAILABLE;
@end
@implementation Key
- (instancetype)initWithWidth:(NSUInteger)width {
  if ((self = [super init])) _width = width;
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  return [[[self class] allocWithZone:zone] initWithWidth:self.width];
}
- (NSUInteger)hash {
  return self.width * 31;
}
- (BOOL)isEqual:(id)other {
  return [other isKindOfClass:[Key class]] && [other width] == self.width;
}
@end
@interface ColoredKey : Key
@property(nonatomic) int color;
@end
@implementation ColoredKey
- (id)copyWithZone:(NSZone*)zone {
  ColoredKey* copy = [super copyWithZone:zone];
  copy.color = self.color;
  return copy;
}
@end

int main() {
  run_steps(^{
    NSMutableDictionary<Key*, MPSGraphTensor*>* cache = [NSMutableDictionary dictionary];
    MPSGraph* graph = [MPSGraph new];
    for (NSUInteger i = 0; i < 6; ++i) {
      ColoredKey* key = [[ColoredKey alloc] initWithWidth:i % 3 + 1];
      key.color = (int)i;
      if (!cache[key]) cache[key] = [graph constantWithScalar:1 shape:@[ @(key.width) ] dataType:MPSDataTypeFloat32];
    }
    CHECK(cache.count == 3 && [cache[[[Key alloc] initWithWidth:3]].shape isEqual:@[ @3 ]]);
    for (ColoredKey* key in cache) CHECK(key.color == (int)key.width - 1);
  });
}
