// Two devices in one process: the tests' own (tests/remote_device), which is the default one, and the CPU. Programs
// compute where they are told to, variables go along, and nothing reaches into another device's memory.

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "graph_testing.h"

// A device of the list; what it holds lasts as long as the process.
struct Machine {
  id<MTLDevice> device;
  id<MTLCommandQueue> queue = [device newCommandQueue];
  MPSGraphDevice* graph_device = [[MPSGraphDevice deviceWithMTLDevice:device] retain];

  explicit Machine(NSUInteger index) : device([[all() objectAtIndex:index] retain]) {}

  static NSArray* all() {
#if TARGET_OS_IPHONE  // where the tests are only compiled: it lists devices since version 18
    return @[ the_device() ];
#else
    return [MTLCopyAllDevices() autorelease];
#endif
  }

  MPSGraphTensorData* data(const Array& array) const {
    return [[[MPSGraphTensorData alloc] initWithDevice:graph_device
                                                  data:bytes_of(array)
                                                 shape:numbers(array.shape)
                                              dataType:array.type] autorelease];
  }
};

static const Machine& remote() {
  static const Machine machine(0);
  return machine;
}

static const Machine& cpu() {
  static const Machine machine(1);
  return machine;
}

static MPSGraphExecutable* compile(const Machine& on, MPSGraph* graph, MPSGraphTensor* x, MPSGraphTensor* y,
                                   MPSGraphOperation* operation = nil) {
  return [graph compileWithDevice:on.graph_device
                            feeds:pair(type_of(shape_of([x shape])), x)
                    targetTensors:list(y)
                 targetOperations:operation == nil ? nil : list(operation)
            compilationDescriptor:nil];
}

static MPSGraphTensorData* run(const Machine& on, MPSGraphExecutable* executable, MPSGraphTensorData* x) {
  return [[executable runWithMTLCommandQueue:on.queue inputsArray:list(x) resultsArray:nil
                         executionDescriptor:nil] objectAtIndex:0];
}

TEST(they_are_listed) {
  CHECK([Machine::all() count] == 2 && the_device() == remote().device);
  CHECK([remote().device registryID] != [cpu().device registryID]);
  CHECK(![[remote().device name] isEqualToString:[cpu().device name]]);
  CHECK(![remote().device hasUnifiedMemory] && [cpu().device hasUnifiedMemory]);
}

TEST(the_host_sees_what_is_not_private) {
  const float numbers_of_host[] = {1, 2, 3};
  constexpr MTLResourceOptions kManaged = 1 << 4;  // MTLResourceStorageModeManaged, which iOS lacks
  for (MTLResourceOptions options : {MTLResourceOptions{MTLResourceStorageModeShared}, kManaged}) {
    id<MTLBuffer> seen = [[remote().device newBufferWithBytes:numbers_of_host length:12 options:options] autorelease];
    float* contents = static_cast<float*>([seen contents]);
    CHECK(std::memcmp(contents, numbers_of_host, 12) == 0);
    *(contents + 1) = 5;
    MPSGraphTensorData* data = [[[MPSGraphTensorData alloc] initWithMTLBuffer:seen
                                                                        shape:numbers({3})
                                                                     dataType:MPSDataTypeFloat32] autorelease];
    CHECK(read_array(data).values == std::vector<double>({1, 5, 3}));
  }
}

TEST(memory_that_the_host_does_not_see) {
  float numbers_of_host[] = {1, 2, 3};
  id<MTLBuffer> buffer = [[remote().device newBufferWithBytes:numbers_of_host
                                                       length:12
                                                      options:MTLResourceStorageModePrivate] autorelease];
  CHECK([buffer length] == 12);
  CHECK_RAISES([buffer contents]);
  CHECK([remote().device newBufferWithBytesNoCopy:numbers_of_host length:12 options:0 deallocator:nil] == nil);
  MPSGraphTensorData* data = [[[MPSGraphTensorData alloc] initWithMTLBuffer:buffer
                                                                      shape:numbers({3})
                                                                   dataType:MPSDataTypeFloat32] autorelease];
  CHECK(read_array(data).values == std::vector<double>({1, 2, 3}));
  buffer = [[remote().device newBufferWithLength:12 options:MTLResourceStorageModePrivate] autorelease];
  data = [[[MPSGraphTensorData alloc] initWithMTLBuffer:buffer shape:numbers({3})
                                               dataType:MPSDataTypeFloat32] autorelease];
  CHECK(read_array(data).values == std::vector<double>({0, 0, 0}));
}

