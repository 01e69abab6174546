#include "engine/executable.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "engine/computable.h"
#include "engine/error.h"
#import "engine/graph_impl.h"
#include "engine/process.h"

namespace alloy::engine {
namespace {

// Turns the effects of a specialised graph into further results. Returns the slots of the variables whose new values those are.
std::vector<int64_t> remove_effects(ir::Specialized& special) {
  // The feeds ride along as results, which keeps their placeholders.
  auto& given = special.graph->body().results;
  given.insert(given.begin(), special.feeds.begin(), special.feeds.end());
  ir::Pure pure = ir::remove_effects(*special.graph);
  auto& results = pure.graph->body().results;
  const auto end_of_feeds = results.begin() + static_cast<long>(special.feeds.size());
  special.feeds.assign(results.begin(), end_of_feeds);
  results.erase(results.begin(), end_of_feeds);
  special.graph = std::move(pure.graph);
  return pure.slots;
}

// One side of a run, inputs or outputs.
struct Side {
  Ref<NSMutableArray*> data = Ref<NSMutableArray*>::retain([NSMutableArray array]);  // in the order of the framework's executable
  std::vector<std::pair<NSUInteger, Buffers*>> variables = {};                       // whose arrays take turns, with their positions in data

  // Makes room for the tensors in `order`, the executable's. `tensors` are ours: behind others, for which place(i, position) is called, those
  // of `buffers`.
  void line_up(NSArray<MPSGraphTensor*>* order, const std::vector<MPSGraphTensor*>& tensors, const std::vector<Buffers*>& buffers,
               const std::function<void(size_t, NSUInteger)>& place) {
    const size_t others = tensors.size() - buffers.size();
    std::unordered_map<MPSGraphTensor*, size_t> positions;
    for (size_t i = 0; i < tensors.size(); ++i) positions.emplace(tensors[i], i);
    for (MPSGraphTensor* tensor in order) {
      const auto known = positions.find(tensor);
      if (known == positions.end()) throw DeviceError("[compile] The framework's executable has a tensor that it was not given.");
      const size_t i = known->second;
      const NSUInteger at = [data.get() count];
      [data.get() addObject:[NSNull null]];
      if (i < others) place(i, at);
      else variables.emplace_back(at, buffers[i - others]);
    }
    if ([data.get() count] != tensors.size()) throw DeviceError("[compile] The framework's executable lacks a tensor that it was given.");
  }
  void set(NSUInteger at, MPSGraphTensorData* object) const { [data.get() replaceObjectAtIndex:at withObject:object]; }
};

// What a run writes that no variable takes.
struct Result {
  ir::Type type;
  size_t index;                     // in what run is given
  NSUInteger at;                    // in the outputs
  std::optional<Array> array = {};  // made when first needed
};

}  // namespace

struct Compiled::Impl {
  Graph::Impl& graph;
  std::shared_ptr<Framework> framework;
  size_t ops;  // of the framework's graph that it needs
  Ref<MPSGraphExecutable*> executable = {};
  Side in = {}, out = {};
  std::vector<std::pair<size_t, Feed>> feeds = {};  // with their positions in what run is given
  std::vector<Result> results = {};

