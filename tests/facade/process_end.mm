// What becomes of work when a process forks or ends. Each case runs in a child of its own, which must end in time.
//
// A forked child cannot use Metal on a Mac at all, so that this program is for the portable framework only.

#import <Foundation/Foundation.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <chrono>
#include <cstdlib>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "check.h"

// The exit code of a child that runs `work` and then calls exit(0); -1 when it does not end within `seconds`.
static int exit_code(int (*work)(), int seconds = 20) {
  const pid_t child = fork();
  if (child == 0) std::exit(work());
  for (int i = 0; i < seconds * 100; ++i) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

static int run_one_command_buffer() {
  int code = 1;
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> buffer = [queue commandBuffer];
    [buffer commit];
    [buffer waitUntilCompleted];
    code = [buffer status] == MTLCommandBufferStatusCompleted ? 0 : 2;
    [queue release];
    [device release];
  }
  return code;
}

static id<MTLCommandQueue> g_used_queue;

static int raise_instead_of_hanging() {
  int code = 1;
  @autoreleasepool {
    @try {
      id<MTLCommandBuffer> buffer = [g_used_queue commandBuffer];
      [buffer commit];
      [buffer waitUntilCompleted];
    } @catch (NSException *exception) {
      code = [[exception reason] rangeOfString:@"forked"].location == NSNotFound ? 2 : 0;
    }
    @try {
      run_one_command_buffer();
      code = 3;
    } @catch (NSException *) {
    }
  }
  return code;
}

// exit() is called while handlers are still to be called; they are, and each takes a while.
static int g_pipe[2];

static int leave_work_behind() {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> queue = [device newCommandQueue];
    for (int i = 0; i < 5; ++i) {
      id<MTLCommandBuffer> buffer = [queue commandBuffer];
      [buffer addCompletedHandler:^(id<MTLCommandBuffer>) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const char byte = 'x';
        if (write(g_pipe[1], &byte, 1) != 1) std::abort();
      }];
      [buffer commit];
    }
  }
  return 0;
}

static int leave_an_unsatisfied_wait_behind() {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> buffer = [queue commandBuffer];
    [buffer encodeWaitForEvent:[device newSharedEvent] value:1];
    [buffer commit];
    [[queue commandBuffer] enqueue];
    id<MTLCommandBuffer> reserved = [[queue commandBuffer] retain];
    [reserved enqueue];
  }
  return 0;
}

static int exit_in_a_handler() {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> buffer = [queue commandBuffer];
    [buffer addCompletedHandler:^(id<MTLCommandBuffer>) {
      std::exit(7);
    }];
    [buffer commit];
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

int main() {
  @autoreleasepool {
    // The parent has not run anything yet, so its children may.
    CHECK(exit_code(run_one_command_buffer) == 0);
    CHECK(pipe(g_pipe) == 0);
    CHECK(exit_code(leave_work_behind) == 0);
    close(g_pipe[1]);
    char bytes[16];
    ssize_t handled = 0;
    while (const ssize_t count = read(g_pipe[0], bytes, sizeof bytes)) handled += count;
    CHECK(handled == 5);
    CHECK(exit_code(leave_an_unsatisfied_wait_behind) == 0);
    CHECK(exit_code(exit_in_a_handler) == 7);

    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    g_used_queue = [device newCommandQueue];
    CHECK(run_one_command_buffer() == 0);
    CHECK(exit_code(raise_instead_of_hanging) == 0);
    CHECK(run_one_command_buffer() == 0);
    [g_used_queue release];
    [device release];
  }
  return check::summary();
}
