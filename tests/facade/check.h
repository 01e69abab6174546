// The tests of a program and their checks: counts, says where one failed, and sums up. Safe from every thread. With
// ALLOY_TRACE_CHECKS in the environment each says where it is before it begins: the last one is what ended a process.
#pragma once

#import <Foundation/Foundation.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace check {

inline std::atomic<int> passed{0};
inline std::atomic<int> failed{0};
inline std::atomic<int> skipped{0};  // tests that ask for what the device or the system has not
inline std::atomic<const char*> running{"main"};

inline void begin(const char* file, int line) {
  static const bool traced = std::getenv("ALLOY_TRACE_CHECKS") != nullptr;
  if (traced) std::fprintf(stderr, "check %s:%d\n", file, line);
}

// With ALLOY_STOP_AT_FAILURE in the environment the first failure ends the process.
inline void report(bool ok, const char* text, const char* file, int line) {
  ok ? ++passed : ++failed;
  if (ok) return;
  std::fprintf(stderr, "%s:%d: failed: %s, in %s\n", file, line, text, running.load());
  if (std::getenv("ALLOY_STOP_AT_FAILURE") != nullptr) std::_Exit(1);
}

inline void report_near(double a, double b, double tolerance, const char* text, const char* file, int line) {
  const bool ok = std::fabs(a - b) <= tolerance;
  report(ok, text, file, line);
  if (!ok) std::fprintf(stderr, "  %.9g and %.9g\n", a, b);
}

// Prints the summary; the exit code of the program, which is 77 if it skipped everything.
inline int summary() {
  std::printf("%d passed, %d failed", passed.load(), failed.load());
  if (skipped > 0) std::printf(", %d tests skipped", skipped.load());
  std::printf("\n");
  if (passed + failed == 0) return 77;
  return failed == 0 ? 0 : 1;
}

struct Test {
  const char* name;
  void (*body)();
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

struct Registered {
  Registered(const char* name, void (*body)()) { tests().push_back({name, body}); }
};

// Runs the tests in the order of the file, or those that the arguments of the program name.
inline int run(int count, char** arguments) {
  for (const Test& test : tests()) {
    const auto is_its = [&](const char* name) { return std::strcmp(name, test.name) == 0; };
    if (count > 1 && std::none_of(arguments + 1, arguments + count, is_its)) continue;
    running = test.name;
    @autoreleasepool {
      test.body();
    }
  }
  return summary();
}

}  // namespace check

// TEST(what_holds) { ... }
#define TEST(name)                                               \
  static void name();                                            \
  static const check::Registered registered_##name(#name, name); \
  static void name()

// Leaves the test where the condition does not hold.
#define SKIP_UNLESS(...) \
  if (!(__VA_ARGS__)) {  \
    ++check::skipped;    \
    return;              \
  }

#define CHECK(...) \
  check::begin(__FILE__, __LINE__), check::report(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_NEAR(a, b, tolerance) \
  check::begin(__FILE__, __LINE__), check::report_near(a, b, tolerance, #a " is near " #b, __FILE__, __LINE__)

// The statement raises NSInvalidArgumentException with a reason.
#define CHECK_RAISES(...)                                                                                    \
  do {                                                                                                       \
    bool raised = false;                                                                                     \
    check::begin(__FILE__, __LINE__);                                                                        \
    @try {                                                                                                   \
      __VA_ARGS__;                                                                                           \
    } @catch (NSException * exception) {                                                                     \
      raised = [[exception name] isEqualToString:NSInvalidArgumentException] && [[exception reason] length]; \
    }                                                                                                        \
    check::report(raised, #__VA_ARGS__ " raises", __FILE__, __LINE__);                                       \
  } while (false)
