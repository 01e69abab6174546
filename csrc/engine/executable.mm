#include "engine/executable.h"

#include <algorithm>

#import "engine/graph_impl.h"
#import "engine/lowering/lowered.h"
#include "engine/process.h"
#include "ir/rewrite.h"

namespace alloy::engine {

Executable::Executable(std::shared_ptr<Graph> graph, std::vector<ir::Value> feeds, std::vector<ir::Value> fetches,
                       std::vector<ir::Op*> updates, std::optional<int64_t> steps)
    : graph_(std::move(graph)),
      feeds_(std::move(feeds)),
      fetches_(std::move(fetches)),
      updates_(std::move(updates)),
      together_(steps) {}

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

ir::Shape Executable::of_one_step(const ir::Value& feed, const ir::Shape& shape) const {
  if (!together_) return shape;
  if (shape.rank() == 0 || shape[0] != *together_) {
    feed.op->fail("Expected an entry for each of " + std::to_string(*together_) +
                  " steps along the first axis, got shape " + to_string(shape));
  }
  return ir::Shape(ir::Dims(shape.dims().begin() + 1, shape.dims().end()));
}

std::shared_ptr<Compiled> Executable::compiled(const Shapes& shapes) {
  if (auto step = found(shapes)) return step;
  graph_->renew_if_wasteful();
  const std::vector<ir::Dims> dims = dims_of(shapes);
  if (lowered_.size() >= kMostRemembered) lowered_.clear();
  std::shared_ptr<const Lowered>& lowered = lowered_[dims];
  if (!lowered) {
    std::vector<ir::Feed> feeds;
    for (size_t i = 0; i < shapes.size(); ++i)
      feeds.push_back({feeds_[i], {feeds_[i].dtype(), of_one_step(feeds_[i], shapes[i])}});
    lowered = Lowered::make(*graph_, feeds, fetches_, updates_, together_);
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
