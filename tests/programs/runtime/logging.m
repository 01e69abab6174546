// os_log's messages come to standard error, with values of every kind.

#import <Foundation/Foundation.h>
#import <os/log.h>

#include <string.h>
#include <unistd.h>

#include "program.h"

int main(void) {
  @autoreleasepool {
    FILE* file = tmpfile();
    const int screen = dup(2);
    dup2(fileno(file), 2);
    os_log_t log = os_log_create("com.example.trainer", "%s");
    os_log(log, "hello %{public}@, %d of %{public, signpost}s, 100%%", @"world", 3, "four");
    os_log_error(OS_LOG_DEFAULT, "plain");
    os_log_info(log, "unseen %d", 1);
    os_log_debug(log, "unseen");
    dup2(screen, 2);

    char text[512] = {0};
    rewind(file);
    CHECK(fread(text, 1, sizeof text - 1, file) > 0);
    CHECK(strstr(text, "hello world, 3 of four, 100%\n") && strstr(text, "plain\n") && !strstr(text, "unseen"));
    CHECK(strstr(text, "com.example.trainer:%s"));
    fclose(file);
  }
  return 0;
}
