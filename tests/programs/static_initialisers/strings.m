// Constant strings of all kinds, in C tables; plain Objective-C has no initialisers but a constructor function.
#include "tensor_data.h"

static NSString* const kName = @"weights";
static NSString* const kUnicode = @"Maße: 3 × 4 – größer";
static struct {
  NSString* __unsafe_unretained name;
  MPSDataType type;
} const kTable[] = {{@"float", MPSDataTypeFloat32}, {@"int", MPSDataTypeInt32}};

static MPSGraph* graph;
static NSMutableArray* log_;

__attribute__((constructor)) static void prepare(void) {
  @autoreleasepool {
    graph = [MPSGraph new];
    log_ = [NSMutableArray arrayWithObject:kName];
  }
}

int main(void) {
  @autoreleasepool {
    CHECK([log_[0] isEqual:@"weights"] && kName.length == 7);
    CHECK(kUnicode.length == 20 && [kUnicode characterAtIndex:2] == 0xdf);
    CHECK([kUnicode rangeOfString:@"×"].location == 8);
    for (size_t i = 0; i < sizeof kTable / sizeof *kTable; ++i) {
      MPSGraphTensor* x = [graph placeholderWithShape:@[ @1 ] dataType:kTable[i].type name:kTable[i].name];
      CHECK(x.dataType == kTable[i].type && [x.operation.name isEqualToString:kTable[i].name]);
    }
    NSString* text = [NSString stringWithFormat:@"%@/%s/%d", kName, "c", 3];
    CHECK([text isEqual:@"weights/c/3"] && [@"a"
                                            @"b" isEqual:@"ab"]);
  }
  return 0;
}
