// @try beside try in one function: each kind of exception finds its handler, and what is between cleans up.
#import <Foundation/Foundation.h>

#include <stdexcept>
#include <string>

#include "program.h"

struct Guard {
  int& count;
  explicit Guard(int& counted) : count(counted) {}
  ~Guard() { ++count; }
};

static int thrown_by(void (^step)(void)) {
  try {
    @try {
      step();
      return 0;
    } @catch (NSException* e) {
      return e.name == NSRangeException ? 1 : 2;
    } @catch (NSString* text) {
      return 3;
    }
  } catch (const std::out_of_range&) {
    return 4;
  } catch (const std::exception& e) {
    return 5;
  } catch (int n) {
    return 100 + n;
  }
}

int main() {
  CHECK(thrown_by(^{
        }) == 0);
  CHECK(thrown_by(^{
          (void)@[][3];
        }) == 1);
  CHECK(thrown_by(^{
          [NSException raise:@"Own" format:@"%d", 3];
        }) == 2);
  CHECK(thrown_by(^{
          @throw @"text";
        }) == 3);
  CHECK(thrown_by(^{
          throw std::out_of_range("x");
        }) == 4);
  CHECK(thrown_by(^{
          (void)std::stoi("abc");
        }) == 5);
  CHECK(thrown_by(^{
          throw 7;
        }) == 107);

  int cleaned = 0, finals = 0;
  for (int kind = 0; kind < 2; ++kind) {
    BOOL caught = NO;
    @try {
      try {
        @try {
          Guard guard(cleaned);
          @synchronized(@"lock") {
            @autoreleasepool {
              if (kind) throw std::string("both");
              @throw [NSException exceptionWithName:@"Both" reason:nil userInfo:nil];
            }
          }
        } @finally {
          ++finals;
        }
      } catch (std::string& text) {
        CHECK(text == "both");
        caught = YES;
      }
    } @catch (id e) {
      CHECK(kind == 0 && [[e name] isEqual:@"Both"]);
      caught = YES;
    }
    CHECK(caught);
  }
  CHECK(cleaned == 2 && finals == 2);
  // The lock is free again.
  @synchronized(@"lock") {
    ++finals;
  }
  int everything = 0;
  try {
    try {
      [NSException raise:NSGenericException format:@"by catch-all"];
    } catch (...) {
      ++everything;
      throw;
    }
  } catch (NSException* e) {
    CHECK([e.reason isEqual:@"by catch-all"]);
    ++everything;
  } @
  try {
    throw 3;
  } @catch (...) {
    ++everything;
  }
  CHECK(everything == 3);
}
