#include "runtime/program.h"

#include <cassert>
#include <utility>

#include "compiler/imitation.h"
#include "compiler/passes.h"
#include "compiler/plan.h"
#include "ir/grammar.h"
#include "ir/transform/walk.h"
#include "runtime/host_op.h"

namespace alloy::runtime {

Program::Program(device::Device& device, std::shared_ptr<device::Arena> arena, const std::vector<ir::Feed>& feeds,
                 const std::vector<ir::Value>& results, const std::vector<ir::Op*>& effects, CallablesRef callables,
                 const std::string& precision)
    : device_(device), arena_(std::move(arena)), callables_(std::move(callables)) {
  for (const ir::Feed& feed : feeds) feed_types_.push_back(feed.type);
  ir::Specialized special = specialize(feeds, results, effects, callables_, precision);
  if (const ir::System system = compiler::imitation().system; system.is_apple()) {
    ir::carry_feeds(special, [&](const ir::Graph& graph) { return compiler::imitate(graph, system); });
  }
  for (const ir::Value& v : special.graph->body().results) result_types_.push_back(v.type());
  ir::carry_feeds(special, [&](const ir::Graph& graph) {
    ir::Pure pure = ir::remove_effects(graph);
    slots_ = std::move(pure.slots);
    std::unique_ptr<ir::Graph> made = std::move(pure.graph);
    const auto pass = [&](std::unique_ptr<ir::Graph> next) {
      if (next) made = std::move(next);
    };
    if (ir::has_op(*made, [](const ir::Op& op) { return op.info().facts.regions.run == ir::RegionRun::kCounted; })) {
      pass(ir::carry_stacks(*made));
    }
    pass(compiler::resolve_shapes(*made));
    pass(device.lower(*made));
    pass(compiler::widen(*made, device));
    pass(compiler::simplify(*made, device));
    pass(device.combine(*made));
    return compiler::fuse(*made, device.fusion_policy());
  });
  assert(ir::verify(*special.graph).empty());
  graph_ = std::move(special.graph);
  placeholders_ = std::move(special.feeds);
  prepare();
}

void Program::prepare() {
  device::Plan plan = compiler::make_plan(device_, *graph_, placeholders_, slots_, compute_on_host);
  executor_ = device_.make_executor(std::move(plan), arena_);
  executor_->set_profiling(is_profiling_);
}

void Program::run(const device::Arguments& arguments, device::Stream& stream, device::Outcome& outcome) {
  while (!executor_->run(arguments, stream, outcome)) prepare();
}

void Program::set_profiling(bool on) { executor_->set_profiling(is_profiling_ = on); }

}  // namespace alloy::runtime
