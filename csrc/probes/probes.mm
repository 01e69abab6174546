// The questions. They send what the engine sends, and what it avoids; operands are fed, so that nothing is computed
// while compiling.
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#import "probes.h"

// The portable device's answer to "which system" (engine/device.h), and NSProcessInfo's, which GNUstep lacks.
struct AlloyProbesVersion {
  NSInteger major, minor, patch;
};
@protocol AlloyProbesSystem
- (NSArray*)alloySystem;
- (AlloyProbesVersion)operatingSystemVersion;
@end

namespace alloy::probes {
namespace {

using Shape = std::vector<long>;

// ---- the device ----

// Apple's function of macOS, which the headers of its other systems hide.
NSArray* all_devices() {
  using Function = NSArray* (*)();
  const auto function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "MTLCopyAllDevices"));
  return function == nullptr ? nil : function();
}

id<MTLDevice> device() {
  static id<MTLDevice> device = [] {
    id<MTLDevice> found = MTLCreateSystemDefaultDevice();
    return found == nil ? [all_devices() firstObject] : found;
  }();
  return device;
}

MPSGraphDevice* graph_device() { return [MPSGraphDevice deviceWithMTLDevice:device()]; }

id<MTLCommandQueue> queue() {
  static id<MTLCommandQueue> queue = [device() newCommandQueue];
  return queue;
}

// ---- arrays ----

NSArray* numbers(const Shape& values) {
  NSMutableArray* array = [NSMutableArray array];
  for (long v : values) [array addObject:[NSNumber numberWithLong:v]];
  return array;
}

long count(const Shape& shape) {
  long n = 1;
  for (long extent : shape) n *= extent;
  return n;
}

Shape shape_of(NSArray* shape) {
  Shape out;
  for (NSNumber* extent in shape) out.push_back([extent longValue]);
  return out;
}

template <class T>
NSData* bytes(const std::vector<T>& values) {
  return [NSData dataWithBytes:values.data() length:values.size() * sizeof(T)];
}

MPSGraphTensorData* data_of(NSData* bytes, const Shape& shape, MPSDataType type) {
  return [[[MPSGraphTensorData alloc] initWithDevice:graph_device() data:bytes shape:numbers(shape)
                                            dataType:type] autorelease];
}

template <class T>
std::vector<T> values_of(MPSGraphTensorData* data) {
  std::vector<T> values(count(shape_of([data shape])));
  [[data mpsndarray] readBytes:values.data() strideBytes:nil];
  return values;
}

// ---- answers ----

