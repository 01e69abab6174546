// Pools by hand, drained while an exception passes that they own.
#import <Foundation/Foundation.h>

#include "program.h"

static void fail() {
  NSAutoreleasePool* pool = [[NSAutoreleasePool alloc] init];
  @try {
    [NSException raise:@"Drained" format:@"reason %d", 42];
  } @catch (NSException* e) {
    [e retain];
    [pool release];
    pool = nil;
    [e autorelease];
    @throw;
  } @finally {
    [pool release];
  }
}

static void fail_through_finally() {
  NSAutoreleasePool* pool = [[NSAutoreleasePool alloc] init];
  @try {
    [NSException raise:@"Drained" format:@"reason %d", 43];
  } @finally {
    [pool release];
  }
}

int main() {
  for (int i = 0; i < 10; ++i) {
    NSAutoreleasePool* pool = [NSAutoreleasePool new];
    @try {
      fail();
      CHECK(false);
    } @catch (NSException* e) {
      CHECK([[e reason] isEqualToString:@"reason 42"]);
    } @
    try {
      fail_through_finally();
      CHECK(false);
    } @catch (NSException* e) {
      CHECK([[e reason] isEqualToString:@"reason 43"]);
    }
    [pool release];
  }
}
