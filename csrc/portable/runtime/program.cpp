#include "runtime/program.h"

#include <cassert>
#include <utility>

#include "compiler/imitation.h"
#include "compiler/passes.h"
#include "compiler/plan.h"

namespace alloy::runtime {

Program::Program(device::Device& device, std::shared_ptr<device::Arena> arena, const std::vector<ir::Feed>& feeds,
                 const std::vector<ir::Value>& results, const std::vector<ir::Op*>& effects)
    : device_(device), arena_(std::move(arena)) {
  // Every feed rides along as a result, so that the passes keep its placeholder; the plan then takes them off again.
  ir::Specialized special = ir::specialize(feeds, results, effects);
  auto& wanted = special.graph->body().results;
  wanted.insert(wanted.begin(), special.feeds.begin(), special.feeds.end());
  if (const ir::System system = compiler::imitation().system; system.is_apple())
    special.graph = compiler::imitate(*special.graph, system);
  const auto& outputs = special.graph->body().results;
  for (auto v = outputs.begin() + static_cast<long>(feeds.size()); v != outputs.end(); ++v) {
    result_types_.push_back(v->type());
  }
  for (const ir::Feed& feed : feeds) feed_types_.push_back(feed.type);
  ir::Pure pure = ir::remove_effects(*special.graph);
  slots_ = std::move(pure.slots);
  const auto lowered = device.lower(*compiler::resolve_shapes(*pure.graph));
  graph_ = compiler::fuse(*compiler::simplify(*lowered, device), device.fusion_policy());
  assert(ir::verify(*graph_).empty());
  auto& planned = graph_->body().results;
  const auto end_of_feeds = planned.begin() + static_cast<long>(feeds.size());
  placeholders_.assign(planned.begin(), end_of_feeds);
  planned.erase(planned.begin(), end_of_feeds);
  prepare();
}

void Program::prepare() {
  executor_ = device_.make_executor(compiler::make_plan(device_, *graph_, placeholders_, slots_), arena_);
  executor_->set_profiling(is_profiling_);
}

void Program::run(const device::Arguments& arguments) {
  while (!executor_->run(arguments)) prepare();
}

void Program::set_profiling(bool on) { executor_->set_profiling(is_profiling_ = on); }

}  // namespace alloy::runtime
