// The checks of the facade's tests: counts, says where one failed, and sums up. Safe from every thread. With
// ALLOY_TRACE_CHECKS in the environment each says where it is before it begins: the last one is what ended a process.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace check {

inline std::atomic<int> passed{0};
inline std::atomic<int> failed{0};
inline std::atomic<int> skipped{0};  // whole tests, that ask for what the device has not

inline void begin(const char* file, int line) {
  static const bool traced = std::getenv("ALLOY_TRACE_CHECKS") != nullptr;
  if (traced) std::fprintf(stderr, "check %s:%d\n", file, line);
}

inline void report(bool ok, const char* text, const char* file, int line) {
  ok ? ++passed : ++failed;
  if (!ok) std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
}

inline void report_near(double a, double b, double tolerance, const char* text, const char* file, int line) {
  const bool ok = std::fabs(a - b) <= tolerance;
  report(ok, text, file, line);
  if (!ok) std::fprintf(stderr, "  %.9g and %.9g\n", a, b);
}

// Prints the summary; the exit code of the test.
inline int summary() {
  std::printf("%d passed, %d failed", passed.load(), failed.load());
  if (skipped > 0) std::printf(", %d tests skipped", skipped.load());
  std::printf("\n");
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace check

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