#ifndef __APPLE__  // declared by SDKs from macOS 14 on
// What is loaded computes on the device that it is first used on, and on no other one, with the values that its
// variables have had on another.
TEST(a_package_is_of_no_device) {
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor *x = placeholder(graph, {2, 3}), *total = variable(graph, Array({2, 3}, 1.0));
  MPSGraphTensor* sum = plus(graph, x, total);
  MPSGraphOperation* step = assigned(graph, total, sum);
  const Array in = random_array({2, 3});
  const auto times = [&](double n) { return map(in, [n](double v) { return 1 + n * v; }); };
  MPSGraphExecutable* executable = compile(remote(), graph, x, sum, step);
  CHECK_ARRAY(read_array(run(remote(), executable, remote().data(in))), times(1));
  char name[] = "/tmp/devices-XXXXXX";
  close(mkstemp(name));
  NSURL* url = [NSURL fileURLWithPath:[NSString stringWithUTF8String:name]];
  [executable serializeToMPSGraphPackageAtURL:url descriptor:nil];
  for (const Machine* on : {&cpu(), &remote()}) {
    const Machine& other = on == &cpu() ? remote() : cpu();
    MPSGraphExecutable* loaded = [[[MPSGraphExecutable alloc] initWithMPSGraphPackageAtURL:url
                                                                     compilationDescriptor:nil] autorelease];
    CHECK_ARRAY(read_array(run(*on, loaded, on->data(in))), times(2));
    CHECK_RAISES(run(other, loaded, other.data(in)));
    NSArray* types = list(type_of({2, 3}));
    CHECK_RAISES([loaded specializeWithDevice:other.graph_device inputTypes:types compilationDescriptor:nil]);
    CHECK_RAISES([loaded getOutputTypesWithDevice:other.graph_device inputTypes:types compilationDescriptor:nil]);
    CHECK([[loaded getOutputTypesWithDevice:on->graph_device inputTypes:types compilationDescriptor:nil] count] == 1);
    CHECK_ARRAY(read_array(run(*on, loaded, on->data(in))), times(3));
  }
  // A device that is told ahead is the one.
  MPSGraphExecutable* loaded = [[[MPSGraphExecutable alloc] initWithMPSGraphPackageAtURL:url
                                                                   compilationDescriptor:nil] autorelease];
  [loaded specializeWithDevice:cpu().graph_device inputTypes:list(type_of({2, 3})) compilationDescriptor:nil];
  CHECK_RAISES(run(remote(), loaded, remote().data(in)));
  unlink(name);
}
#endif

#ifndef __APPLE__  // declared by SDKs from macOS 26 on
// 1 + 2^-12 has more than 10 bits of mantissa. One graph serves both precisions.
TEST(a_device_rounds_where_the_compilation_allows) {
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor *x = placeholder(graph, {1, 1}), *y = matmul(graph, x, constant(graph, Array({1, 1}, 1.0)));
  MPSGraphCompilationDescriptor* allowing = [[MPSGraphCompilationDescriptor new] autorelease];
  [allowing setReducedPrecisionFastMath:MPSGraphReducedPrecisionFastMathAllowConvertingOperandsFromFP32ToFP19];
  MPSGraphExecutionDescriptor* execution = [[MPSGraphExecutionDescriptor new] autorelease];
  [execution setCompilationDescriptor:[[allowing copy] autorelease]];
  [execution setWaitUntilCompleted:YES];
  const Array in({1, 1}, 1 + 0x1p-12);
  for (const Machine* on : {&remote(), &cpu()}) {
    const double rounded = on == &remote() ? 1 : in.values[0];
    CHECK(read_array(run(*on, compile(*on, graph, x, y), on->data(in))).values[0] == in.values[0]);
    MPSGraphExecutable* executable = [graph compileWithDevice:on->graph_device
                                                        feeds:pair(type_of({1, 1}), x)
                                                targetTensors:list(y)
                                             targetOperations:nil
                                        compilationDescriptor:allowing];
    CHECK(read_array(run(*on, executable, on->data(in))).values[0] == rounded);
    NSDictionary* results = [graph runAsyncWithMTLCommandQueue:on->queue
                                                         feeds:pair(on->data(in), x)
                                                 targetTensors:list(y)
                                              targetOperations:nil
                                           executionDescriptor:execution];
    CHECK(read_array([results objectForKey:y]).values[0] == rounded);
  }
}
#endif

