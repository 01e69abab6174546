#include "question.h"

#include <dlfcn.h>

#include <cmath>
#include <cstdio>

@protocol AlloyAttention
- (MPSGraphTensor*)scaledDotProductAttentionWithQueryTensor:(MPSGraphTensor*)query
                                                  keyTensor:(MPSGraphTensor*)key
                                                valueTensor:(MPSGraphTensor*)value
                                                 maskTensor:(MPSGraphTensor*)mask
                                                      scale:(float)scale
                                                       name:(NSString*)name;
@end

namespace alloy::probes {
namespace {

MPSGraphDevice* graph_device() { return [MPSGraphDevice deviceWithMTLDevice:device()]; }

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

template <class T>
std::string typed_text(MPSGraphTensorData* data) {
  std::vector<std::string> words;
  for (T value : values_of<T>(data)) words.push_back(text(value));
  return join(words);
}

}  // namespace

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

id<MTLCommandQueue> queue() {
  static id<MTLCommandQueue> queue = [device() newCommandQueue];
  return queue;
}

bool knows_no_limit() {
  return [static_cast<NSObject*>(device()) respondsToSelector:NSSelectorFromString(@"alloySystem")];
}

NSArray* numbers(const Shape& values) {
  NSMutableArray* array = [NSMutableArray array];
  for (long v : values) [array addObject:[NSNumber numberWithLong:v]];
  return array;
}

std::string text(double value) {
  if (std::isnan(value)) return "nan";
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%a", value);
  return buffer;
}
std::string text(float value) { return text(static_cast<double>(value)); }

std::string text(const Shape& shape) {
  std::string out;
  for (long extent : shape) out += (out.empty() ? "" : ",") + std::to_string(extent);
  return "(" + out + ")";
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string values_text(MPSGraphTensorData* data) {
  switch ([data dataType]) {
    case MPSDataTypeFloat32: return typed_text<float>(data);
    case MPSDataTypeInt32: return typed_text<int32_t>(data);
    case MPSDataTypeInt64: return typed_text<int64_t>(data);
    default: return typed_text<uint8_t>(data);
  }
}

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

MPSGraphTensor* Question::feed(NSData* bytes, const Shape& shape, MPSDataType type) {
  MPSGraphTensor* tensor = [graph placeholderWithShape:numbers(shape) dataType:type name:nil];
  feeds_.push_back({tensor, data_of(bytes, shape, type)});
  return tensor;
}

MPSGraphTensor* Question::feed(const Shape& shape, const std::function<float(long)>& value) {
  std::vector<float> values;
  for (long i = 0; i < count(shape); ++i) values.push_back(value(i));
  return feed(values, shape);
}

MPSGraphTensor* Question::variable(const std::vector<float>& values, const Shape& shape) {
  return [graph variableWithData:bytes(values) shape:numbers(shape) dataType:MPSDataTypeFloat32 name:nil];
}

MPSGraphExecutable* Question::compile(NSArray* targets, NSArray* operations) {
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

NSArray* Question::inputs(MPSGraphExecutable* executable) {
  NSMutableArray* inputs = [NSMutableArray array];
  for (MPSGraphTensor* wanted in [executable feedTensors]) {
    for (const auto& [tensor, data] : feeds_) {
      if (tensor == wanted) [inputs addObject:data];
    }
  }
  return inputs;
}

NSArray* Question::run(MPSGraphExecutable* executable) {
  return [executable runWithMTLCommandQueue:queue()
                                inputsArray:inputs(executable)
                               resultsArray:nil
                        executionDescriptor:nil];
}

std::vector<MPSGraphTensorData*> Question::run(const std::vector<MPSGraphTensor*>& targets, NSArray* operations) {
  MPSGraphExecutable* executable = compile([NSArray arrayWithObjects:targets.data() count:targets.size()], operations);
  NSArray* results = run(executable);
  std::vector<MPSGraphTensorData*> out;
  for (MPSGraphTensor* target : targets) {
    out.push_back([results objectAtIndex:[[executable targetTensors] indexOfObjectIdenticalTo:target]]);
  }
  return out;
}

std::string Question::value(MPSGraphTensor* variable) {
  feeds_.clear();
  return values_text(run({[graph readVariable:variable name:nil]}).front());
}

std::string Question::values(const std::vector<MPSGraphTensor*>& targets) {
  std::vector<std::string> words;
  for (MPSGraphTensorData* data : run(targets)) words.push_back(values_text(data));
  return join(words);
}

std::string Question::shaped(MPSGraphTensor* target) {
  MPSGraphTensorData* data = run({target}).front();
  return text(shape_of([data shape])) + " " + values_text(data);
}

MPSGraphTensor* attention(Question& q, MPSGraphTensor* query, MPSGraphTensor* key, MPSGraphTensor* value,
                          MPSGraphTensor* mask, float scale) {
  const SEL selector = @selector(scaledDotProductAttentionWithQueryTensor:keyTensor:valueTensor:maskTensor:scale:name:);
  if (![q.graph respondsToSelector:selector]) return nil;
  return [static_cast<id<AlloyAttention>>(q.graph) scaledDotProductAttentionWithQueryTensor:query
                                                                                  keyTensor:key
                                                                                valueTensor:value
                                                                                 maskTensor:mask
                                                                                      scale:scale
                                                                                       name:nil];
}

}  // namespace alloy::probes
