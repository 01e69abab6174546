// The parts of a question: a graph with its feeds, and answers in words. Questions send the selectors that the engine
// sends, and those that it avoids. Operands are fed, so that the compiler cannot compute in advance.
#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "probes.h"

namespace alloy::probes {

using Shape = std::vector<long>;

// ---- the device ----

// Apple's function on macOS, which the headers of its other systems hide; nil if there is none.
NSArray* all_devices();
id<MTLDevice> device();
id<MTLCommandQueue> queue();
// True if a run waits forever for an event that never comes, as on the portable device.
bool knows_no_limit();

// ---- arrays ----

NSArray* numbers(const Shape& values);
inline NSArray* list(id object) { return [NSArray arrayWithObject:object]; }

template <class T>
NSData* bytes(const std::vector<T>& values) {
  return [NSData dataWithBytes:values.data() length:values.size() * sizeof(T)];
}

// ---- answers ----

std::string text(double value);
std::string text(float value);
template <class T>
std::string text(T value) {
  return std::to_string(value);
}
std::string text(const Shape& shape);

// The answer if the system lacks the feature.
inline constexpr const char* kAbsent = "not there";

std::string join(const std::vector<std::string>& words);
std::string values_text(MPSGraphTensorData* data);
// "right", or the position of the first difference.
std::string compared(MPSGraphTensorData* data, const std::function<double(long)>& expected);

// ---- a graph with its feeds ----

class Question {
 public:
  MPSGraph* graph = [[MPSGraph new] autorelease];

  MPSGraphTensor* feed(NSData* bytes, const Shape& shape, MPSDataType type);
  MPSGraphTensor* feed(const std::vector<float>& values, const Shape& shape) {
    return feed(bytes(values), shape, MPSDataTypeFloat32);
  }
  MPSGraphTensor* feed(const std::vector<int32_t>& values, const Shape& shape) {
    return feed(bytes(values), shape, MPSDataTypeInt32);
  }
  MPSGraphTensor* feed(const std::vector<int64_t>& values, const Shape& shape) {
    return feed(bytes(values), shape, MPSDataTypeInt64);
  }
  MPSGraphTensor* feed(const Shape& shape, const std::function<float(long)>& value);

  MPSGraphTensor* variable(const std::vector<float>& values, const Shape& shape);
  MPSGraphTensor* identity(MPSGraphTensor* tensor) { return [graph identityWithTensor:tensor name:nil]; }
  MPSGraphOperation* assign(MPSGraphTensor* variable, MPSGraphTensor* value) {
    return [graph assignVariable:variable withValueOfTensor:value name:nil];
  }

  // Compiles as the engine does: not in the background, not for the Neural Engine.
  MPSGraphExecutable* compile(NSArray* targets, NSArray* operations);
  NSArray* inputs(MPSGraphExecutable* executable);
  NSArray* run(MPSGraphExecutable* executable);
  // In the order of `targets`.
  std::vector<MPSGraphTensorData*> run(const std::vector<MPSGraphTensor*>& targets, NSArray* operations = nil);

  // A run that only reads a variable.
  std::string value(MPSGraphTensor* variable);
  std::string values(const std::vector<MPSGraphTensor*>& targets);
  std::string shaped(MPSGraphTensor* target);

 private:
  std::vector<std::pair<MPSGraphTensor*, MPSGraphTensorData*>> feeds_;
};

// An attention by one selector of macOS 15; nil if the system lacks it. `mask` is nil, or is added.
MPSGraphTensor* attention(Question& q, MPSGraphTensor* query, MPSGraphTensor* key, MPSGraphTensor* value,
                          MPSGraphTensor* mask, float scale);

}  // namespace alloy::probes