std::string text(double value) {
  if (std::isnan(value)) return "nan";
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%a", value);
  return buffer;
}
std::string text(float value) { return text(static_cast<double>(value)); }
template <class T>
std::string text(T value) {
  return std::to_string(value);
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string text(const Shape& shape) {
  std::string out;
  for (long extent : shape) out += (out.empty() ? "" : ",") + std::to_string(extent);
  return "(" + out + ")";
}

template <class T>
std::string values_text(MPSGraphTensorData* data) {
  std::vector<std::string> words;
  for (T value : values_of<T>(data)) words.push_back(text(value));
  return join(words);
}

std::string values_text(MPSGraphTensorData* data) {
  switch ([data dataType]) {
    case MPSDataTypeFloat32: return values_text<float>(data);
    case MPSDataTypeInt32: return values_text<int32_t>(data);
    case MPSDataTypeInt64: return values_text<int64_t>(data);
    default: return values_text<uint8_t>(data);
  }
}

// "right", or where the first difference is.
std::string compared(MPSGraphTensorData* data, const std::function<double(long)>& expected) {
  const std::vector<float> values = values_of<float>(data);
  for (size_t i = 0; i < values.size(); ++i) {
    const double right = expected(static_cast<long>(i));
    if (static_cast<double>(values[i]) != right) {
      return "element " + std::to_string(i) + " is " + text(values[i]) + " instead of " + text(right);
    }
  }
  return "right";
}

// ---- a graph with what it is fed ----

class Question {
 public:
  MPSGraph* graph = [[MPSGraph new] autorelease];

  MPSGraphTensor* feed(NSData* bytes, const Shape& shape, MPSDataType type) {
    MPSGraphTensor* tensor = [graph placeholderWithShape:numbers(shape) dataType:type name:nil];
    feeds_.push_back({tensor, data_of(bytes, shape, type)});
    return tensor;
  }
  MPSGraphTensor* feed(const std::vector<float>& values, const Shape& shape) {
    return feed(bytes(values), shape, MPSDataTypeFloat32);
  }
  MPSGraphTensor* feed(const std::vector<int32_t>& values, const Shape& shape) {
    return feed(bytes(values), shape, MPSDataTypeInt32);
  }
  MPSGraphTensor* feed(const std::vector<int64_t>& values, const Shape& shape) {
    return feed(bytes(values), shape, MPSDataTypeInt64);
  }
  MPSGraphTensor* feed(const Shape& shape, const std::function<float(long)>& value) {
    std::vector<float> values;
    for (long i = 0; i < count(shape); ++i) values.push_back(value(i));
    return feed(values, shape);
  }

  MPSGraphTensor* variable(const std::vector<float>& values, const Shape& shape) {
    return [graph variableWithData:bytes(values) shape:numbers(shape) dataType:MPSDataTypeFloat32 name:nil];
  }
  MPSGraphTensor* identity(MPSGraphTensor* tensor) { return [graph identityWithTensor:tensor name:nil]; }
  MPSGraphOperation* assign(MPSGraphTensor* variable, MPSGraphTensor* value) {
    return [graph assignVariable:variable withValueOfTensor:value name:nil];
  }

  // As the engine does: nothing in the background, nothing on the Neural Engine.
  MPSGraphExecutable* compile(NSArray* targets, NSArray* operations) {
    MPSGraphCompilationDescriptor* descriptor = [[MPSGraphCompilationDescriptor new] autorelease];
    [descriptor setOptimizationLevel:MPSGraphOptimizationLevel0];
    [descriptor setWaitForCompilationCompletion:YES];
    NSMutableDictionary* types = [NSMutableDictionary dictionary];
    for (const auto& [tensor, data] : feeds_) {
      MPSGraphShapedType* type = [[[MPSGraphShapedType alloc] initWithShape:[data shape]
                                                                   dataType:[data dataType]] autorelease];
      [types setObject:type forKey:tensor];
    }
    return [graph compileWithDevice:graph_device()
                              feeds:types
                      targetTensors:targets
                   targetOperations:operations
              compilationDescriptor:descriptor];
  }

  NSArray* inputs(MPSGraphExecutable* executable) {
    NSMutableArray* inputs = [NSMutableArray array];
    for (MPSGraphTensor* wanted in [executable feedTensors]) {
      for (const auto& [tensor, data] : feeds_) {
        if (tensor == wanted) [inputs addObject:data];
      }
    }
    return inputs;
  }

  NSArray* run(MPSGraphExecutable* executable) {
    return [executable runWithMTLCommandQueue:queue()
                                  inputsArray:inputs(executable)
                                 resultsArray:nil
                          executionDescriptor:nil];
  }

  // In the order of `targets`.
  std::vector<MPSGraphTensorData*> run(const std::vector<MPSGraphTensor*>& targets, NSArray* operations = nil) {
    MPSGraphExecutable* executable =
        compile([NSArray arrayWithObjects:targets.data() count:targets.size()], operations);
    NSArray* results = run(executable);
    std::vector<MPSGraphTensorData*> out;
    for (MPSGraphTensor* target : targets) {
      out.push_back([results objectAtIndex:[[executable targetTensors] indexOfObjectIdenticalTo:target]]);
    }
    return out;
  }

  // A run that reads a variable and is fed nothing.
  std::string value(MPSGraphTensor* variable) {
    feeds_.clear();
    return values_text(run({[graph readVariable:variable name:nil]}).front());
  }

  std::string values(const std::vector<MPSGraphTensor*>& targets) {
    std::vector<std::string> words;
    for (MPSGraphTensorData* data : run(targets)) words.push_back(values_text(data));
    return join(words);
  }
  std::string shaped(MPSGraphTensor* target) {
    MPSGraphTensorData* data = run({target}).front();
    return text(shape_of([data shape])) + " " + values_text(data);
  }

 private:
  std::vector<std::pair<MPSGraphTensor*, MPSGraphTensorData*>> feeds_;
};

NSArray* list(id object) { return [NSArray arrayWithObject:object]; }

// ---- the device and its executables ----

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

// ---- variables ----

std::string shared_variable() {
  Question q;
  MPSGraphTensor* v = q.variable({1, 10}, {2});
  MPSGraphTensor* next = [q.graph additionWithPrimaryTensor:v
                                            secondaryTensor:q.feed(std::vector<float>{1, 1}, {2})
                                                       name:nil];
  MPSGraphExecutable* training = q.compile(list(q.identity(next)), list(q.assign(v, next)));
  MPSGraphExecutable* reading = q.compile(list(q.identity(v)), nil);
  q.run(training);
  q.run(training);
  return values_text(static_cast<MPSGraphTensorData*>([q.run(reading) objectAtIndex:0]));
}

std::string fetched_before_assign() {
  Question q;
  MPSGraphTensor *v = q.variable({1}, {1}), *fetched = q.identity(v);
  const auto seen = q.run({fetched}, list(q.assign(v, q.feed(std::vector<float>{2}, {1}))));
  return join({values_text(seen.front()), q.value(v)});
}

std::string read_after_assign() {
  Question q;
  MPSGraphTensor* v = q.variable({1}, {1});
  MPSGraphOperation* assign = q.assign(v, q.feed(std::vector<float>{2}, {1}));
  MPSGraphTensor* fetched = q.identity(v);
  const auto seen = q.run({fetched}, list(assign));
  return join({values_text(seen.front()), q.value(v)});
}

std::string read_assign_read() {
  Question q;
  MPSGraphTensor *v = q.variable({1}, {1}), *first = [q.graph readVariable:v name:nil];
  MPSGraphOperation* assign = q.assign(v, q.feed(std::vector<float>{20}, {1}));
  MPSGraphTensor* second = [q.graph readVariable:v name:nil];
  const auto seen = q.run({first, second}, list(assign));
  return join({values_text(seen.at(0)), values_text(seen.at(1)), q.value(v)});
}

// ---- constants ----

std::string bool_constant() {
  Question q;
  MPSGraphTensor* truth = [q.graph constantWithScalar:1 shape:numbers({1}) dataType:MPSDataTypeBool];
  MPSGraphTensor* fed = q.feed(bytes(std::vector<uint8_t>{1}), {1}, MPSDataTypeBool);
  return q.values({q.identity(truth), [q.graph castTensor:truth toType:MPSDataTypeFloat32 name:nil],
                   [q.graph equalWithPrimaryTensor:truth secondaryTensor:fed name:nil]});
}

std::string int64_constant() {
  Question q;
  const std::vector<int64_t> values{(int64_t{1} << 53) + 1, -(int64_t{1} << 62)};
  return q.values({q.identity([q.graph constantWithData:bytes(values) shape:numbers({2}) dataType:MPSDataTypeInt64])});
}

// ---- types ----

std::string int32_select() {
  Question q;
  return q.values({[q.graph selectWithPredicateTensor:q.feed(std::vector<int32_t>{0, 1, 2, -1}, {4})
                                  truePredicateTensor:q.feed(std::vector<float>{1, 2, 3, 4}, {4})
                                 falsePredicateTensor:q.feed(std::vector<float>{-1, -2, -3, -4}, {4})
                                                 name:nil]});
}

std::string int32_division() {
  Question q;
  MPSGraphTensor *a = q.feed(std::vector<int32_t>{-616, 7, -7, 2147483647}, {4}),
                 *b = q.feed(std::vector<int32_t>{28, 2, 2, 3}, {4});
  return q.values({[q.graph divisionWithPrimaryTensor:a secondaryTensor:b name:nil]});
}

std::string int64_sum() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<int64_t>{(int64_t{1} << 40) + 1, int64_t{1} << 40, -5}, {3});
  return q.values({[q.graph reductionSumWithTensor:x axes:numbers({0}) name:nil]});
}

