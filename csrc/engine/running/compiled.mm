#include "engine/running/compiled.h"

#include "engine/error.h"
#import "engine/graph_impl.h"
#import "engine/lowering/lowered.h"
#import "engine/package/package_file.h"
#include "engine/process.h"
#import "engine/running/host_calls.h"
#import "engine/running/segment.h"

namespace alloy::engine {
namespace {

// Runs that are not in use now, with their arrays. Every member may be called from every thread.
class SpareRuns : public std::enable_shared_from_this<SpareRuns> {
 public:
  explicit SpareRuns(std::shared_ptr<const Positions> positions) : positions_(std::move(positions)) {}

  // A spare run or a new one, which is spare again when nobody uses it any more.
  std::shared_ptr<Run> take() {
    std::unique_ptr<Run> run;
    {
      const std::lock_guard lock(mutex_);
      if (!runs_.empty()) {
        run = std::move(runs_.back());
        runs_.pop_back();
      }
    }
    if (!run) run = Run::make(positions_);
    return {run.release(), [spare = weak_from_this()](Run* used) {
              std::unique_ptr<Run> own(used);
              if (const auto alive = spare.lock()) alive->give(own);
            }};
  }
  void clear() {
    std::vector<std::unique_ptr<Run>> dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(runs_);
  }

 private:
  void give(std::unique_ptr<Run>& run) {
    constexpr size_t kMost = 4;
    const std::unique_lock lock(mutex_, std::try_to_lock);  // in a forked child nobody may be there to unlock it
    if (lock && runs_.size() < kMost && run->has_landed()) runs_.push_back(std::move(run));
  }

  const std::shared_ptr<const Positions> positions_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Run>> runs_;
};

}  // namespace

struct Compiled::Impl {
  Graph::Impl& graph;
  std::shared_ptr<Framework> framework;
  size_t ops;  // number of ops in the framework's graph that the step needs
  bool keeps_variables, assigns;
  std::unique_ptr<HostCalls> host_calls = {};  // null unless the step has ops on the host
  Ref<MPSGraphExecutable*> executable = {};
  std::shared_ptr<const Positions> positions = {};
  std::shared_ptr<SpareRuns> runs = {};

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

  std::shared_ptr<Run> run_now(const FeedBytes* feeds) {
    // Waits first: the buffers of variables swap when a run is over, and the next run must not write what this one
    // reads. Runs on other queues do not know of this one, runs that wait for events may wait forever, and the
    // framework's own waits cannot be interrupted.
    graph.land_all();
    graph.require_sound();
    if (host_calls) run_host_calls(feeds);
    std::shared_ptr<Run> run = runs->take();
    if (host_calls) run->pass(host_calls->passed());
    run->start(executable.get(), graph.queue.get(), feeds, true);
    ++counters().dispatches;
    // If an interruption ends the wait, the run counts as one more in flight.
    struct Started {
      Graph::Impl& graph;
      const std::shared_ptr<Run>& run;
      ~Started() {
        if (!run->has_landed()) graph.note_start(run, graph.queue);
      }
    } started{graph, run};
    graph.land_behind(*run);
    return run;
  }

  std::shared_ptr<Run> start(const FeedBytes* feeds, Ordering asked) {
    if (keeps_variables) graph.land_all();
    while (asked.takes_turns && graph.in_flight >= graph.most_in_flight) graph.land_oldest();
    graph.require_sound();
    if (host_calls) run_host_calls(feeds);
    const Ordering ordering = graph.in_turn(std::move(asked));
    std::shared_ptr<Run> run = runs->take();
    if (host_calls) run->pass(host_calls->passed());
    run->is_apart = !ordering.signals.empty();
    run->start(executable.get(), ordering.queue.get(), feeds, false, &ordering);
    ++counters().dispatches;
    graph.note_start(run, ordering.queue);
    return run;
  }

  // Runs in this call, even if the caller does not wait for the step. Runs in flight may still write variables that it
  // reads, or read values that it passes.
  void run_host_calls(const FeedBytes* feeds) {
    graph.land_all();
    graph.require_sound();
    host_calls->run(graph.queue.get(), feeds);
  }

  void read(const Run& run, void* const* results) {
    graph.land(run);
    if (run.failure().empty()) return run.read(results);
    graph.forget_failure();
    if (run.lacks_memory()) throw OutOfMemory(run.failure());
    const char* left = !assigns || run.is_told() ? ""
                       : keeps_variables         ? " No variable has changed."
                                                 : " Variables that it assigns may be partly updated.";
    throw DeviceError("[step] " + run.failure() + left);
  }
};

Compiled::Compiled(Graph& graph, std::shared_ptr<const Lowered> lowered) : lowered_(std::move(lowered)) {
  on_device([&] {
    graph.impl().land_all();  // no run may be in progress while the framework compiles
    impl_ = std::make_unique<Impl>(graph, *lowered_);
    if (lowered_->host_calls) impl_->host_calls = std::make_unique<HostCalls>(graph.impl().device, *lowered_);
    Segment segment = Segment::compile(graph.impl().device, *lowered_);
    impl_->executable = std::move(segment.executable);
    impl_->positions = segment.positions;
    impl_->runs = std::make_shared<SpareRuns>(std::move(segment.positions));
  });
  ++counters().compilations;
}

Compiled::~Compiled() {
  on_device([&] { impl_.reset(); });
}

const std::vector<ir::Shape>& Compiled::feed_shapes() const { return lowered_->feed_shapes; }
const std::vector<ir::Type>& Compiled::result_types() const { return lowered_->result_types; }

bool Compiled::calls_host() const { return impl_->host_calls != nullptr; }

std::optional<MemoryPlan> Compiled::memory_plan() const {
  std::optional<MemoryPlan> out;
  if (impl_->host_calls) return out;  // each part has its own plan
  on_device([&] { out = plan_of(impl_->executable.get(), *impl_->positions, result_types()); });
  return out;
}

bool Compiled::is_current() const { return impl_->framework == impl_->graph.framework; }

void Compiled::run(const FeedBytes* feeds, void* const* results) {
  Entry::note_run();
  on_device([&] {
    // A run that may last is on another thread, so that this one can be interrupted.
    const std::shared_ptr<Run> run = lowered_->may_last ? impl_->start(feeds, {}) : impl_->run_now(feeds);
    impl_->read(*run, results);
  });
}

std::shared_ptr<Run> Compiled::start(const FeedBytes* feeds, Ordering ordering) {
  Entry::note_run();
  std::shared_ptr<Run> run;
  on_device([&] { run = impl_->start(feeds, std::move(ordering)); });
  return run;
}

void Compiled::read(const Run& run, void* const* results) {
  on_device([&] { impl_->read(run, results); });
}

void Compiled::forget_arrays() {
  on_device([&] {
    impl_->runs->clear();
    if (impl_->host_calls) impl_->host_calls->forget_arrays();
  });
}

void Compiled::write(const std::string& path) const {
  on_device([&] { write_file(impl_->executable.get(), path, ports_of(impl_->executable.get(), *lowered_)); });
}

bool Compiled::set_profiling(bool on) {
  bool done = false;
  on_device([&] {
    done = engine::set_profiling(impl_->executable.get(), on);
    if (done && impl_->host_calls) impl_->host_calls->set_profiling(on);
  });
  return done;
}

std::vector<KernelTime> Compiled::times() const {
  std::vector<KernelTime> out;
  on_device([&] {
    double begin = 0;
    if (impl_->host_calls) begin = impl_->host_calls->add_times(out);
    add_times(impl_->executable.get(), begin, out);
  });
  return out;
}

}  // namespace alloy::engine
