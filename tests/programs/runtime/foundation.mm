// What libAlloyObjC does for a program, with Foundation alone: this also runs on processors that the framework lacks.
#import <Foundation/Foundation.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "program.h"

@protocol Named <NSObject>
- (NSString*)name;
@optional
- (int)age;
@end

static int deallocated = 0;

@interface Owner : NSObject {
  int hidden;
}
@property(nonatomic, strong) NSString* title;
@property(copy) void (^block)(int);
@property(weak) id owner;
@end

@implementation Owner {
  std::vector<int> numbers;
  __weak id other;
}
- (instancetype)init {
  if ((self = [super init])) {
    numbers = {1, 2, 3};
    other = self.class;
  }
  return self;
}
- (int)sum {
  int sum = 0;
  for (int n : numbers) sum += n;
  return sum + hidden;
}
- (void)dealloc {
  ++deallocated;
}
@end

@interface Owner (Naming) <Named>
@end

@implementation Owner (Naming)
- (NSString*)name {
  return @"owner";
}
@end

struct Six {
  double values[6];
};

@interface Owner (Returning)
- (Six)six;
- (float)half;
@end

@implementation Owner (Returning)
- (Six)six {
  return {{1, 2, 3, 4, 5, 6}};
}
- (float)half {
  return 0.5f;
}
@end

// Made before main: of a constant string, and of a class of this file.
static NSString* const joined = [@"static " stringByAppendingString:@"string"];
static Owner* const shared = [Owner new];

static const char* caught_by(void (^thrower)(void)) {
  try {
    @try {
      thrower();
    } @catch (NSException* exception) {
      return [exception.name isEqualToString:@"Ours"] ? "@catch" : "?";
    }
  } catch (const std::runtime_error&) {
    return "catch";
  } catch (...) {
    return "catch (...)";
  }
  return "none";
}

int main() {
  @autoreleasepool {
    CHECK([joined isEqual:@"static string"]);
    CHECK([shared sum] == 6);

    NSMutableArray* array = [NSMutableArray array];
    NSMutableDictionary* table = [NSMutableDictionary dictionary];
    array[0] = @1;
    table[@"key"] = @YES;
    CHECK([table[@"key"] boolValue] && [array[0] intValue] == 1);

    run_steps(^{
      Owner* owner = [Owner new];
      __weak Owner* weak = owner;
      __block int count = 0;
      owner.title = [NSString stringWithFormat:@"%d", 3];
      owner.owner = owner;
      owner.block = ^(int n) {
        count += n;
      };
      owner.block(3);
      @autoreleasepool {
        CHECK(count == 3 && weak.owner == owner);
      }
      const int before = deallocated;
      owner = nil;
      CHECK(deallocated == before + 1);
      CHECK(weak == nil);
    });

    Owner* none = nil;
    CHECK(shared.six.values[5] == 6 && none.six.values[3] == 0);
    CHECK(shared.half == 0.5f && none.half == 0);
    CHECK([shared conformsToProtocol:@protocol(Named)] && ![shared respondsToSelector:@selector(age)]);

    CHECK(std::strcmp(caught_by(^{
                        [NSException raise:@"Ours" format:@"%d", 3];
                      }),
                      "@catch") == 0);
    CHECK(std::strcmp(caught_by(^{
                        throw std::runtime_error("of C++");
                      }),
                      "catch") == 0);
    CHECK(std::strcmp(caught_by(^{
                        @throw @"a string";
                      }),
                      "catch (...)") == 0);
    int finals = 0;
    try {
      @try {
        @synchronized(array) {
          throw 1;
        }
      } @finally {
        ++finals;
      }
    } catch (int) {
      ++finals;
    }
    CHECK(finals == 2);
  }
}
