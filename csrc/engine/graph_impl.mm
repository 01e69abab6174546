#import "engine/graph_impl.h"

#include "engine/error.h"

namespace alloy::engine {

void Graph::Impl::begin_framework() {
  auto made = std::make_shared<Framework>();
  made->graph = Ref<MPSGraph*>::adopt([[MPSGraph alloc] init]);
  framework = std::move(made);
}

namespace {

std::string before_this_one(const std::string& failure) { return "A step before this one failed: " + failure; }

}  // namespace

void Graph::Impl::land() {
  const std::shared_ptr<Run> run = std::move(flying.front());
  flying.pop_front();
  run->wait();
  run->land();
  if (run->failure().empty()) return;
  untold = run->failure();
  for (const auto& behind : flying) behind->fail_behind(before_this_one(untold));
}

void Graph::Impl::land_all() {
  while (!flying.empty()) land();
}

void Graph::Impl::land(const Run& run) {
  while (!run.has_landed()) land();
}

void Graph::Impl::land_behind(Run& run) {
  land_all();
  run.wait();
  if (!untold.empty()) run.fail_behind(before_this_one(untold));
  run.land();
}

void Graph::Impl::require_sound() {
  if (untold.empty()) return;
  throw DeviceError("[step] " + before_this_one(std::exchange(untold, {})));
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
