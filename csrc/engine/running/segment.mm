#import "engine/running/segment.h"

#include <unordered_map>

#include "engine/error.h"
#import "engine/lowering/lowered.h"
#import "engine/mps_types.h"

// macOS 26.
@protocol AlloyReducedPrecision
- (void)setReducedPrecisionFastMath:(NSUInteger)options;
@end

namespace alloy::engine {
namespace {

// For each of the framework's tensors, in its order, the position in our `tensors`.
std::vector<size_t> line_up(NSArray<MPSGraphTensor*>* order, const std::vector<MPSGraphTensor*>& tensors) {
  std::unordered_map<MPSGraphTensor*, size_t> positions;
  for (size_t i = 0; i < tensors.size(); ++i) positions.emplace(tensors[i], i);
  std::vector<size_t> out;
  for (MPSGraphTensor* tensor in order) {
    const auto known = positions.find(tensor);
    if (known == positions.end()) {
      throw DeviceError("[compile] The framework's executable has a tensor that it was not given.");
    }
    out.push_back(known->second);
  }
  return out;
}

// The positions of a run's arrays (Lowered::fed and Lowered::fetched).
std::shared_ptr<const Positions> positions_of(const Ref<id<MTLDevice>>& device, MPSGraphExecutable* executable,
                                              const Lowered& step) {
  auto positions = std::make_shared<Positions>();
  positions->device = device;
  const size_t passed = step.feed_types.size(), given = passed - step.entering.size();
  // Apple does not document if feeds that no target needs are among them.
  for (const size_t i : line_up([executable feedTensors], step.fed)) {
    const NSUInteger at = positions->input_count++;
    if (i < given) positions->feeds.push_back({step.feed_types[i], step.feeds.empty() ? i : step.feeds[i], at});
    else if (i < passed) positions->entering.emplace_back(at, step.entering[i - given]);
    else positions->read.emplace_back(at, step.reads[i - passed]);
  }
  const size_t asked = step.result_types.size(), own = asked + step.writes.size();
  const std::vector<size_t> targets = line_up([executable targetTensors], step.fetched);
  if (targets.size() != step.fetched.size()) {
    throw DeviceError("[compile] The framework's executable lacks a target tensor that it was given.");
  }
  for (const size_t i : targets) {
    const NSUInteger at = positions->output_count++;
    if (i < asked) positions->results.push_back({step.result_types[i], i, at});
    else if (i < own) positions->written.emplace_back(at, step.writes[i - asked]);
    else if (i - own < step.leaving.size()) positions->leaving.emplace_back(at, step.leaving[i - own]);
    else positions->results.push_back({{ir::DType::float32, {}}, Positions::kNobody, at});
  }
  return positions;
}

Ref<MPSGraphExecutable*> compile_framework(id<MTLDevice> on, const Lowered& step) {
  MPSGraphDevice* const device = [MPSGraphDevice deviceWithMTLDevice:on];
  const auto descriptor = compilation_descriptor(step.tf32);
  return Ref<MPSGraphExecutable*>::retain([step.framework->graph.get() compileWithDevice:device
                                                                                   feeds:step.types.get()
                                                                           targetTensors:step.targets.get()
                                                                        targetOperations:step.operations.get()
                                                                   compilationDescriptor:descriptor.get()]);
}

double seconds(NSDictionary* entries, NSString* key) { return [[entries objectForKey:key] doubleValue]; }
std::string text(NSDictionary* entries, NSString* key) { return [[entries objectForKey:key] UTF8String]; }

ir::Shape shape(NSDictionary* entries) {
  ir::Dims dims;
  for (NSNumber* extent in [entries objectForKey:@"shape"]) dims.push_back([extent longLongValue]);
  return ir::Shape(dims);
}

}  // namespace

Ref<MPSGraphCompilationDescriptor*> compilation_descriptor(bool tf32) {
  auto descriptor = Ref<MPSGraphCompilationDescriptor*>::adopt([[MPSGraphCompilationDescriptor alloc] init]);
  // Level 1 may put parts on the Neural Engine, takes much longer, and allows no change of the graph meanwhile.
  [descriptor.get() setOptimizationLevel:MPSGraphOptimizationLevel0];
  [descriptor.get() setWaitForCompilationCompletion:YES];
  NSObject* const object = descriptor.get();
  if (tf32 && [object respondsToSelector:@selector(setReducedPrecisionFastMath:)]) {
    constexpr NSUInteger kOperandsToFP19 = 4;  // a sign, 8 bits of the exponent, 10 of the mantissa
    [static_cast<id<AlloyReducedPrecision>>(object) setReducedPrecisionFastMath:kOperandsToFP19];
  }
  return descriptor;
}

Segment Segment::compile(const Ref<id<MTLDevice>>& device, const Lowered& lowered) {
  Segment made;
  made.executable = compile_framework(device.get(), lowered);
  made.positions = positions_of(device, made.executable.get(), lowered);
  return made;
}

std::optional<MemoryPlan> plan_of(NSObject* executable, const Positions& positions,
                                  const std::vector<ir::Type>& result_types) {
  if (![executable respondsToSelector:@selector(alloyMemoryPlan)]) return std::nullopt;
  NSDictionary* plan = [static_cast<id<AlloyExecutableDiagnostics>>(executable) alloyMemoryPlan];
  uint64_t feeds = 0, results = 0;
  for (const Positions::Position& position : positions.feeds) feeds += position.type.byte_count();
  for (const ir::Type& type : result_types) results += type.byte_count();
  // The framework sees variables in buffers as feeds and results.
  const uint64_t variables =
      number(plan, @"variables") + (number(plan, @"feeds") - feeds) + (number(plan, @"results") - results);
  MemoryPlan out{variables,
                 feeds,
                 results,
                 number(plan, @"constants"),
                 number(plan, @"arena"),
                 number(plan, @"scratch"),
                 number(plan, @"layouts"),
                 {}};
  for (NSDictionary* value in [plan objectForKey:@"atPeak"]) {
    out.at_peak.push_back({text(value, @"name"), text(value, @"kind"), shape(value), number(value, @"bytes")});
  }
  return out;
}

bool set_target_handler(NSObject* executable, std::function<void(size_t)> on_target) {
  if (![executable respondsToSelector:@selector(alloySetTargetHandler:)]) return false;
  [static_cast<id<AlloyExecutableDiagnostics>>(executable) alloySetTargetHandler:^(NSUInteger target) {
    on_target(target);
  }];
  return true;
}

bool set_profiling(NSObject* executable, bool on) {
  if (![executable respondsToSelector:@selector(alloySetProfiling:)]) return false;
  [static_cast<id<AlloyExecutableDiagnostics>>(executable) alloySetProfiling:on ? YES : NO];
  return true;
}

void add_times(NSObject* executable, double begin, std::vector<KernelTime>& out) {
  for (NSDictionary* kernel in [static_cast<id<AlloyExecutableDiagnostics>>(executable) alloyProfile]) {
    out.push_back({text(kernel, @"name"), text(kernel, @"kind"), shape(kernel), text(kernel, @"dtype"),
                   number(kernel, @"flops"), number(kernel, @"bytes"), seconds(kernel, @"total"),
                   begin + seconds(kernel, @"begin"), begin + seconds(kernel, @"end")});
  }
}

}  // namespace alloy::engine
