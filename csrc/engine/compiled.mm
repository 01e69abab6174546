#include "engine/compiled.h"

#include <unordered_map>

#include "engine/error.h"
#import "engine/graph_impl.h"
#import "engine/lowering/lowered.h"
#include "engine/process.h"

namespace alloy::engine {
namespace {

// Which of our `tensors` each of the framework's is, in its order.
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
  if (out.size() != tensors.size()) {
    throw DeviceError("[compile] The framework's executable lacks a tensor that it was given.");
  }
  return out;
}

// Where the arrays of a run go: first what was asked for, then variables (Lowered::fed and Lowered::fetched).
std::shared_ptr<const Places> places_of(const Ref<id<MTLDevice>>& device, MPSGraphExecutable* executable,
                                        const Lowered& step) {
  auto places = std::make_shared<Places>();
  places->device = device;
  const size_t given = step.feed_types.size(), asked = step.result_types.size();
  for (const size_t i : line_up([executable feedTensors], step.fed)) {
    const NSUInteger at = places->input_count++;
    if (i < given) places->feeds.push_back({step.feed_types[i], i, at});
    else places->read.emplace_back(at, step.reads[i - given]);
  }
  for (const size_t i : line_up([executable targetTensors], step.fetched)) {
    const NSUInteger at = places->output_count++;
    if (i < asked) places->results.push_back({step.result_types[i], i, at});
    else if (i - asked < step.writes.size()) places->written.emplace_back(at, step.writes[i - asked]);
    else places->results.push_back({{ir::DType::float32, {}}, Places::kNobody, at});
  }
  return places;
}

Ref<MPSGraphExecutable*> compile_framework(id<MTLDevice> on, const Lowered& step) {
  MPSGraphDevice* const device = [MPSGraphDevice deviceWithMTLDevice:on];
  const auto descriptor = Ref<MPSGraphCompilationDescriptor*>::adopt([[MPSGraphCompilationDescriptor alloc] init]);
  // Level 1 may place parts on the Neural Engine and takes much longer, and nothing may be added to the graph while it
  // is compiled.
  [descriptor.get() setOptimizationLevel:MPSGraphOptimizationLevel0];
  [descriptor.get() setWaitForCompilationCompletion:YES];
  return Ref<MPSGraphExecutable*>::retain([step.framework->graph.get() compileWithDevice:device
                                                                                   feeds:step.types.get()
                                                                           targetTensors:step.targets.get()
                                                                        targetOperations:step.operations.get()
                                                                   compilationDescriptor:descriptor.get()]);
}

}  // namespace

struct Compiled::Impl {
  Graph::Impl& graph;
  std::shared_ptr<Framework> framework;
  size_t ops;  // of the framework's graph that it needs
  bool keeps_variables, assigns;
  Ref<MPSGraphExecutable*> executable = {};
  std::shared_ptr<const Places> places = {};
  std::vector<std::shared_ptr<Run>> spare = {};  // not in use now

  Impl(Graph& of, const Lowered& lowered)
      : graph(of.impl()),
        framework(lowered.framework),
        ops(lowered.ops),
        keeps_variables(of.storage() == VariableStorage::kBuffers),
        assigns(lowered.assigns) {
    framework->needed += ops;
    ++counters().live_steps;
  }
  ~Impl() {
    framework->needed -= ops;
    --counters().live_steps;
  }

  std::shared_ptr<Run> start(const FeedBytes* feeds, bool waits) {
    // The buffers of variables swap when a run is over, and the next run must not write what this one still reads.
    if (keeps_variables) graph.land_all();
    while (!waits && graph.flying.size() >= graph.most_in_flight) graph.land();
    graph.require_sound();
    std::shared_ptr<Run> run;
    if (spare.empty()) {
      run = Run::make(places);
    } else {
      run = std::move(spare.back());
      spare.pop_back();
    }
    run->start(executable.get(), graph.queue.get(), feeds, waits);
    ++counters().dispatches;
    if (waits) graph.land_behind(*run);
    else graph.flying.push_back(run);
    return run;
  }

  void read(const Run& run, void* const* results) {
    graph.land(run);
    if (run.failure().empty()) return run.read(results);
    graph.untold.clear();
    if (run.lacks_memory()) throw OutOfMemory(run.failure());
    const char* left = !assigns          ? ""
                       : keeps_variables ? " No variable has changed."
                                         : " Variables that it assigns may be partly updated.";
    throw DeviceError("[step] " + run.failure() + left);
  }

  void reuse(std::shared_ptr<Run> run) {
    constexpr size_t kMostSpare = 4;
    if (spare.size() < kMostSpare) spare.push_back(std::move(run));
  }
};

