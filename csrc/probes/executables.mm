// The device, compilation, and runs.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "question.h"

// macOS 14.
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
  [descriptor setCompletionHandler:[[^(NSArray<MPSGraphTensorData*>*, NSError* error) {
                failed += error != nil;
                elsewhere += pthread_equal(caller, pthread_self()) == 0;
                ++told;
              } copy] autorelease]];
  [executable runAsyncWithMTLCommandQueue:queue()
                              inputsArray:q.inputs(executable)
                             resultsArray:nil
                      executionDescriptor:descriptor];
  const bool before = told > 0;
  for (int i = 0; i < 500 && told == 0; ++i) usleep(10000);
  return join({"told", text(told.load()), "errors", text(failed.load()), before ? "before" : "after", "returning",
               elsewhere ? "another" : "same", "thread"});
}

std::atomic<int> g_told{0};

// A function of its own, whose stack frame is gone when the handler is called.
[[gnu::noinline]] void set_handler(MPSGraphExecutableExecutionDescriptor* descriptor, int number) {
  const int told = number;
  [descriptor setCompletionHandler:^(NSArray<MPSGraphTensorData*>*, NSError*) {
    g_told = told;
  }];
}
[[gnu::noinline]] int use_the_stack(int number) {
  volatile int used[256];
  for (int& i : const_cast<int (&)[256]>(used)) i = number;
  return used[number];
}

std::string handler_kept() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<float>{1, 2}, {2});
  MPSGraphExecutable* executable = q.compile(list([q.graph squareWithTensor:x name:nil]), nil);
  MPSGraphExecutableExecutionDescriptor* descriptor = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
  [descriptor setWaitUntilCompleted:YES];
  set_handler(descriptor, 7);
  use_the_stack(200);
  [executable runAsyncWithMTLCommandQueue:queue()
                              inputsArray:q.inputs(executable)
                             resultsArray:nil
                      executionDescriptor:descriptor];
  for (int i = 0; i < 500 && g_told == 0; ++i) usleep(10000);
  return text(g_told.load());
}

// An array made by the caller, as the engine does it.
MPSGraphTensorData* own_array(const Shape& shape, MPSDataType type) {
  MPSNDArrayDescriptor* descriptor = [MPSNDArrayDescriptor descriptorWithDataType:type shape:numbers(shape)];
  MPSNDArray* array = [[[MPSNDArray alloc] initWithDevice:device() descriptor:descriptor] autorelease];
  return [[[MPSGraphTensorData alloc] initWithMPSNDArray:array] autorelease];
}

// The engine's call: results without axes, of bool, and of three bytes a row, in arrays of its own.
std::string own_results() {
  Question q;
  MPSGraphTensor *x = q.feed(std::vector<float>{1, -2, 3, 4, -5, 6}, {2, 3}),
                 *zero = q.feed(std::vector<float>{0}, {1});
  MPSGraphTensor* is_positive = [q.graph greaterThanWithPrimaryTensor:x secondaryTensor:zero name:nil];
  MPSGraphTensor* flat = [q.graph reshapeTensor:x withShape:numbers({6}) name:nil];
  MPSGraphTensor* sum = [q.graph reductionSumWithTensor:flat axis:0 name:nil];
  MPSGraphTensor* total = [q.graph reshapeTensor:sum withShape:[NSArray array] name:nil];
  MPSGraphExecutable* executable = q.compile([NSArray arrayWithObjects:total, is_positive, nil], nil);
  NSMutableArray* results = [NSMutableArray array];
  for (MPSGraphTensor* target in [executable targetTensors]) {
    [results addObject:target == total ? own_array({}, MPSDataTypeFloat32) : own_array({2, 3}, MPSDataTypeBool)];
  }
  MPSGraphExecutableExecutionDescriptor* descriptor = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
  [descriptor setWaitUntilCompleted:YES];
  [executable runAsyncWithMTLCommandQueue:queue()
                              inputsArray:[NSMutableArray arrayWithArray:q.inputs(executable)]
                             resultsArray:results
                      executionDescriptor:descriptor];
  const NSUInteger first = [[executable targetTensors] indexOfObjectIdenticalTo:total];
  return join({values_text(static_cast<MPSGraphTensorData*>([results objectAtIndex:first])),
               values_text(static_cast<MPSGraphTensorData*>([results objectAtIndex:1 - first]))});
}