// The codes by number: older headers do not name them.
std::string bfloat16_cast() {
  Question q;
  MPSGraphTensor* half = [q.graph castTensor:q.feed(std::vector<float>{1.5f}, {1})
                                      toType:static_cast<MPSDataType>(0x90000010)
                                        name:nil];
  return q.values({[q.graph castTensor:half toType:MPSDataTypeFloat32 name:nil]});
}

std::string complex_feed() {
  Question q;
  const auto type = static_cast<MPSDataType>(0x11000040);
  MPSGraphTensorData* seen = q.run({q.identity(q.feed(bytes(std::vector<float>{1.5f, -2}), {1}, type))}).front();
  float parts[2];
  [[seen mpsndarray] readBytes:parts strideBytes:nil];
  return join({text(parts[0]), text(parts[1])});
}

// ---- reductions ----

std::string no_axes() {
  Question q;
  return q.shaped([q.graph reductionSumWithTensor:q.feed(std::vector<float>{1, 2}, {2}) axes:[NSArray array] name:nil]);
}

std::string rank5_sum() {
  Question q;
  MPSGraphTensor* x = q.feed({2, 2, 1, 2, 1}, [](long i) { return static_cast<float>(i + 1); });
  return q.shaped([q.graph reductionSumWithTensor:x axes:numbers({0}) name:nil]);
}

