#include "engine/executable.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "engine/error.h"
#import "engine/graph_impl.h"
#import "engine/lowered.h"
#include "engine/process.h"

namespace alloy::engine {
namespace {

// Calls place(i, position) for each of our `tensors`, at its position in `order`, the framework's.
void line_up(NSArray<MPSGraphTensor*>* order, const std::vector<MPSGraphTensor*>& tensors,
             const std::function<void(size_t, NSUInteger)>& place) {
  std::unordered_map<MPSGraphTensor*, size_t> positions;
  for (size_t i = 0; i < tensors.size(); ++i) positions.emplace(tensors[i], i);
  NSUInteger at = 0;
  for (MPSGraphTensor* tensor in order) {
    const auto known = positions.find(tensor);
    if (known == positions.end()) {
      throw DeviceError("[compile] The framework's executable has a tensor that it was not given.");
    }
    place(known->second, at++);
  }
  if (at != tensors.size()) throw DeviceError("[compile] The framework's executable lacks a tensor that it was given.");
}

Ref<MPSGraphCompilationDescriptor*> compilation() {
  auto out = Ref<MPSGraphCompilationDescriptor*>::adopt([[MPSGraphCompilationDescriptor alloc] init]);
  MPSGraphCompilationDescriptor* descriptor = out.get();
  // Level 1 may place parts on the Neural Engine and takes much longer; and nobody may add to the graph while it is
  // compiled.
  [descriptor setOptimizationLevel:MPSGraphOptimizationLevel0];
  [descriptor setWaitForCompilationCompletion:YES];
  return out;
}

}  // namespace

struct Compiled::Impl {
  Graph::Impl& graph;
  std::shared_ptr<Framework> framework;
  size_t ops;  // of the framework's graph that it needs
  bool keeps_variables, assigns;
  Ref<MPSGraphExecutable*> executable = {};
  std::shared_ptr<const Places> places = {};
  std::vector<std::shared_ptr<Run>> spare = {};  // that nobody uses now

  Impl(Graph& of, const Lowered& lowered)
      : graph(of.impl()),
        framework(lowered.framework),
        ops(lowered.ops),
        keeps_variables(of.storage() == Storage::kBuffers),
        assigns(lowered.assigns) {
    framework->needed += ops;
    ++counters().live_steps;
  }
  ~Impl() {
    framework->needed -= ops;
    --counters().live_steps;
  }

