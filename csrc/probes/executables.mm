// The device, how programs are compiled, and how they run.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "question.h"

// Of macOS 14.
@protocol AlloyPackages
- (void)serializeToMPSGraphPackageAtURL:(NSURL*)url descriptor:(id)descriptor;
- (MPSGraphExecutable*)initWithMPSGraphPackageAtURL:(NSURL*)url compilationDescriptor:(id)descriptor;
@end

namespace alloy::probes {
namespace {

std::string default_device() {
  id<MTLDevice> found = MTLCreateSystemDefaultDevice();
  NSArray* all = all_devices();
  return join({found == nil ? "none" : "one", "all", all == nil ? "unknown" : std::to_string([all count]),
               "CoreGraphics", dlsym(RTLD_DEFAULT, "CGMainDisplayID") == nullptr ? "absent" : "loaded"});
}

std::string framework_runs() {
  Question q;
  MPSGraphTensor *a = q.feed(std::vector<float>{1, 2}, {2}), *b = q.feed(std::vector<float>{3, 5}, {2});
  return q.values({[q.graph additionWithPrimaryTensor:a secondaryTensor:b name:nil]});
}

std::string scalar() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<float>{1.5f}, {});
  return q.shaped([q.graph additionWithPrimaryTensor:x secondaryTensor:x name:nil]);
}

std::string no_targets() {
  Question q;
  MPSGraphTensor* v = q.variable({1}, {1});
  q.run(q.compile([NSArray array], list(q.assign(v, q.feed(std::vector<float>{5}, {1})))));
  return q.value(v);
}

std::string nil_and_empty_lists() {
  Question q;
  MPSGraphTensor* v = q.variable({3}, {1});
  std::vector<std::string> words;
  for (NSArray* operations : {static_cast<NSArray*>(nil), [NSArray array]}) {
    MPSGraphExecutable* executable = q.compile(list(q.identity(v)), operations);
    words.push_back(values_text(static_cast<MPSGraphTensorData*>([q.run(executable) objectAtIndex:0])));
  }
  return join(words);
}

std::string default_compilation() {
  MPSGraphCompilationDescriptor* descriptor = [[MPSGraphCompilationDescriptor new] autorelease];
  const auto level = static_cast<unsigned long>([descriptor optimizationLevel]);
  return join({"level", text(level), "waits", [descriptor waitForCompilationCompletion] ? "1" : "0"});
}

std::string completion() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<float>{1, 2}, {2});
  MPSGraphExecutable* executable = q.compile(list([q.graph squareWithTensor:x name:nil]), nil);
  static std::atomic<int> told{0}, failed{0}, elsewhere{0};
  const pthread_t caller = pthread_self();
  MPSGraphExecutableExecutionDescriptor* descriptor = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
  [descriptor setWaitUntilCompleted:YES];
  [descriptor setCompletionHandler:^(NSArray<MPSGraphTensorData*>*, NSError* error) {
    failed += error != nil;
    elsewhere += pthread_equal(caller, pthread_self()) == 0;
    ++told;
  }];
  [executable runAsyncWithMTLCommandQueue:queue()
                              inputsArray:q.inputs(executable)
                             resultsArray:nil
                      executionDescriptor:descriptor];
  const bool before = told > 0;
  for (int i = 0; i < 500 && told == 0; ++i) usleep(10000);
  return join({"told", text(told.load()), "errors", text(failed.load()), before ? "before" : "after", "returning",
               elsewhere ? "another" : "same", "thread"});
}

std::string graph_released() {
  MPSGraphExecutable* executable = nil;
  @autoreleasepool {
    Question q;
    executable = [q.compile(list(q.identity(q.variable({4}, {1}))), nil) retain];
  }
  NSArray* results = [executable runWithMTLCommandQueue:queue()
                                            inputsArray:[NSArray array]
                                           resultsArray:nil
                                    executionDescriptor:nil];
  return values_text(static_cast<MPSGraphTensorData*>([results objectAtIndex:0]));
}

