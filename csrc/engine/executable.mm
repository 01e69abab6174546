#include "engine/executable.h"

#include <algorithm>
#include <functional>

#include "engine/computable.h"
#import "engine/graph_impl.h"

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
    for (MPSGraphTensor* tensor in order) {
      const auto i = static_cast<size_t>(std::find(tensors.begin(), tensors.end(), tensor) - tensors.begin());
      const NSUInteger at = [data.get() count];
      [data.get() addObject:[NSNull null]];
      if (i < others) place(i, at);
      else variables.emplace_back(at, buffers[i - others]);
    }
  }
  void set(NSUInteger at, MPSGraphTensorData* object) const { [data.get() replaceObjectAtIndex:at withObject:object]; }
};

}  // namespace

struct Compiled::Impl {
  Graph::Impl& graph;
  Ref<MPSGraphExecutable*> executable = {};
  Side in = {}, out = {};
  std::vector<std::pair<size_t, Feed>> feeds = {};  // with their positions in what run is given
  std::vector<Array> results = {};                  // in our order
};

Compiled::Compiled(Graph& graph, const std::vector<ir::Feed>& feeds, const std::vector<ir::Value>& fetches, const std::vector<ir::Op*>& updates) {
  ir::Specialized special = ir::specialize(feeds, fetches, updates);
  for (const auto& op : special.graph->body().ops) {
    require_computable(*op);
    for (const ir::Type& type : op->results) {
      if (!type.is_static()) op->fail("The shape " + to_string(type.shape) + " is not known");
    }
  }
  for (const ir::Value& v : special.graph->body().results) result_types_.push_back(v.type());
  std::vector<int64_t> written;
  if (graph.storage() == Storage::kBuffers) written = remove_effects(special);
  on_device([&] {
    Graph::Impl& own = graph.impl();
    MPSGraph* framework = own.graph.get();
    Lowering lowering(framework, graph.storage(), own.variables);
    for (const auto& op : special.graph->body().ops) {
      if (op->code != ir::OpCode::variable) continue;
      lowering.variable(*op);
      if (graph.storage() == Storage::kBuffers) own.buffers_of(*op);
      // The device has the variable now: its initial value makes room for the next one's memory.
      op->attributes.set(ir::Attr::kValue, ir::Literal::elsewhere(op->results[0]));
      graph.forget_initial(op->attributes.integer(ir::Attr::kSlot));
    }
    lowering.lower(*special.graph);
    impl_.reset(new Impl{own});
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
        reads.push_back(&own.buffers_of(*op));
      }
    }
    NSMutableArray* targets = [NSMutableArray array];
    for (const ir::Value& value : special.graph->body().results) {
      // A copy of its own for every fetch: the framework need not accept a placeholder, a variable or one tensor twice as a target.
      MPSGraphTensor* tensor = [framework identityWithTensor:lowering.tensor(value) name:nil];
      [targets addObject:tensor];
      fetched.push_back(tensor);
    }
    for (const ir::Type& type : result_types_) impl_->results.emplace_back(type);
    for (int64_t slot : written) {
      writes.push_back(&own.buffers.at(slot));
      writes.back()->reserve_next();
    }
    NSMutableArray* operations = [NSMutableArray array];
    for (const ir::Op* op : special.graph->body().effects) [operations addObject:lowering.operation(op)];
    MPSGraphExecutable* executable = [framework compileWithDevice:graph_device()
                                                            feeds:types
                                                    targetTensors:targets
                                                 targetOperations:operations
                                            compilationDescriptor:nil];
    impl_->executable = Ref<MPSGraphExecutable*>::retain(executable);
    impl_->in.line_up([executable feedTensors], fed, reads,
                      [&](size_t i, NSUInteger at) { impl_->feeds.emplace_back(i, Feed(special.feeds[i].type(), at)); });
    impl_->out.line_up([executable targetTensors], fetched, writes,
                       [&](size_t i, NSUInteger at) { impl_->out.set(at, impl_->results[i].data()); });
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
    for (const Array& array : impl_->results) results += array.bytes();
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

void Compiled::run(const void* const* feeds, void* const* results) {
  std::lock_guard lock(impl_->graph.running);
  on_device([&] {
    Impl& own = *impl_;
    const struct End {
      Impl& of;
      ~End() {
        for (auto& [i, feed] : of.feeds) feed.leave(of.in.data.get());
      }
    } end{own};
    for (auto& [i, feed] : own.feeds) feed.enter(own.in.data.get(), feeds[i]);
    for (const auto& [at, variable] : own.in.variables) own.in.set(at, variable->value().data());
    for (const auto& [at, variable] : own.out.variables) own.out.set(at, variable->next().data());
    [own.executable.get() runWithMTLCommandQueue:own.graph.queue.get()
                                     inputsArray:own.in.data.get()
                                    resultsArray:own.out.data.get()
                             executionDescriptor:nil];
    ++counters().dispatches;
    for (const auto& [at, variable] : own.out.variables) variable->swap();
    for (size_t i = 0; i < own.results.size(); ++i) own.results[i].read(results[i]);
  });
}

std::optional<std::vector<KernelTime>> Compiled::profile(const void* const* feeds, void* const* results, int runs) {
  std::optional<std::vector<KernelTime>> out;
  NSObject* executable = impl_->executable.get();
  if (![executable respondsToSelector:@selector(alloySetProfiling:)]) return out;
  id<AlloyExecutableDiagnostics> profiled = static_cast<id<AlloyExecutableDiagnostics>>(executable);
  // Ends the profiling also where a run fails.
  struct Profiling {
    id<AlloyExecutableDiagnostics> executable;
    void set(BOOL on) const {
      on_device([&] { [executable alloySetProfiling:on]; });
    }
    ~Profiling() { set(NO); }
  } profiling{profiled};
  profiling.set(YES);
  for (int i = 0; i < runs; ++i) run(feeds, results);
  on_device([&] {
    out.emplace();
    for (NSDictionary* kernel in [profiled alloyProfile]) {
      out->push_back({text(kernel, @"name"), text(kernel, @"kind"), shape(kernel), number(kernel, @"flops"), number(kernel, @"bytes"),
                      seconds(kernel, @"total"), seconds(kernel, @"begin"), seconds(kernel, @"end")});
    }
  });
  return out;
}

Executable::Executable(std::shared_ptr<Graph> graph, std::vector<ir::Value> feeds, std::vector<ir::Value> fetches, std::vector<ir::Op*> updates)
    : graph_(std::move(graph)), feeds_(std::move(feeds)), fetches_(std::move(fetches)), updates_(std::move(updates)) {}

Compiled& Executable::specialize(const std::vector<ir::Shape>& shapes) {
  std::vector<ir::Dims> key;
  for (const ir::Shape& shape : shapes) key.push_back(shape.dims());
  std::lock_guard lock(graph_->impl().compiling);
  auto& compiled = compiled_[key];
  if (!compiled) {
    std::vector<ir::Feed> feeds;
    for (size_t i = 0; i < shapes.size(); ++i) feeds.push_back({feeds_[i], {feeds_[i].dtype(), shapes[i]}});
    compiled = std::make_unique<Compiled>(*graph_, feeds, fetches_, updates_);
  }
  return *compiled;
}

}  // namespace alloy::engine
