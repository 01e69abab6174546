// Associated objects: properties that a category adds to a class of the framework.
#include "tensor_data.h"

#import <objc/runtime.h>

static int deallocs;
@interface Note : NSObject <NSCopying>
@end
@implementation Note
- (id)copyWithZone:(NSZone*)zone {
  return [[[self class] allocWithZone:zone] init];
}
- (void)dealloc {
  ++deallocs;
}
@end

@interface MPSGraph (Notes)
@property(nonatomic, strong) Note* note;
@property(nonatomic, copy) NSString* title;
@property(nonatomic, copy) float (^measure)(void);
@end

static const char kMeasure = 0;

@implementation MPSGraph (Notes)
- (void)setNote:(Note*)note {
  objc_setAssociatedObject(self, @selector(note), note, OBJC_ASSOCIATION_RETAIN_NONATOMIC);
}
- (Note*)note {
  return objc_getAssociatedObject(self, _cmd);
}
- (void)setTitle:(NSString*)title {
  objc_setAssociatedObject(self, @selector(title), title, OBJC_ASSOCIATION_COPY);
}
- (NSString*)title {
  return objc_getAssociatedObject(self, @selector(title));
}
- (void)setMeasure:(float (^)(void))measure {
  objc_setAssociatedObject(self, &kMeasure, measure, OBJC_ASSOCIATION_COPY_NONATOMIC);
}
- (float (^)(void))measure {
  return objc_getAssociatedObject(self, &kMeasure);
}
@end

@interface Owner : NSObject
@end
@implementation Owner
- (void)dealloc {
  CHECK(objc_getAssociatedObject(self, &deallocs));  // goes after the object
}
@end

int main() {
  run_steps(^{
    @autoreleasepool {
      deallocs = 0;
      MPSGraph *graph = [MPSGraph new], *other = [MPSGraph new];
      graph.note = [Note new];
      graph.note = [Note new];
      NSMutableString* title = [NSMutableString stringWithString:@"title"];
      graph.title = title;
      [title appendString:@"!"];
      float two = 2;
      graph.measure = ^{
        return two;
      };
      CHECK([graph.title isEqual:@"title"] && graph.measure() == 2 && graph.note && !other.note && !other.measure);
      other.note = graph.note;
      graph.note = nil;
      objc_removeAssociatedObjects(graph);
      CHECK(!graph.title && other.note);
      __weak MPSGraph* weak = other;
      objc_setAssociatedObject(other, &two, @1, OBJC_ASSOCIATION_ASSIGN);
      CHECK(weak == other);
      Owner* owner = [Owner new];
      objc_setAssociatedObject(owner, &deallocs, [Note new], OBJC_ASSOCIATION_RETAIN);
    }
    CHECK(deallocs == 3);
  });
}