TEST(each_computes_on_its_own) {
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor *x = placeholder(graph, {2, 3}), *y = [graph exponentWithTensor:[graph squareWithTensor:x name:nil]
                                                                            name:nil];
  const Array in = random_array({2, 3}, -1, 1);
  Array out[2];
  for (const Machine* on : {&remote(), &cpu()}) {
    MPSGraphTensorData* result = run(*on, compile(*on, graph, x, y), on->data(in));
    CHECK([[result device] metalDevice] == on->device);
    out[on == &cpu()] = read_array(result);
    result = [[graph runWithMTLCommandQueue:on->queue
                                      feeds:pair(on->data(in), x)
                              targetTensors:list(y)
                           targetOperations:nil] objectForKey:y];
    CHECK([[result device] metalDevice] == on->device);
    CHECK(read_array(result).values == out[on == &cpu()].values);
  }
  for (size_t i = 0; i < in.values.size(); ++i) CHECK_NEAR(out[0].values[i], out[1].values[i], 1e-6);
}

// A counter that both count.
TEST(variables_go_where_the_run_is) {
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor *x = placeholder(graph, {2}), *v = variable(graph, Array({2}, {10, 20}));
  MPSGraphTensor* next = plus(graph, v, x);
  MPSGraphOperation* count = assigned(graph, v, next);
  MPSGraphExecutable* counting[] = {compile(remote(), graph, x, next, count), compile(cpu(), graph, x, next, count)};
  double expected = 10;
  for (int turn : {0, 0, 1, 1, 0, 1}) {
    const Machine& on = turn == 0 ? remote() : cpu();
    expected += turn + 1;
    const Array out = read_array(run(on, counting[turn], on.data(Array({2}, static_cast<double>(turn + 1)))));
    CHECK(out.values == std::vector<double>({expected, expected + 10}));
  }
}

TEST(nothing_reaches_into_another_device) {
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor *x = placeholder(graph, {2}), *y = [graph squareWithTensor:x name:nil];
  MPSGraphExecutable* executable = compile(cpu(), graph, x, y);
  const Array in({2}, {2, 3});
  CHECK_RAISES(run(remote(), executable, remote().data(in)));
  CHECK_RAISES(run(cpu(), executable, remote().data(in)));
  CHECK_RAISES([executable specializeWithDevice:remote().graph_device
                                     inputTypes:[NSArray array]
                          compilationDescriptor:nil]);
  CHECK_RAISES([graph runWithMTLCommandQueue:remote().queue
                                       feeds:pair(cpu().data(in), x)
                               targetTensors:list(y)
                            targetOperations:nil]);
  CHECK(read_array(run(cpu(), executable, cpu().data(in))).values == std::vector<double>({4, 9}));
}

// The remote one lacks softmax, by its environment.
TEST(the_host_computes_an_op_that_a_device_lacks) {
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = placeholder(graph, {2, 3});
  MPSGraphTensor* y = [graph softMaxWithTensor:[graph squareWithTensor:x name:nil] axis:-1 name:@"probabilities"];
  const Array got =
      read_array(run(remote(), compile(remote(), graph, x, y), remote().data(Array({2, 3}, {0, 0, 0, 1, 2, 0}))));
  const double sum = std::exp(1.0) + std::exp(4.0) + 1;
  const std::vector<double> expected = {1 / 3.0, 1 / 3.0, 1 / 3.0, std::exp(1.0) / sum, std::exp(4.0) / sum, 1 / sum};
  for (size_t i = 0; i < expected.size(); ++i) CHECK(std::fabs(got.values[i] - expected[i]) < 1e-6);
}

int main(int count, char** arguments) {
  if (std::getenv("ALLOY_REMOTE_LACKS") != nullptr) return check::run(count, arguments);
  std::printf("skipped: there is one device\n");
  return 77;
}