  Impl(Graph::Impl& of, size_t op_count) : graph(of), framework(of.framework), ops(op_count) {
    framework->made += ops;
    framework->needed += ops;
    ++counters().live_steps;
  }
  ~Impl() {
    framework->needed -= ops;
    --counters().live_steps;
  }
};

Compiled::Compiled(Graph& graph, const std::vector<ir::Feed>& feeds, const std::vector<ir::Value>& fetches, const std::vector<ir::Op*>& updates) {
  ir::Specialized special;
  {
    const auto lock = graph.lock_building();
    special = ir::specialize(feeds, fetches, updates);
  }
  for (const auto& op : special.graph->body().ops) {
    require_computable(*op);
    for (const ir::Type& type : op->results) {
      if (!type.is_static()) op->fail("The shape " + to_string(type.shape) + " is not known");
    }
  }
  for (const ir::Feed& feed : feeds) feed_shapes_.push_back(feed.type.shape);
  for (const ir::Value& v : special.graph->body().results) result_types_.push_back(v.type());
  std::vector<int64_t> written;
  if (graph.storage() == Storage::kBuffers) written = remove_effects(special);
  on_device([&] {
    Graph::Impl& own = graph.impl();
    impl_ = std::make_unique<Impl>(own, special.graph->body().ops.size());
    MPSGraph* framework = impl_->framework->graph.get();
    Lowering lowering(graph);
    for (const auto& op : special.graph->body().ops) {
      // One after the other: what a variable begins with makes room for the next one's memory.
      if (op->code == ir::OpCode::variable) lowering.variable(*op);
    }
    lowering.lower(*special.graph);
    std::vector<MPSGraphTensor*> fed, fetched;
    std::vector<Buffers*> reads, writes;
    NSMutableDictionary* types = [NSMutableDictionary dictionary];
    const auto feed = [&](ir::Value value) {
      const ir::Type& type = value.type();
      MPSGraphTensor* tensor = lowering.tensor(value);
      const auto shaped = Ref<MPSGraphShapedType*>::adopt([[MPSGraphShapedType alloc] initWithShape:mps_shape(type.shape) dataType:mps_type(type.dtype)]);
      [types setObject:shaped.get() forKey:tensor];
      fed.push_back(tensor);
    };
    for (const ir::Value& value : special.feeds) feed(value);
    if (graph.storage() == Storage::kBuffers) {
      for (const auto& op : special.graph->body().ops) {
        if (op->code != ir::OpCode::variable) continue;
        feed({op.get(), 0});
        reads.push_back(&own.buffers_of(op->attributes.integer(ir::Attr::kSlot)));
      }
    }
    NSMutableArray* targets = [NSMutableArray array];
    for (const ir::Value& value : special.graph->body().results) {
      // A copy of its own for every fetch: the framework need not accept a placeholder, a variable or one tensor twice as a target.
      MPSGraphTensor* tensor = [framework identityWithTensor:lowering.tensor(value) name:nil];
      [targets addObject:tensor];
      fetched.push_back(tensor);
    }
    for (int64_t slot : written) writes.push_back(&own.buffers_of(slot));
    for (Buffers* buffers : writes) buffers->reserve_next();
    NSMutableArray* operations = [NSMutableArray array];
    for (const ir::Op* op : special.graph->body().effects) [operations addObject:lowering.operation(op)];
    MPSGraphExecutable* executable = [framework compileWithDevice:graph_device()
                                                            feeds:types
                                                    targetTensors:targets
                                                 targetOperations:operations
                                            compilationDescriptor:nil];
    impl_->executable = Ref<MPSGraphExecutable*>::retain(executable);
    impl_->in.line_up([executable feedTensors], fed, reads, [&](size_t i, NSUInteger at) {
      Feed made = Feed::make(special.feeds[i].type(), at);
      impl_->feeds.emplace_back(i, std::move(made));
    });
    impl_->out.line_up([executable targetTensors], fetched, writes,
                       [&](size_t i, NSUInteger at) { impl_->results.push_back({result_types_[i], i, at}); });
  });
  ++counters().compilations;
}

Compiled::~Compiled() = default;

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
    for (const auto& [i, feed] : impl_->feeds) feeds += feed.bytes();
    for (const ir::Type& type : result_types_) results += type.byte_count();
    // Variables in buffers are fed and fetched as far as the framework knows.
    const uint64_t variables = number(plan, @"variables") + (number(plan, @"feeds") - feeds) + (number(plan, @"results") - results);
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

void Compiled::run(const void* const* feeds, void* const* results) {
  Entry::note_run();
  on_device([&] {
    Impl& own = *impl_;
    const struct End {
      Impl& of;
      ~End() {
        for (auto& [i, feed] : of.feeds) feed.leave(of.in.data.get());
      }
    } end{own};
    for (Result& result : own.results) {
      if (result.array) continue;
      result.array = Array::make(result.type);
      own.out.set(result.at, result.array->data());
    }
    for (auto& [i, feed] : own.feeds) feed.enter(own.in.data.get(), feeds[i]);
    for (const auto& [at, variable] : own.in.variables) own.in.set(at, variable->value().data());
    for (const auto& [at, variable] : own.out.variables) own.out.set(at, variable->next().data());
    [own.executable.get() runWithMTLCommandQueue:own.graph.queue.get()
                                     inputsArray:own.in.data.get()
                                    resultsArray:own.out.data.get()
                             executionDescriptor:nil];
    ++counters().dispatches;
    for (const auto& [at, variable] : own.out.variables) variable->swap();
    for (const Result& result : own.results) result.array->read(results[result.index]);
  });
}

void Compiled::forget_arrays() {
  on_device([&] {
    for (auto& [i, feed] : impl_->feeds) feed.forget(impl_->in.data.get());
    for (Result& result : impl_->results) {
      result.array.reset();
      [impl_->out.data.get() replaceObjectAtIndex:result.at withObject:[NSNull null]];
    }
  });
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
      out.push_back({text(kernel, @"name"), text(kernel, @"kind"), shape(kernel), number(kernel, @"flops"), number(kernel, @"bytes"),
                     seconds(kernel, @"total"), seconds(kernel, @"begin"), seconds(kernel, @"end")});
    }
  });
  return out;
}