std::string argmax() {
  Question q;
  return q.values({[q.graph reductionArgMaximumWithTensor:q.feed(std::vector<float>{1, 5, 2, 7, 3, 6}, {2, 3})
                                                     axis:1
                                                     name:nil]});
}

std::string argmax_of_nan_and_ties() {
  Question q;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  return q.values(
      {[q.graph reductionArgMaximumWithTensor:q.feed(std::vector<float>{1, nan, 2, 3, 1, 3, nan, nan, nan}, {3, 3})
                                         axis:1
                                         name:nil]});
}

// ---- products and convolutions ----

// Integers, whose sums float32 holds in every order.
float small_integer(long i) { return static_cast<float>(i % 7 - 3); }

std::string product(long rows, long inner, long columns) {
  Question q;
  MPSGraphTensor *a = q.feed({rows, inner}, small_integer),
                 *b = q.feed({inner, columns}, [](long i) { return static_cast<float>(i % 5); });
  MPSGraphTensorData* seen =
      q.run({[q.graph matrixMultiplicationWithPrimaryTensor:a secondaryTensor:b name:nil]}).front();
  return compared(seen, [=](long i) {
    double sum = 0;
    for (long k = 0; k < inner; ++k) {
      sum += static_cast<double>(small_integer(i / columns * inner + k)) *
             static_cast<double>((k * columns + i % columns) % 5);
    }
    return sum;
  });
}

std::string long_product() { return product(3, 40000, 2); }
std::string large_matrix() { return product(40000, 3, 2); }

std::string rank5_product() {
  Question q;
  MPSGraphTensor* a = q.feed({2, 1, 2, 1, 2}, [](long i) { return static_cast<float>(i + 1); });
  MPSGraphTensor* b = q.feed({2, 1, 2, 2, 1}, [](long i) { return static_cast<float>(i % 3); });
  return q.shaped([q.graph matrixMultiplicationWithPrimaryTensor:a secondaryTensor:b name:nil]);
}