// Several steps that add 1 to a variable, two of them in flight. A run's arrays are used again two runs later.
std::string two_in_flight() {
  Question q;
  MPSGraphTensor *v = q.variable({0}, {1}), *one = q.feed(std::vector<float>{1}, {1});
  MPSGraphTensor* next = [q.graph additionWithPrimaryTensor:v secondaryTensor:one name:nil];
  MPSGraphExecutable* executable = q.compile(list(next), list(q.assign(v, next)));
  NSMutableArray* results[2] = {};
  for (auto& result : results) result = [NSMutableArray arrayWithObject:own_array({1}, MPSDataTypeFloat32)];
  static std::atomic<int> over{0};
  long wrong = 0;
  const auto check = [&](int run) {
    for (int i = 0; i < 1000 && over < run; ++i) usleep(10000);
    wrong += values_text(static_cast<MPSGraphTensorData*>([results[run % 2] objectAtIndex:0])) !=
             text(static_cast<float>(run));
  };
  for (int run = 1; run <= 200; ++run) {
    if (run > 2) check(run - 2);
    MPSGraphExecutableExecutionDescriptor* descriptor = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
    [descriptor setCompletionHandler:[[^(NSArray<MPSGraphTensorData*>*, NSError*) {
                  ++over;
                } copy] autorelease]];
    [executable runAsyncWithMTLCommandQueue:queue()
                                inputsArray:q.inputs(executable)
                               resultsArray:results[run % 2]
                        executionDescriptor:descriptor];
  }
  check(199);
  check(200);
  return join({text(wrong), "wrong of 200"});
}

// A run that waits for an event and signals another.
std::string events() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<float>{3}, {1});
  MPSGraphExecutable* executable = q.compile(list([q.graph squareWithTensor:x name:nil]), nil);
  id<MTLSharedEvent> before = [[device() newSharedEvent] autorelease], after = [[device() newSharedEvent] autorelease];
  MPSGraphExecutableExecutionDescriptor* descriptor = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
  [descriptor waitForEvent:before value:1];
  [descriptor signalEvent:after atExecutionEvent:MPSGraphExecutionStageCompleted value:5];
  NSArray* results = [executable runAsyncWithMTLCommandQueue:queue()
                                                 inputsArray:q.inputs(executable)
                                                resultsArray:nil
                                         executionDescriptor:descriptor];
  usleep(20000);
  const uint64_t early = [after signaledValue];
  [before setSignaledValue:1];
  for (int i = 0; i < 500 && [after signaledValue] == 0; ++i) usleep(10000);
  return join({text(early), text([after signaledValue]),
               values_text(static_cast<MPSGraphTensorData*>([results objectAtIndex:0]))});
}

// Feeds pages that can only be read, without a copy.
std::string lent_pages() {
  const auto length = static_cast<size_t>(getpagesize());
  void* pages = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
  static_cast<float*>(pages)[1] = 3;
  mprotect(pages, length, PROT_READ);
  const bool is_shared = [device() hasUnifiedMemory] != NO;  // the engine copies elsewhere
  id<MTLBuffer> buffer = is_shared
                             ? [device() newBufferWithBytesNoCopy:pages
                                                           length:length
                                                          options:MTLResourceStorageModeShared
                                                      deallocator:nil]
                             : [device() newBufferWithBytes:pages length:length options:MTLResourceStorageModeShared];
  [buffer autorelease];
  if (buffer == nil) return "refused";
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<float>{0, 0}, {2});
  MPSGraphExecutable* executable = q.compile(list([q.graph squareWithTensor:x name:nil]), nil);
  MPSGraphTensorData* data = [[[MPSGraphTensorData alloc] initWithMTLBuffer:buffer
                                                                      shape:numbers({2})
                                                                   dataType:MPSDataTypeFloat32] autorelease];
  NSArray* results = [executable runWithMTLCommandQueue:queue()
                                            inputsArray:list(data)
                                           resultsArray:nil
                                    executionDescriptor:nil];
  return values_text(static_cast<MPSGraphTensorData*>([results objectAtIndex:0]));
}

// A run whose event never comes; Apple's systems end it after some seconds.
std::string failed_run() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<float>{3}, {1});
  MPSGraphExecutable* executable = q.compile(list([q.graph squareWithTensor:x name:nil]), nil);
  id<MTLSharedEvent> never = [device() newSharedEvent];
  MPSGraphExecutableExecutionDescriptor* descriptor = [MPSGraphExecutableExecutionDescriptor new];
  static std::atomic<int> told{0}, failed{0};
  [descriptor waitForEvent:never value:1];
  [descriptor setCompletionHandler:[[^(NSArray<MPSGraphTensorData*>*, NSError* error) {
                failed += error != nil;
                ++told;
              } copy] autorelease]];
  [executable runAsyncWithMTLCommandQueue:queue()
                              inputsArray:q.inputs(executable)
                             resultsArray:nil
                      executionDescriptor:descriptor];
  const int limit = knows_no_limit() ? 10 : 2000;
  for (int i = 0; i < limit && told == 0; ++i) usleep(10000);
  const std::string answer = join({"told", text(told.load()), "errors", text(failed.load())});
  [never setSignaledValue:1];
  for (int i = 0; i < 500 && told == 0; ++i) usleep(10000);
  return answer;
}