// ---- executables ----

Executable::Executable(std::shared_ptr<Graph> graph, std::vector<ir::Value> feeds, std::vector<ir::Value> fetches, std::vector<ir::Op*> updates)
    : graph_(std::move(graph)), feeds_(std::move(feeds)), fetches_(std::move(fetches)), updates_(std::move(updates)) {}

namespace {

// Of one executable. What is compiled takes some kilobytes to megabytes, without the memory of a run, which all of them share.
constexpr size_t kMostSteps = 32;

std::vector<ir::Dims> dims_of(const std::vector<ir::Shape>& shapes) {
  std::vector<ir::Dims> dims;
  for (const ir::Shape& shape : shapes) dims.push_back(shape.dims());
  return dims;
}

}  // namespace

std::shared_ptr<Compiled> Executable::found(const Shapes& shapes) {
  const auto known = std::find_if(steps_.begin(), steps_.end(), [&](const auto& step) { return step->feed_shapes() == shapes; });
  if (known == steps_.end()) return nullptr;
  steps_.splice(steps_.begin(), steps_, known);
  return steps_.front();
}

std::shared_ptr<Compiled> Executable::compiled(const Shapes& shapes) {
  if (auto step = found(shapes)) return step;
  graph_->renew_if_wasteful();
  std::vector<ir::Feed> feeds;
  for (size_t i = 0; i < shapes.size(); ++i) feeds.push_back({feeds_[i], {feeds_[i].dtype(), shapes[i]}});
  auto step = std::make_shared<Compiled>(*graph_, feeds, fetches_, updates_);
  const auto gone = gone_.find(dims_of(shapes));
  const bool is_first = gone_.empty() && steps_.empty();
  const Reason reason = gone != gone_.end() ? gone->second : is_first ? Reason::kFirst : Reason::kShapes;
  ++counters().compiled_for[static_cast<size_t>(reason)];
  steps_.push_front(step);
  if (steps_.size() > kMostSteps) {
    constexpr size_t kMostRemembered = 4096;
    if (gone_.size() >= kMostRemembered) gone_.clear();
    gone_.insert_or_assign(dims_of(steps_.back()->feed_shapes()), Reason::kEvicted);
    steps_.pop_back();
  }
  return step;
}

void Executable::drop_steps() {
  for (const auto& step : steps_) gone_.insert_or_assign(dims_of(step->feed_shapes()), Reason::kRenewed);
  steps_.clear();
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

void Executable::run(const std::shared_ptr<Compiled>& step, const void* const* feeds, void* const* results) {
  const Entry entry;
  std::lock_guard lock(graph_->impl().busy);
  run_now(step, feeds, results);
}

void Executable::run_now(std::shared_ptr<Compiled> step, const void* const* feeds, void* const* results) {
  if (!step->is_current()) step = compiled(step->feed_shapes());
  // Only the shapes of the last run have arrays.
  if (const auto latest = latest_.lock(); latest != step) {
    if (latest) latest->forget_arrays();
    latest_ = step;
  }
  step->run(feeds, results);
}

std::optional<std::vector<KernelTime>> Executable::profile(const std::shared_ptr<Compiled>& step, const void* const* feeds, void* const* results,
                                                           int runs, const std::function<void()>& between) {
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