MPSGraphConvolution2DOpDescriptor* window(NSUInteger stride, NSUInteger padding) {
  return [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:stride
                                                          strideInY:stride
                                                    dilationRateInX:1
                                                    dilationRateInY:1
                                                             groups:1
                                                        paddingLeft:padding
                                                       paddingRight:padding
                                                         paddingTop:padding
                                                      paddingBottom:padding
                                                       paddingStyle:MPSGraphPaddingStyleExplicit
                                                         dataLayout:MPSGraphTensorNamedDataLayoutNHWC
                                                      weightsLayout:MPSGraphTensorNamedDataLayoutHWIO];
}

std::string convolution_data_gradient() {
  Question q;
  return q.shaped([q.graph
      convolution2DDataGradientWithIncomingGradientTensor:q.feed(std::vector<float>{1, 2, 3, 4}, {1, 2, 2, 1})
                                            weightsTensor:q.feed(std::vector<float>{1, 2, 3, 0, -1, 1, 2, 1, -2},
                                                                 {3, 3, 1, 1})
                                              outputShape:numbers({1, 4, 4, 1})
                             forwardConvolutionDescriptor:window(2, 1)
                                                     name:nil]);
}

std::string convolution_weights_gradient() {
  Question q;
  MPSGraphTensor* source = q.feed({1, 4, 4, 1}, [](long i) { return static_cast<float>(i + 1); });
  return q.shaped([q.graph
      convolution2DWeightsGradientWithIncomingGradientTensor:q.feed(std::vector<float>{1, 2, 3, 4}, {1, 2, 2, 1})
                                                sourceTensor:source
                                                 outputShape:numbers({3, 3, 1, 1})
                                forwardConvolutionDescriptor:window(2, 1)
                                                        name:nil]);
}

// The same image again and again: the gradient is that of one, times their number.
std::string many_images() {
  Question q;
  const long images = 65540;
  MPSGraphTensor* source = q.feed({images, 2, 2, 1}, [](long i) { return static_cast<float>(i % 4 + 1); });
  MPSGraphTensor* incoming = q.feed({images, 1, 1, 1}, [](long) { return 1.0f; });
  MPSGraphTensor* gradient = [q.graph convolution2DWeightsGradientWithIncomingGradientTensor:incoming
                                                                                sourceTensor:source
                                                                                 outputShape:numbers({2, 2, 1, 1})
                                                                forwardConvolutionDescriptor:window(1, 0)
                                                                                        name:nil];
  return q.values({gradient});
}

std::string many_channels() {
  Question q;
  const long channels = 65544;
  MPSGraphTensor *source = q.feed(std::vector<float>{2, 3}, {1, 1, 1, 2}),
                 *weights = q.feed({1, 1, 2, channels}, small_integer);
  MPSGraphTensor* result = [q.graph convolution2DWithSourceTensor:source
                                                    weightsTensor:weights
                                                       descriptor:window(1, 0)
                                                             name:nil];
  return compared(q.run({result}).front(), [=](long i) {
    return 2 * static_cast<double>(small_integer(i)) + 3 * static_cast<double>(small_integer(channels + i));
  });
}

// ---- slices ----

std::string slice_backwards() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<float>{0, 1, 2, 3, 4, 5}, {6});
  return q.shaped([q.graph sliceTensor:x starts:numbers({4}) ends:numbers({0}) strides:numbers({-2}) name:nil]);
}

std::string slice_gradient(long start, long end, long stride) {
  Question q;
  MPSGraphTensor* shape = [q.graph shapeOfTensor:q.feed(std::vector<float>(6), {6}) name:nil];
  return q.shaped([q.graph sliceGradientTensor:q.feed(std::vector<float>{10, 20}, {2})
                              fwdInShapeTensor:shape
                                        starts:numbers({start})
                                          ends:numbers({end})
                                       strides:numbers({stride})
                                          name:nil]);
}

std::string slice_gradient() { return slice_gradient(2, 4, 1); }
std::string strided_slice_gradient() { return join({slice_gradient(1, 4, 2), slice_gradient(4, 0, -2)}); }

// ---- losses and optimizers ----

