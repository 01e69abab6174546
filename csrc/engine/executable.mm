#include "engine/executable.h"

#include <algorithm>

#include "engine/caught.h"
#include "engine/error.h"
#import "engine/graph_impl.h"
#import "engine/lowering/lowered.h"
#include "engine/process.h"
#import "engine/queue_impl.h"
#include "ir/transform/rewrite.h"

namespace alloy::engine {

Executable::Executable(std::shared_ptr<Graph> graph, std::vector<ir::Value> feeds, std::vector<ir::Value> fetches,
                       std::vector<ir::Op*> updates, std::optional<int64_t> steps)
    : graph_(std::move(graph)),
      feeds_(std::move(feeds)),
      fetches_(std::move(fetches)),
      updates_(std::move(updates)),
      together_(steps) {}

namespace {

// Steps of one executable. A step takes some kilobytes to megabytes; the memory of a run is shared by all.
constexpr size_t kMostSteps = 32;
// Shapes with known nodes in the framework's graph, or with a known reason for being dropped.
constexpr size_t kMostRemembered = 4096;

std::vector<ir::Dims> dims_of(const std::vector<ir::Shape>& shapes) {
  std::vector<ir::Dims> dims;
  for (const ir::Shape& shape : shapes) dims.push_back(shape.dims());
  return dims;
}

}  // namespace

std::shared_ptr<Compiled> Executable::find(const Shapes& shapes) {
  std::lock_guard lock(choosing_);
  const auto known =
      std::find_if(steps_.begin(), steps_.end(), [&](const auto& step) { return step->feed_shapes() == shapes; });
  if (known == steps_.end()) return nullptr;
  steps_.splice(steps_.begin(), steps_, known);
  return steps_.front();
}

ir::Shape Executable::of_one_step(const ir::Value& feed, const ir::Shape& shape) const {
  if (!together_) return shape;
  if (shape.rank() == 0 || shape[0] != *together_) {
    feed.op->fail("Expected an entry for each of " + std::to_string(*together_) +
                  " steps along the first axis, got shape " + to_string(shape));
  }
  return ir::Shape(ir::Dims(shape.dims().begin() + 1, shape.dims().end()));
}

std::shared_ptr<Compiled> Executable::compiled(const Shapes& shapes) {
  if (auto step = find(shapes)) return step;
  graph_->renew_if_wasteful();
  const std::vector<ir::Dims> dims = dims_of(shapes);
  if (lowered_.size() >= kMostRemembered) lowered_.clear();
  std::shared_ptr<const Lowered>& lowered = lowered_[dims];
  if (!lowered) {
    std::vector<ir::Feed> feeds;
    for (size_t i = 0; i < shapes.size(); ++i)
      feeds.push_back({feeds_[i], {feeds_[i].dtype(), of_one_step(feeds_[i], shapes[i])}});
    for (const ir::Feed& feed : feeds) ir::require_fits(feed);
    with_fed_shapes(feeds, [&] { lowered = Lowered::make(*graph_, feeds, fetches_, updates_, together_); });
  }
  auto step = std::make_shared<Compiled>(*graph_, lowered);
  std::lock_guard choosing(choosing_);
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
  std::lock_guard lock(choosing_);
  for (const auto& step : steps_) gone_.insert_or_assign(dims_of(step->feed_shapes()), Reason::kRenewed);
  steps_.clear();
  lowered_.clear();
}

std::shared_ptr<Compiled> Executable::specialize(const Shapes& shapes) {
  const Entry entry;
  const auto lock = graph_->impl().lock();
  return compiled(shapes);
}

std::shared_ptr<Compiled> Executable::next(const std::shared_ptr<Compiled>& given) {
  const std::shared_ptr<Compiled> step = given->is_current() ? given : compiled(given->feed_shapes());
  // Only the step of the last run keeps arrays.
  if (latest_.owner_before(step) || step.owner_before(latest_)) {
    if (const auto latest = latest_.lock()) latest->forget_arrays();
    latest_ = step;
  }
  return step;
}

void Executable::write(const std::string& path, const Shapes& shapes) {
  std::vector<ir::Feed> feeds;
  for (size_t i = 0; i < feeds_.size(); ++i) {
    feeds.push_back({feeds_[i], shapes.empty() ? feeds_[i].type()
                                               : ir::Type{feeds_[i].dtype(), of_one_step(feeds_[i], shapes[i])}});
  }
  std::vector<int64_t> slots;
  {
    const auto building = graph_->lock_building();
    slots = ir::specialize(feeds, fetches_, updates_).slots;
  }
  // Compiles in a new framework graph, whose variables begin with the current values.
  Graph apart(VariableStorage::kVariable, graph_->device_name());
  graph_->copy_variables(slots, apart);
  const auto building = graph_->lock_building();
  const auto lowered = Lowered::make(apart, feeds, fetches_, updates_, together_, true);
  if (lowered->host_calls) {
    throw ir::Error(ir::Error::Kind::kValue,
                    "[export] The step has ops that run on the host, which a package cannot hold.");
  }
  Compiled(apart, lowered).write(path);
}

namespace {

void require_same(const Graph::Impl& graph, id<MTLDevice> device, const char* what) {
  id<MTLDevice> mine = graph.device.get();
  if (device == mine) return;
  std::string there, here;
  on_device([&] { there = [[device name] UTF8String], here = [[mine name] UTF8String]; });
  throw ir::Error(ir::Error::Kind::kValue,
                  std::string("[submit] The ") + what + " is on " + there + ", but the graph is on " + here + ".");
}

}  // namespace

void Executable::run(const std::shared_ptr<Compiled>& step, const FeedBytes* feeds, void* const* results) {
  const auto is_pending = [](const FeedBytes& feed) { return feed.pending != nullptr; };
  if (std::any_of(feeds, feeds + feeds_.size(), is_pending)) wait_for_pending(feeds);
  const Entry entry;
  const auto lock = graph_->impl().lock();
  next(step)->run(feeds, results);
}

namespace {

Ordering::Moments moments(const Order::Moments& given) {
  Ordering::Moments out;
  for (const auto& [event, value] : given) out.emplace_back(event->impl().event, value);
  return out;
}

}  // namespace

std::shared_ptr<Submission> Executable::submit(const std::shared_ptr<Compiled>& step, const FeedBytes* feeds,
                                               const Order& order) {
  if (step->calls_host()) {
    if (order.queue || !order.waits.empty() || !order.signals.empty()) {
      throw ir::Error(ir::Error::Kind::kValue,
                      "[submit] A step with ops on the host computes in the call, so that it takes no queue and no "
                      "events.");
    }
    wait_for_pending(feeds);
  }
  const Entry entry;
  Graph::Impl& graph = graph_->impl();
  Ordering ordering;
  ordering.takes_turns = order.takes_turns;
  if (order.queue) {
    ordering.queue = order.queue->impl().queue;
    require_same(graph, [ordering.queue.get() device], "queue");
  }
  ordering.waits = moments(order.waits);
  ordering.signals = moments(order.signals);
  for (const Pending* pending : pending_of(feeds)) {
    const Submission& from = *pending->submission;
    from.require_good();
    if (from.graph_ != graph_) {
      on_device([&] { from.graph_->impl().put_behind(*from.run_, ordering, graph.queue); });
    }
    ordering.producers.push_back({from.graph_, from.run_});
  }
  const auto lock = graph.lock();
  const std::shared_ptr<Compiled> now = next(step);
  return std::make_shared<Submission>(graph_, now, now->start(feeds, std::move(ordering)));
}

// The pending results among the feeds.
std::vector<const Pending*> Executable::pending_of(const FeedBytes* feeds) const {
  std::vector<const Pending*> found;
  for (size_t i = 0; i < feeds_.size(); ++i) {
    if (feeds[i].pending == nullptr) continue;
    found.push_back(feeds[i].pending);
    const Graph::Impl& from = feeds[i].pending->submission->graph_->impl();
    require_same(graph_->impl(), from.device.get(), "result that is fed");
  }
  return found;
}

void Executable::wait_for_pending(const FeedBytes* feeds) const {
  for (const Pending* pending : pending_of(feeds)) {
    pending->submission->wait();
    pending->submission->require_good();
  }
}

Submission::Submission(std::shared_ptr<Graph> graph, std::shared_ptr<Compiled> step, std::shared_ptr<Run> run)
    : graph_(std::move(graph)), step_(std::move(step)), run_(std::move(run)) {}

Submission::~Submission() {
  on_device([&] { run_.reset(); });
}

bool Submission::is_over() const { return run_->is_over(); }

void Submission::wait() const {
  const Entry entry;
  graph_->impl().wait_for(*run_);
}

void Submission::read(void* const* results) const {
  const Entry entry;
  step_->read(*run_, results);
}

void Submission::when_over(std::function<void()> tell) const {
  const Entry entry;
  run_->when_over(std::move(tell));
}

void Submission::require_good() const {
  if (!run_->has_landed() || run_->failure().empty()) return;
  throw DeviceError("[step] The step whose result it is fed failed: " + run_->failure());
}

std::optional<std::vector<KernelTime>> Executable::profile(const std::shared_ptr<Compiled>& step,
                                                           const FeedBytes* feeds, void* const* results, int runs,
                                                           const std::function<void()>& between) {
  const auto set = [&](bool on) {
    const Entry entry;
    const auto lock = graph_->impl().lock();
    return step->set_profiling(on);
  };
  if (!set(true)) return std::nullopt;
  // Ends profiling even if a run fails.
  const struct End {
    const std::function<bool(bool)> set;
    ~End() { set(false); }
  } end{set};
  for (int i = 0; i < runs; ++i) {
    between();
    run(step, feeds, results);
  }
  const Entry entry;
  const auto lock = graph_->impl().lock();
  return step->times();
}

}  // namespace alloy::engine
