#import "engine/graph_impl.h"

#include "engine/error.h"
#include "engine/interruption.h"

namespace alloy::engine {

void Graph::Impl::begin_framework() {
  auto made = std::make_shared<Framework>();
  made->graph = Ref<MPSGraph*>::adopt([[MPSGraph alloc] init]);
  framework = std::move(made);
}

std::unique_lock<std::timed_mutex> Graph::Impl::lock() {
  std::unique_lock lock(busy, std::try_to_lock);
  while (!lock && !lock.try_lock_for(kAskInterval)) ask_for_interruption();
  return lock;
}

namespace {

std::string before_this_one(const std::string& failure) { return "A step before this one failed: " + failure; }

// The reason why a run that computes a feed of this one failed, or empty.
std::string failure_of_producers(const Run& run) {
  for (const Ordering::Producer& producer : run.producers()) {
    if (const auto graph = producer.graph.lock()) graph->impl().land(*producer.run);
    else producer.run->wait();
    const std::string& failure = producer.run->failure();
    if (!failure.empty()) return "The step whose result it was fed failed: " + failure;
  }
  return {};
}

}  // namespace

void Graph::Impl::wait_for(const Run& run) {
  run.wait([this] {
    std::unique_lock lock(landing);
    const auto all = flying;
    lock.unlock();
    for (const auto& one : all) one->interrupt();
  });
}

bool Graph::Impl::land_oldest() {
  if (in_flight == 0) return false;
  std::shared_ptr<Run> oldest;
  {
    std::lock_guard lock(landing);
    if (flying.empty()) return false;
    oldest = flying.front();
  }
  wait_for(*oldest);
  const std::string fed = failure_of_producers(*oldest);
  std::lock_guard lock(landing);
  if (flying.empty() || flying.front() != oldest) return true;  // another thread has landed it
  flying.pop_front();
  in_flight = flying.size();
  if (!fed.empty()) oldest->fail_behind(fed);
  oldest->land();
  if (oldest->failure().empty()) return true;
  const bool is_told = oldest->is_told();
  for (const auto& behind : flying) behind->fail_behind(before_this_one(oldest->failure()), is_told);
  if (is_told) return true;
  untold = oldest->failure();
  is_sound = false;
  return true;
}

void Graph::Impl::land_all() {
  while (land_oldest()) {
  }
}

void Graph::Impl::land(const Run& run) {
  while (!run.has_landed() && land_oldest()) {
  }
}

void Graph::Impl::land_behind(Run& run) {
  land_all();
  run.wait();
  if (!is_sound) {
    std::lock_guard lock(landing);
    if (!untold.empty()) run.fail_behind(before_this_one(untold));
  }
  run.land();
}

void Graph::Impl::require_sound() {
  if (is_sound) return;
  std::unique_lock lock(landing);
  const std::string failure = std::exchange(untold, {});
  is_sound = true;
  lock.unlock();
  if (!failure.empty()) throw DeviceError("[step] " + before_this_one(failure));
}

void Graph::Impl::forget_failure() {
  std::lock_guard lock(landing);
  untold.clear();
  is_sound = true;
}

// Lets one command on the graph's own queue signal the end of all submissions on it that have no signal yet.
void Graph::Impl::mark() {
  if (timeline.get() == nil) timeline = Ref<id<MTLSharedEvent>>::adopt([device.get() newSharedEvent]);
  if (marked < started && flying.empty()) {
    [timeline.get() setSignaledValue:started];
  } else if (marked < started) {
    id<MTLCommandBuffer> buffer = [queue.get() commandBuffer];
    [buffer encodeSignalEvent:timeline.get() value:started];
    [buffer commit];
  }
  marked = started;
}

Ordering Graph::Impl::in_turn(Ordering all) {
  const bool is_plain = all.is_plain();
  if (all.queue.get() == nil) all.queue = queue;
  std::lock_guard lock(landing);
  const bool moves = !flying.empty() && flying.back()->queue.get() != all.queue.get();
  if (is_plain && !moves) return all;
  mark();
  if (moves) all.waits.emplace_back(timeline, started);
  all.signals.emplace_back(timeline, started + 1);
  return all;
}

void Graph::Impl::note_start(const std::shared_ptr<Run>& run, const Ref<id<MTLCommandQueue>>& on) {
  std::lock_guard lock(landing);
  run->number = ++started;
  run->queue = on;
  if (run->is_apart) marked = started;
  flying.push_back(run);
  in_flight = flying.size();
}

void Graph::Impl::put_behind(const Run& run, Ordering& ordering, const Ref<id<MTLCommandQueue>>& own) {
  std::lock_guard lock(landing);
  const auto& on = ordering.queue.get() == nil ? own : ordering.queue;
  if (run.is_over() || run.queue.get() == on.get()) return;
  if (marked < run.number) mark();
  ordering.waits.emplace_back(timeline, run.number);
}

Buffers& Graph::Impl::buffers_of(int64_t slot) {
  if (const auto known = buffers.find(slot); known != buffers.end()) return known->second;
  std::unique_lock lock(beginning);
  const ir::LiteralRef contents = initial.at(slot);
  lock.unlock();
  Buffers made = Buffers::make(device.get(), *contents);
  lock.lock();
  initial.erase(slot);
  return buffers.emplace(slot, std::move(made)).first->second;
}

}  // namespace alloy::engine