std::string cross_entropy_shapes() {
  std::vector<std::string> words;
  for (const auto reduction :
       {MPSGraphLossReductionTypeAxis, MPSGraphLossReductionTypeSum, MPSGraphLossReductionTypeMean}) {
    Question q;
    MPSGraphTensor* loss =
        [q.graph softMaxCrossEntropyWithSourceTensor:q.feed(std::vector<float>(6), {2, 3})
                                        labelsTensor:q.feed(std::vector<float>{1, 0, 0, 0, 1, 0}, {2, 3})
                                                axis:1
                                       reductionType:reduction
                                                name:nil];
    words.push_back(q.shaped(loss));
  }
  return join(words);
}

std::string adam() {
  Question q;
  const auto rate = [&](float value) { return q.feed(std::vector<float>{value}, {1}); };
  NSArray* results = [q.graph adamWithCurrentLearningRateTensor:rate(0.5f)
                                                    beta1Tensor:rate(0.5f)
                                                    beta2Tensor:rate(0.75f)
                                                  epsilonTensor:rate(0.5f)
                                                   valuesTensor:q.feed(std::vector<float>{4, 4}, {2})
                                                 momentumTensor:q.feed(std::vector<float>{1, 1}, {2})
                                                 velocityTensor:q.feed(std::vector<float>{0, 0}, {2})
                                          maximumVelocityTensor:nil
                                                 gradientTensor:q.feed(std::vector<float>{2, -2}, {2})
                                                           name:nil];
  return q.values({[results objectAtIndex:0], [results objectAtIndex:1], [results objectAtIndex:2]});
}

std::string scalar_sgd() {
  Question q;
  return q.shaped([q.graph stochasticGradientDescentWithLearningRateTensor:q.feed(std::vector<float>{0.5f}, {1})
                                                              valuesTensor:q.feed(std::vector<float>{3}, {})
                                                            gradientTensor:q.feed(std::vector<float>{2}, {})
                                                                      name:nil]);
}

// ---- special numbers ----

std::string power_of_negative() {
  Question q;
  return q.values({[q.graph powerWithPrimaryTensor:q.feed(std::vector<float>{-2, -3, -2, 2}, {4})
                                   secondaryTensor:q.feed(std::vector<float>{3, 2, -1, -2}, {4})
                                              name:nil]});
}

std::string sign_of_int64() {
  Question q;
  return q.values({[q.graph signWithTensor:q.feed(std::vector<int64_t>{-3, 0, 7}, {3}) name:nil]});
}

std::string sign_of_negative_zero() {
  Question q;
  MPSGraphTensor* sign = [q.graph signWithTensor:q.feed(std::vector<float>{-0.0f}, {1}) name:nil];
  return q.values({[q.graph reciprocalWithTensor:sign name:nil]});
}

// Of rows of ones, whose means are ones.
std::string product_of_softmax() {
  Question q;
  MPSGraphTensor* x = q.feed({3, 2, 64}, [](long) { return 1.0f; });
  MPSGraphTensor* turned = [q.graph transposeTensor:x dimension:1 withDimension:2 name:nil];
  MPSGraphTensor* scores = [q.graph matrixMultiplicationWithPrimaryTensor:x secondaryTensor:turned name:nil];
  MPSGraphTensor* weights = [q.graph softMaxWithTensor:scores axis:2 name:nil];
  MPSGraphTensor* y = [q.graph matrixMultiplicationWithPrimaryTensor:weights secondaryTensor:x name:nil];
  return q.values({[q.graph reductionMinimumWithTensor:[q.graph reshapeTensor:y withShape:numbers({384}) name:nil]
                                                  axis:0
                                                  name:nil]});
}

std::string negative_zero() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<float>{-0.0f}, {1});
  return q.values({q.identity(x), [q.graph signWithTensor:x name:nil], [q.graph reLUWithTensor:x name:nil]});
}

std::string denormals() {
  Question q;
  MPSGraphTensor* x = q.feed(std::vector<float>{0x1p-130f}, {1});
  return q.values({q.identity(x), [q.graph additionWithPrimaryTensor:x secondaryTensor:x name:nil]});
}

