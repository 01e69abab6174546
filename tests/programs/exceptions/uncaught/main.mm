// Nothing catches what this throws: an exception or, with an argument, another object. The program's own handler comes
// first.

#import <Foundation/Foundation.h>

#include <cstdio>

static void last_words(NSException*) { std::fputs("handler\n", stderr); }

int main(int count, char**) {
  @autoreleasepool {
    if (count > 1) @throw @"text";
    NSSetUncaughtExceptionHandler(last_words);
    [NSException raise:@"Mine" format:@"reason %d", 3];
  }
}
