// Methods found while the program runs: resolved, performed by selector, read from the class.
#include "tensor_data.h"

#import <objc/runtime.h>

@interface Dynamic : NSObject {
  int _first;
  NSString* _second;
}
- (NSString*)known:(NSString*)text;
@end
@interface Dynamic (Later)
- (int)answer;
@end
static int answer(id, SEL) { return 42; }
@implementation Dynamic
+ (BOOL)resolveInstanceMethod:(SEL)selector {
  if (sel_isEqual(selector, @selector(answer))) return class_addMethod(self, selector, (IMP)answer, "i@:");
  return [super resolveInstanceMethod:selector];
}
- (NSString*)known:(NSString*)text {
  return [text uppercaseString];
}
@end

int main() {
  @autoreleasepool {
    Dynamic* object = [Dynamic new];
    CHECK(object.answer == 42 && [object answer] == 42);
    id upper = [object performSelector:@selector(known:) withObject:@"abc"];
    CHECK([upper isEqual:@"ABC"]);
    unsigned count = 0;
    Ivar* variables = class_copyIvarList([Dynamic class], &count);
    CHECK(count == 2 && !strcmp(ivar_getName(variables[0]), "_first") && ivar_getOffset(variables[1]) % 8 == 0);
    free(variables);
    CHECK(object_getClass(object) == objc_getClass("Dynamic") &&
          class_getSuperclass([Dynamic class]) == [NSObject class]);
    NSInvocation* call =
        [NSInvocation invocationWithMethodSignature:[object methodSignatureForSelector:@selector(known:)]];
    NSString* text = @"x";
    call.selector = @selector(known:);
    [call setArgument:&text atIndex:2];
    [call invokeWithTarget:object];
    __unsafe_unretained NSString* result = nil;
    [call getReturnValue:&result];
    CHECK([result isEqual:@"X"]);
  }
}