// What two threads get at once, each from 100 runs.
std::string at_once(const std::function<std::string()>& run) {
  std::string seen[2];
  std::thread threads[2];
  for (int i = 0; i < 2; ++i) {
    threads[i] = std::thread([&run, answer = &seen[i]] {
      for (int k = 0; k < 100; ++k) {
        @autoreleasepool {
          *answer = run();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return join({seen[0], seen[1]});
}

std::string two_graphs_at_once() { return at_once(framework_runs); }

std::string one_graph_at_once() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<float>{1, 2}, {2});
  MPSGraphExecutable* executable = q.compile(list([q.graph squareWithTensor:x name:nil]), nil);
  Question* shared = &q;
  return at_once([shared, executable] {
    return values_text(static_cast<MPSGraphTensorData*>([shared->run(executable) objectAtIndex:0]));
  });
}

// A step that adds its input to a variable, written after one run, loaded and run twice.
std::string package() {
  const SEL read = @selector(initWithMPSGraphPackageAtURL:compilationDescriptor:);
  if (![MPSGraphExecutable instancesRespondToSelector:read]) return "no packages";
  Question q;
  MPSGraphTensor *x = q.feed(std::vector<float>{2}, {1}), *total = q.variable({1}, {1});
  MPSGraphTensor* sum = [q.graph additionWithPrimaryTensor:total secondaryTensor:x name:nil];
  MPSGraphExecutable* executable = q.compile(list(sum), list(q.assign(total, sum)));
  q.run(executable);
  NSString* name = [NSString stringWithFormat:@"alloy-%d.mpsgraphpackage", getpid()];
  NSURL* url = [NSURL fileURLWithPath:[NSTemporaryDirectory() stringByAppendingPathComponent:name]];
  [static_cast<id<AlloyPackages>>(executable) serializeToMPSGraphPackageAtURL:url descriptor:nil];
  BOOL is_folder = NO;
  NSFileManager* files = [NSFileManager defaultManager];
  if (![files fileExistsAtPath:[url path] isDirectory:&is_folder]) return "nothing written";
  MPSGraphExecutable* loaded =
      [[static_cast<id<AlloyPackages>>([MPSGraphExecutable alloc]) initWithMPSGraphPackageAtURL:url
                                                                          compilationDescriptor:nil] autorelease];
  const size_t feeds = [[loaded feedTensors] count];
  std::vector<std::string> words{is_folder ? "folder" : "file", "feeds", text(feeds)};
  for (int i = 0; i < 2; ++i) {
    NSArray* results = [loaded runWithMTLCommandQueue:queue()
                                          inputsArray:q.inputs(executable)
                                         resultsArray:nil
                                  executionDescriptor:nil];
    words.push_back(values_text(static_cast<MPSGraphTensorData*>([results objectAtIndex:0])));
  }
  [files removeItemAtPath:[url path] error:nullptr];
  return join(words);
}

constexpr Probe kRows[] = {
    {"default_device", "the default device; how many there are", nullptr, 0, "nil without CoreGraphics on some systems",
     nullptr, default_device},
    {"framework_runs", "a sum of two vectors", "4 7", 0, "arithmetic", nullptr, framework_runs},
    {"scalar", "a tensor without axes, fed and fetched", "() 3", 0,
     "MPSNDArray.h: a 0-dimension array is a single scalar", nullptr, scalar},
    {"no_targets", "an assignment runs without target tensors", "5", 0, "the definition of an operation",
     "executable_of_no_targets", no_targets},
    {"nil_and_empty_lists", "operations nil and @[] mean the same", "3 3", 0, "the definition of a list", nullptr,
     nil_and_empty_lists},
    {"default_compilation", "the default level; whether compiling waits", nullptr, 0,
     "headers and pages of Apple's differ", nullptr, default_compilation},
    {"completion", "when and where a completion handler is told", nullptr, 0,
     "documented nowhere; no failure is provoked", nullptr, completion},
    {"graph_released", "an executable runs when its graph is gone", nullptr, 0,
     "crashes elsewhere; the engine keeps graphs", nullptr, graph_released},
    {"two_graphs_at_once", "two threads, each with a graph of its own", "4 7 4 7", 0, "the engine promises it", nullptr,
     two_graphs_at_once},
    {"one_graph_at_once", "two threads run one executable", nullptr, 0, "the engine runs a graph's steps one by one",
     nullptr, one_graph_at_once},
    {"package", "a step with a variable, written and loaded", nullptr, 0,
     "what a package keeps is documented nowhere; the engine writes names beside it", nullptr, package},
};

}  // namespace

const std::span<const Probe> kExecutables = kRows;

}  // namespace alloy::probes
