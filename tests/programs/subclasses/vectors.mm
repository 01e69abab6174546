// Instance variables that need alignment, behind those that a superclass hides.
#include "tensor_data.h"

typedef float float4 __attribute__((ext_vector_type(4)));
struct Matrix {
  float4 columns[2];
};

@interface Base : NSObject {
 @public
  char _visible;
}
@end
@interface Derived : Base {
 @public
  char _small;
  float4 _vector;
  Matrix _matrix;
}
@end
@interface Leaf : Derived
@property(nonatomic) float4 extra;
@end
@implementation Leaf
@end
@implementation Derived
@end
@implementation Base {
  char _hidden[5];
  int _count;
}
- (instancetype)init {
  if ((self = [super init])) {
    memset(_hidden, 7, sizeof _hidden);
    _count = 9;
  }
  return self;
}
- (void)check {
  for (char c : _hidden) CHECK(c == 7);
  CHECK(_count == 9);
}
@end
@interface Base (Check)
- (void)check;
@end

int main() {
  run_steps(^{
    Leaf* leaf = [Leaf new];
    leaf->_visible = leaf->_small = 1;
    leaf->_vector = float4{1, 2, 3, 4};
    leaf->_matrix.columns[1] = leaf->_vector * 2.0f;
    leaf.extra = leaf->_matrix.columns[1] + 1.0f;
    CHECK((uintptr_t)&leaf->_vector % 16 == 0 && (uintptr_t)&leaf->_matrix % 16 == 0);
    CHECK(leaf.extra[3] == 9 && leaf->_small == 1);
    [leaf check];
  });
}