Compiled::Compiled(Graph& graph, std::shared_ptr<const Lowered> lowered) : lowered_(std::move(lowered)) {
  on_device([&] {
    graph.impl().land_all();  // nothing may run while the framework's graph is compiled
    impl_ = std::make_unique<Impl>(graph, *lowered_);
    impl_->executable = compile_framework(graph.impl().device.get(), *lowered_);
    impl_->places = places_of(graph.impl().device, impl_->executable.get(), *lowered_);
  });
  ++counters().compilations;
}

Compiled::~Compiled() = default;

const std::vector<ir::Shape>& Compiled::feed_shapes() const { return lowered_->feed_shapes; }
const std::vector<ir::Type>& Compiled::result_types() const { return lowered_->result_types; }

namespace {

uint64_t number(NSDictionary* entries, NSString* key) { return [[entries objectForKey:key] unsignedLongLongValue]; }
double seconds(NSDictionary* entries, NSString* key) { return [[entries objectForKey:key] doubleValue]; }
std::string text(NSDictionary* entries, NSString* key) { return [[entries objectForKey:key] UTF8String]; }

ir::Shape shape(NSDictionary* entries) {
  ir::Dims dims;
  for (NSNumber* extent in [entries objectForKey:@"shape"]) dims.push_back([extent longLongValue]);
  return ir::Shape(dims);
}

}  // namespace

std::optional<MemoryPlan> Compiled::memory_plan() const {
  std::optional<MemoryPlan> out;
  on_device([&] {
    NSObject* executable = impl_->executable.get();
    if (![executable respondsToSelector:@selector(alloyMemoryPlan)]) return;
    NSDictionary* plan = [static_cast<id<AlloyExecutableDiagnostics>>(executable) alloyMemoryPlan];
    uint64_t feeds = 0, results = 0;
    for (const Places::Place& place : impl_->places->feeds) feeds += place.type.byte_count();
    for (const ir::Type& type : result_types()) results += type.byte_count();
    // Variables in buffers are fed and fetched as far as the framework knows.
    const uint64_t variables =
        number(plan, @"variables") + (number(plan, @"feeds") - feeds) + (number(plan, @"results") - results);
    out = MemoryPlan{variables,
                     feeds,
                     results,
                     number(plan, @"constants"),
                     number(plan, @"arena"),
                     number(plan, @"scratch"),
                     number(plan, @"layouts"),
                     {}};
    for (NSDictionary* value in [plan objectForKey:@"atPeak"]) {
      out->at_peak.push_back({text(value, @"name"), text(value, @"kind"), shape(value), number(value, @"bytes")});
    }
  });
  return out;
}

bool Compiled::is_current() const { return impl_->framework == impl_->graph.framework; }

void Compiled::run(const FeedBytes* feeds, void* const* results) {
  Entry::note_run();
  on_device([&] {
    struct Reused {
      Impl& impl;
      std::shared_ptr<Run> run;
      ~Reused() { impl.reuse(std::move(run)); }
    } reused{*impl_, impl_->start(feeds, true)};
    impl_->read(*reused.run, results);
  });
}

std::shared_ptr<Run> Compiled::start(const FeedBytes* feeds) {
  Entry::note_run();
  std::shared_ptr<Run> run;
  on_device([&] { run = impl_->start(feeds, false); });
  return run;
}

void Compiled::read(const Run& run, void* const* results) {
  on_device([&] { impl_->read(run, results); });
}

void Compiled::reuse(std::shared_ptr<Run> run) { impl_->reuse(std::move(run)); }

void Compiled::forget_arrays() {
  on_device([&] { impl_->spare.clear(); });
}

bool Compiled::set_profiling(bool on) {
  bool done = false;
  on_device([&] {
    NSObject* executable = impl_->executable.get();
    if (![executable respondsToSelector:@selector(alloySetProfiling:)]) return;
    [static_cast<id<AlloyExecutableDiagnostics>>(executable) alloySetProfiling:on ? YES : NO];
    done = true;
  });
  return done;
}

std::vector<KernelTime> Compiled::times() const {
  std::vector<KernelTime> out;
  on_device([&] {
    for (NSDictionary* kernel in [static_cast<id<AlloyExecutableDiagnostics>>(impl_->executable.get()) alloyProfile]) {
      out.push_back({text(kernel, @"name"), text(kernel, @"kind"), shape(kernel), number(kernel, @"flops"),
                     number(kernel, @"bytes"), seconds(kernel, @"total"), seconds(kernel, @"begin"),
                     seconds(kernel, @"end")});
    }
  });
  return out;
}

}  // namespace alloy::engine