std::string unused_feed() {
  Question q;
  MPSGraphTensor *x = q.feed(std::vector<float>{3}, {1}), *unused = q.feed(std::vector<float>{4, 5}, {2});
  MPSGraphExecutable* executable = q.compile(list([q.graph squareWithTensor:x name:nil]), nil);
  const bool is_kept = [[executable feedTensors] indexOfObjectIdenticalTo:unused] != NSNotFound;
  NSArray* results = q.run(executable);
  return join({is_kept ? "kept" : "dropped", values_text(static_cast<MPSGraphTensorData*>([results objectAtIndex:0]))});
}

// Reads a variable inside a branch and inside a loop.
std::string regions() {
  Question q;
  MPSGraphTensor *v = q.variable({3}, {1}), *start = q.feed(std::vector<float>{1}, {1});
  MPSGraphTensor* is_small = [q.graph lessThanWithPrimaryTensor:start secondaryTensor:v name:nil];
  NSArray* chosen = [q.graph ifWithPredicateTensor:is_small
      thenBlock:^NSArray<MPSGraphTensor*>* {
        return list([q.graph additionWithPrimaryTensor:v secondaryTensor:start name:nil]);
      }
      elseBlock:^NSArray<MPSGraphTensor*>* {
        return list(start);
      }
      name:nil];
  NSArray* looped = [q.graph
      forLoopWithNumberOfIterations:[q.graph constantWithScalar:4 dataType:MPSDataTypeInt32]
               initialBodyArguments:list(start)
                               body:^NSArray<MPSGraphTensor*>*(MPSGraphTensor*, NSArray<MPSGraphTensor*>* carried) {
                                 return list([q.graph multiplicationWithPrimaryTensor:[carried objectAtIndex:0]
                                                                      secondaryTensor:v
                                                                                 name:nil]);
                               }
                               name:nil];
  return q.values({[chosen objectAtIndex:0], [looped objectAtIndex:0]});
}

// Doubles a number until it exceeds a variable. It begins as a constant zero, to which one is added.
std::string while_loop() {
  Question q;
  MPSGraphTensor *bound = q.variable({20}, {1}), *one = q.feed(std::vector<float>{1}, {1});
  MPSGraphTensor* zero = [q.graph constantWithData:bytes(std::vector<float>{0})
                                             shape:numbers({1})
                                          dataType:MPSDataTypeFloat32];
  NSArray* ended = [q.graph whileWithInitialInputs:list(zero)
      before:^MPSGraphTensor*(NSArray<MPSGraphTensor*>* held, NSMutableArray<MPSGraphTensor*>* passed) {
        [passed addObjectsFromArray:held];
        return [q.graph lessThanWithPrimaryTensor:[held objectAtIndex:0] secondaryTensor:bound name:nil];
      }
      after:^NSArray<MPSGraphTensor*>*(NSArray<MPSGraphTensor*>* held) {
        MPSGraphTensor* x = [held objectAtIndex:0];
        MPSGraphTensor* twice = [q.graph additionWithPrimaryTensor:x secondaryTensor:x name:nil];
        return list([q.graph additionWithPrimaryTensor:twice secondaryTensor:one name:nil]);
      }
      name:nil];
  return q.values({[ended objectAtIndex:0]});
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

// The results of two threads at once, each after 100 runs.
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

// A step that adds its input to a variable: written after one run, then loaded and run twice.
std::string package() {
  const SEL read = @selector(initWithMPSGraphPackageAtURL:compilationDescriptor:);
  if (![MPSGraphExecutable instancesRespondToSelector:read]) return kAbsent;
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

constexpr Probe kExecutablesRows[] = {
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
    {"handler_kept", "a handler whose function has returned", "7", 0, "the handler is kept", "handler_on_the_stack",
     handler_kept},
    {"own_results", "results in arrays of the caller's own", "7 1 0 1 1 0 1", 0, "the engine's own call", nullptr,
     own_results},
    {"two_in_flight", "200 steps, two of them in flight", "0 wrong of 200", 0,
     "the engine relies on it; zeros after 14 to 100 runs elsewhere", nullptr, two_in_flight},
    {"events", "a run that waits for an event, and signals", "0 5 9", 0, "the engine relies on it", nullptr, events},
    {"lent_pages", "pages that may only be read, fed as they lie", "0 9", 0, "the engine lends such memory", nullptr,
     lent_pages},
    {"failed_run", "who is told of a run that fails", nullptr, 0, "documented nowhere; an event that never comes",
     nullptr, failed_run},
    {"unused_feed", "a feed that no target needs", "kept 9", 0, "what is given is taken; the engine bears either",
     "unused_feed", unused_feed, "dropped 9"},
    {"regions", "a variable read in a branch and in a loop", "4 81", 0, "the ops' definitions", nullptr, regions},
    {"while_loop", "a while loop over a float", "31", 0, "the op's definition; reported not to compile", nullptr,
     while_loop},
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

const std::span<const Probe> kExecutables = kExecutablesRows;

}  // namespace alloy::probes
