// Exceptions of both languages without automatic counting.
#include "tensor_data.h"

#include <stdexcept>

static int caught(int kind) {
  try {
    @try {
      if (kind == 0) [NSException raise:@"Own" format:@"reason"];
      if (kind == 1) throw std::runtime_error("x");
      if (kind == 2) @throw @"text";
    } @catch (NSException* e) {
      return [e.name isEqual:@"Own"] ? 10 : 11;
    } @finally {
      kind += 100;
    }
  } catch (const std::exception&) {
    return kind == 101 ? 20 : 21;
  } catch (NSString* text) {
    return 30;
  }
  return 40;
}

int main() {
  run_steps(^{
    CHECK(caught(0) == 10 && caught(1) == 20 && caught(2) == 30 && caught(3) == 40);
    MPSGraph* graph = [[MPSGraph new] autorelease];
    BOOL failed = NO;
    try {
      (void)[@[ graph ] objectAtIndex:1];
    } catch (NSException* e) {
      failed = YES;
    }
    CHECK(failed);
  });
}