  std::shared_ptr<Run> start(const FeedBytes* feeds, bool waits) {
    // Variables in buffers change places when a run is over, and the next one may not write what it still reads.
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
  const Lowered& of = *lowered_;
  on_device([&] {
    graph.impl().land_all();  // nothing may run while the framework's graph is compiled
    impl_ = std::make_unique<Impl>(graph, of);
    MPSGraphExecutable* executable =
        [of.framework->graph.get() compileWithDevice:[MPSGraphDevice deviceWithMTLDevice:graph.impl().device.get()]
                                               feeds:of.types.get()
                                       targetTensors:of.targets.get()
                                    targetOperations:of.operations.get()
                               compilationDescriptor:compilation().get()];
    impl_->executable = Ref<MPSGraphExecutable*>::retain(executable);
    auto places = std::make_shared<Places>();
    places->device = graph.impl().device;
    places->input_count = of.fed.size();
    places->output_count = of.fetched.size();
    const size_t given = of.feed_types.size(), results = of.result_types.size();
    line_up([executable feedTensors], of.fed, [&](size_t i, NSUInteger at) {
      if (i < given) places->feeds.push_back({of.feed_types[i], i, at});
      else places->read.emplace_back(at, of.reads[i - given]);
    });
    line_up([executable targetTensors], of.fetched, [&](size_t i, NSUInteger at) {
      if (i < results) places->results.push_back({of.result_types[i], i, at});
      else if (i - results < of.writes.size()) places->written.emplace_back(at, of.writes[i - results]);
      else places->results.push_back({{ir::DType::float32, {}}, Places::kNobody, at});
    });
    impl_->places = std::move(places);
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

// ---- executables ----

Executable::Executable(std::shared_ptr<Graph> graph, std::vector<ir::Value> feeds, std::vector<ir::Value> fetches,
                       std::vector<ir::Op*> updates)
    : graph_(std::move(graph)), feeds_(std::move(feeds)), fetches_(std::move(fetches)), updates_(std::move(updates)) {}

namespace {

// Of one executable. What is compiled takes some kilobytes to megabytes, without the memory of a run, which all of them
// share.
constexpr size_t kMostSteps = 32;
// Shapes whose nodes in the framework's graph are known, or of which it is known why they are not compiled any more.
constexpr size_t kMostRemembered = 4096;

std::vector<ir::Dims> dims_of(const std::vector<ir::Shape>& shapes) {
  std::vector<ir::Dims> dims;
  for (const ir::Shape& shape : shapes) dims.push_back(shape.dims());
  return dims;
}

}  // namespace

std::shared_ptr<Compiled> Executable::found(const Shapes& shapes) {
  const auto known =
      std::find_if(steps_.begin(), steps_.end(), [&](const auto& step) { return step->feed_shapes() == shapes; });
  if (known == steps_.end()) return nullptr;
  steps_.splice(steps_.begin(), steps_, known);
  return steps_.front();
}

std::shared_ptr<Compiled> Executable::compiled(const Shapes& shapes) {
  if (auto step = found(shapes)) return step;
  graph_->renew_if_wasteful();
  const std::vector<ir::Dims> dims = dims_of(shapes);
  if (lowered_.size() >= kMostRemembered) lowered_.clear();
  std::shared_ptr<const Lowered>& lowered = lowered_[dims];
  if (!lowered) {
    std::vector<ir::Feed> feeds;
    for (size_t i = 0; i < shapes.size(); ++i) feeds.push_back({feeds_[i], {feeds_[i].dtype(), shapes[i]}});
    lowered = Lowered::make(*graph_, feeds, fetches_, updates_);
  }
  auto step = std::make_shared<Compiled>(*graph_, lowered);
  const auto gone = gone_.find(dims);
  const bool is_first = gone_.empty() && steps_.empty();
  const Reason reason = gone != gone_.end() ? gone->second : is_first ? Reason::kFirst : Reason::kShapes;
  ++counters().compiled_for[static_cast<size_t>(reason)];
  steps_.push_front(step);
  if (steps_.size() > kMostSteps) {
    if (gone_.size() >= kMostRemembered) gone_.clear();
    gone_.insert_or_assign(dims_of(steps_.back()->feed_shapes()), Reason::kEvicted);
    steps_.pop_back();
  }
  return step;
}

void Executable::drop_steps() {
  for (const auto& step : steps_) gone_.insert_or_assign(dims_of(step->feed_shapes()), Reason::kRenewed);
  steps_.clear();
  lowered_.clear();
}

std::shared_ptr<Compiled> Executable::find(const Shapes& shapes) {
  const Entry entry;
  std::lock_guard lock(graph_->impl().busy);
  return found(shapes);
}

std::shared_ptr<Compiled> Executable::specialize(const Shapes& shapes) {
  const Entry entry;
  std::lock_guard lock(graph_->impl().busy);
  return compiled(shapes);
}

const std::shared_ptr<Compiled>& Executable::next(const std::shared_ptr<Compiled>& step) {
  if (!step->is_current()) {
    const std::shared_ptr<Compiled> made = compiled(step->feed_shapes());
    return next(*std::find(steps_.begin(), steps_.end(), made));
  }
  // Only the shapes of the last run have arrays.
  if (latest_.owner_before(step) || step.owner_before(latest_)) {
    if (const auto latest = latest_.lock()) latest->forget_arrays();
    latest_ = step;
  }
  return step;
}

void Executable::run(const std::shared_ptr<Compiled>& step, const FeedBytes* feeds, void* const* results) {
  const Entry entry;
  std::lock_guard lock(graph_->impl().busy);
  next(step)->run(feeds, results);
}

std::unique_ptr<Submission> Executable::submit(const std::shared_ptr<Compiled>& step, const FeedBytes* feeds) {
  const Entry entry;
  std::lock_guard lock(graph_->impl().busy);
  const std::shared_ptr<Compiled>& now = next(step);
  return std::make_unique<Submission>(graph_, now, now->start(feeds));
}

Submission::Submission(std::shared_ptr<Graph> graph, std::shared_ptr<Compiled> step, std::shared_ptr<Run> run)
    : graph_(std::move(graph)), step_(std::move(step)), run_(std::move(run)) {}

Submission::~Submission() {
  // Where another thread has the graph the arrays go instead.
  const std::unique_lock lock(graph_->impl().busy, std::try_to_lock);
  if (lock && run_->has_landed() && run_->failure().empty()) step_->reuse(std::move(run_));
}

bool Submission::is_over() const { return run_->is_over(); }

void Submission::wait() const {
  const Entry entry;
  run_->wait();
}

void Submission::read(void* const* results) const {
  wait();
  const Entry entry;
  std::lock_guard lock(graph_->impl().busy);
  step_->read(*run_, results);
}

std::optional<std::vector<KernelTime>> Executable::profile(const std::shared_ptr<Compiled>& step,
                                                           const FeedBytes* feeds, void* const* results, int runs,
                                                           const std::function<void()>& between) {
  const auto set = [&](bool on) {
    const Entry entry;
    std::lock_guard lock(graph_->impl().busy);
    return step->set_profiling(on);
  };
  if (!set(true)) return std::nullopt;
  // Ends the profiling also where a run fails.
  const struct End {
    const std::function<bool(bool)> set;
    ~End() { set(false); }
  } end{set};
  for (int i = 0; i < runs; ++i) {
    between();
    run(step, feeds, results);
  }
  const Entry entry;
  std::lock_guard lock(graph_->impl().busy);
  return step->times();
}

}  // namespace alloy::engine