std::string nan_among_numbers() {
  Question q;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  MPSGraphTensor *x = q.feed(std::vector<float>{nan, 1, 2, nan}, {1, 2, 2, 1}),
                 *ones = q.feed(std::vector<float>(4, 1), {1, 2, 2, 1});
  MPSGraphPooling2DOpDescriptor* pool =
      [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:2
                                                  kernelHeight:2
                                                     strideInX:2
                                                     strideInY:2
                                                  paddingStyle:MPSGraphPaddingStyleTF_VALID
                                                    dataLayout:MPSGraphTensorNamedDataLayoutNHWC];
  return q.values({[q.graph maximumWithPrimaryTensor:x secondaryTensor:ones name:nil],
                   [q.graph reLUWithTensor:x name:nil],
                   [q.graph reductionMaximumWithTensor:x axes:numbers({0, 1, 2, 3}) name:nil],
                   [q.graph maxPooling2DWithSourceTensor:x descriptor:pool name:nil]});
}

}  // namespace

// The one table of what is asked and expected. Open are those whose answer Apple documents nowhere and the engine does
// not need.
const Probe kProbes[] = {
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

    {"shared_variable", "two executables share a graph's variable", "3 12", 0, "the engine relies on it", nullptr,
     shared_variable},
    {"fetched_before_assign", "a fetch before the assignment: the old value", "1 2", 0, "the engine relies on it",
     nullptr, fetched_before_assign},
    {"read_after_assign", "a fetch behind the assignment: the old value", "1 2", 0, "a run's reads see its start",
     "read_after_assign", read_after_assign},
    {"read_assign_read", "explicit reads around an assignment", nullptr, 0, "their order is documented nowhere",
     nullptr, read_assign_read},

    {"bool_constant", "true as a scalar constant, cast, compared", "1 1 1", 0, "the definition of true", "true_is_255",
     bool_constant},
    {"int64_constant", "constants of int64 by bytes", "9007199254740993 -4611686018427387904", 0, "arithmetic", nullptr,
     int64_constant},
    {"int32_select", "select by numbers: what is not zero is true", "-1 2 3 4", 0, "the op's definition",
     "select_by_number", int32_select},
    {"int32_division", "quotients of int32 truncate toward zero", "-22 3 -3 715827882", 0, "arithmetic",
     "integer_quotient", int32_division},
    {"int64_sum", "a sum of int64 beyond 2^40", "2199023255548", 0, "arithmetic", nullptr, int64_sum},
    {"bfloat16_cast", "a cast to bfloat16 and back", nullptr, 0, "of macOS 14", "bfloat16", bfloat16_cast},
    {"complex_feed", "a complex number, fed and fetched", nullptr, 0, "of macOS 14", "complex", complex_feed},

    {"no_axes", "a sum over no axes is what it sums", "(2) 1 2", 0, "arithmetic", "reduction_of_no_axes", no_axes},
    {"rank5_sum", "a sum over the first of 5 axes", "(1,2,1,2,1) 6 8 10 12", 0, "arithmetic", "reduction_beyond_rank4",
     rank5_sum},
    {"argmax", "argmax of rows", "1 0", 0, "arithmetic", nullptr, argmax},
    {"argmax_of_nan_and_ties", "argmax beside NaN, of ties, of NaN alone", nullptr, 0, "documented nowhere", nullptr,
     argmax_of_nan_and_ties},

    {"rank5_product", "a matrix product of tensors of 5 axes", "(2,1,2,1,1) 2 6 17 8", 0, "arithmetic",
     "product_beyond_rank4", rank5_product},
    {"long_product", "a matrix product along 40,000 elements", "right", 0, "arithmetic in integers",
     "long_inner_product", long_product},
    {"large_matrix", "a matrix product of 40,000 rows", "right", 0, "arithmetic in integers", "large_matrix",
     large_matrix},
    {"convolution_data_gradient", "a strided convolution's gradient: source",
     "(1,4,4,1) -1 1 -2 2 7 15 10 8 -3 3 -4 4 3 2 4 -8", 0, "the convolution's transpose, in NumPy", nullptr,
     convolution_data_gradient},
    {"convolution_weights_gradient", "a strided convolution's gradient: weights",
     "(3,3,1,1) 24 43 50 44 78 88 68 118 128", 0, "the convolution's transpose, in NumPy", nullptr,
     convolution_weights_gradient},
    {"many_images", "a weights' gradient of 65,540 images", "65540 131080 196620 262160", 0, "arithmetic in integers",
     "convolution_of_many_images", many_images},
    {"many_channels", "a convolution to 65,544 channels", "right", 0, "arithmetic in integers",
     "convolution_to_many_channels", many_channels},

    {"slice_backwards", "a slice of stride -2", "(2) 4 2", 0, "the definition of a slice", nullptr, slice_backwards},
    {"slice_gradient", "the gradient of a slice of stride 1", "(6) 0 0 10 20 0 0", 0, "the slice's transpose", nullptr,
     slice_gradient},
    {"strided_slice_gradient", "the gradients of slices of strides 2 and -2", "(6) 0 10 0 20 0 0 (6) 0 0 20 0 10 0", 0,
     "the slice's transpose", "strided_slice_gradient", strided_slice_gradient},

    {"cross_entropy_shapes", "the shapes of a loss: kept, summed, averaged", nullptr, 0,
     "documented nowhere; the engine reshapes", nullptr, cross_entropy_shapes},
    {"adam", "Adam's results: value, momentum, velocity", "3.5 4.16666667 1.5 -0.5 1 1", 1e-5,
     "the formula of Apple's header", nullptr, adam},
    {"scalar_sgd", "a scalar keeps its shape in a step of SGD", "() 2", 0, "the op's definition", "optimizer_of_scalar",
     scalar_sgd},

    {"power_of_negative", "powers of negative bases", "-8 9 -0.5 0.25", 1e-5, "arithmetic; fast pow rounds",
     "power_of_negative", power_of_negative},
    {"sign_of_int64", "signs of int64", "-1 0 1", 0, "the op's definition", "sign_of_int64", sign_of_int64},
    {"sign_of_negative_zero", "1 / sign(-0)", "-inf", 0, "the op's definition", "sign_of_negative_zero",
     sign_of_negative_zero},
    {"product_of_softmax", "the product of a softmax, as in an attention", "1", 1e-5, "means of ones",
     "product_of_softmax", product_of_softmax},
    {"negative_zero", "-0 itself, its sign, its relu", nullptr, 0, "sign(-0) is 0 elsewhere", nullptr, negative_zero},
    {"denormals", "2^-130 itself and doubled", nullptr, 0, "flushed to zero elsewhere", nullptr, denormals},
    {"nan_among_numbers", "NaN in maximum, relu, max, and max pooling", nullptr, 0, "documented nowhere", nullptr,
     nan_among_numbers},
};
const size_t kProbeCount = std::size(kProbes);

ir::System asked_system() {
  @autoreleasepool {
    NSObject* asked = static_cast<NSObject*>(device());
    if ([asked respondsToSelector:@selector(alloySystem)]) {
      NSArray* version = [static_cast<id<AlloyProbesSystem>>(asked) alloySystem];
      return {[[version objectAtIndex:0] intValue], [[version objectAtIndex:1] intValue]};
    }
    NSProcessInfo* process = [NSProcessInfo processInfo];
    if (![process respondsToSelector:@selector(operatingSystemVersion)]) return {};
    const AlloyProbesVersion version = [static_cast<id<AlloyProbesSystem>>(process) operatingSystemVersion];
    return {static_cast<int>(version.major), static_cast<int>(version.minor)};
  }
}

std::string answer(const Probe& probe) {
  std::string out;
  @autoreleasepool {
    out = probe.ask();
  }
  return out;
}

}  // namespace alloy::probes
