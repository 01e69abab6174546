// Darwin's logging in Objective-C. Messages go to standard error, like NSLog's; info and debug messages, which a Mac
// does not show by default, are dropped.
#pragma once

#import <Foundation/Foundation.h>

/// The text before each message, which names its source.
typedef NSString* os_log_t;

/// Logs without such a text.
#define OS_LOG_DEFAULT ((os_log_t)0)

/// Names a part of a program as the source of messages; retained for the caller.
static inline os_log_t os_log_create(const char* subsystem, const char* category) __attribute__((ns_returns_retained));
static inline os_log_t os_log_create(const char* subsystem, const char* category) {
  return [[NSString alloc] initWithFormat:@"[%s:%s] ", subsystem, category];
}

// A format may say in braces after % who sees a value, as in %{public}s; here everybody does.
static inline void alloy_log(os_log_t log, const char* format, ...) {
  NSMutableString* plain = [[NSMutableString alloc] init];
  for (const char* at = format; *at;) {
    const char* end = strchr(at, '%');
    end = end ? end + 1 : at + strlen(at);
    [plain appendFormat:@"%.*s", (int)(end - at), at];
    at = end;
    if (*at == '{' && strchr(at, '}')) at = strchr(at, '}') + 1;
  }
  va_list arguments;
  va_start(arguments, format);
  NSString* message = [[NSString alloc] initWithFormat:plain arguments:arguments];
  va_end(arguments);
  NSLog(@"%@%@", log ? log : @"", message);
#if !__has_feature(objc_arc)
  [message release];
  [plain release];
#endif
}

/// Logs a message; its format is printf's and takes %@.
#define os_log(log, ...) alloy_log(log, __VA_ARGS__)
#define os_log_error(log, ...) alloy_log(log, __VA_ARGS__)
#define os_log_fault(log, ...) alloy_log(log, __VA_ARGS__)
#define os_log_info(log, ...) ((void)sizeof(log))
#define os_log_debug(log, ...) ((void)sizeof(log))
