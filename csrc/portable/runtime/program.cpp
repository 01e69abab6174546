#include "runtime/program.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "compiler/imitation.h"
#include "compiler/passes.h"
#include "cpu/passes/pointwise.h"
#include "cpu/threads/contention.h"
#include "ir/grammar.h"
#include "ir/rewrite.h"

namespace alloy::runtime {
namespace {

using Clock = std::chrono::steady_clock;

bool is_zero(const std::byte* bytes, size_t count) {
  return std::all_of(bytes, bytes + count, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

Program::Program(std::shared_ptr<Arena> arena, const std::vector<ir::Feed>& feeds,
                 const std::vector<ir::Value>& results, const std::vector<ir::Op*>& effects)
    : arena_(std::move(arena)) {
  for (const ir::Feed& feed : feeds) feed_types_.push_back(feed.type);
  ir::Specialized special = ir::specialize(feeds, results, effects);
  if (const ir::System system = compiler::imitation().system; system.is_apple()) {
    ir::carry_feeds(special, [&](const ir::Graph& graph) { return compiler::imitate(graph, system); });
  }
  for (const ir::Value& v : special.graph->body().results) result_types_.push_back(v.type());
  ir::carry_feeds(special, [&](const ir::Graph& graph) {
    ir::Pure pure = ir::remove_effects(graph);
    slots_ = std::move(pure.slots);
    return compiler::fuse(*compiler::simplify(*cpu::lower_convolutions(*compiler::resolve_shapes(*pure.graph))));
  });
  assert(ir::verify(*special.graph).empty());
  graph_ = std::move(special.graph);
  placeholders_ = std::move(special.feeds);
  prepare();
}

void Program::prepare() {
  threads_ = 0;  // should anything fail, the next run tries again
  calls_.clear();
  pointers_.clear();
  patches_.clear();
  inside_.clear();
  base_ = nullptr;
  const int threads = cpu::kernel_threads();
  const cpu::Team team(threads);
  plan_ = compiler::make_plan(*graph_, placeholders_, slots_);
  arena_.want(plan_.arena_bytes);
  for (const compiler::Step& step : plan_.steps) {
    Call call{step.kind, step.kernel.get(), pointers_.size(), 0, step.bytes, step.target};
    for (const compiler::Place& place : step.operands) resolve(place);
    call.results = pointers_.size();
    for (const compiler::Place& place : step.results) resolve(place);
    calls_.push_back(call);
  }
  laid_out_.assign(plan_.layouts.size(), std::nullopt);
  set_profiling(!times_.empty());
  threads_ = threads;
}

void Program::resolve(const compiler::Place& place) {
  std::byte* pointer = nullptr;
  switch (place.kind) {
    case compiler::Place::Kind::kNowhere: break;
    case compiler::Place::Kind::kConstant: pointer = const_cast<std::byte*>(plan_.constants[place.index].data()); break;
    case compiler::Place::Kind::kArena: inside_.push_back({place, pointers_.size()}); break;
    default: patches_.push_back({place, pointers_.size()});
  }
  pointers_.push_back(pointer);
}

void Program::use_arena() {
  const ArenaShare::Use use = arena_.use();
  if (!use.as_left) laid_out_.assign(plan_.layouts.size(), std::nullopt);
  if (use.bytes == base_) return;
  base_ = use.bytes;
  for (const Patch& patch : inside_) pointers_[patch.pointer] = base_ + patch.place.index;
}

void Program::lay_out(std::byte* const* variables, const uint64_t* versions) {
  for (size_t i = 0; i < plan_.layouts.size(); ++i) {
    const compiler::Layout& layout = plan_.layouts[i];
    const size_t source = layout.source.index;
    const bool is_constant = layout.source.kind == compiler::Place::Kind::kConstant;
    std::optional<uint64_t> version;
    if (is_constant) version = 0;
    else if (versions != nullptr) version = versions[plan_.variables[source]];
    if (version && laid_out_[i] == version) continue;
    plan_.steps[layout.step].kernel->lay_out(is_constant ? plan_.constants[source].data() : variables[source],
                                             base_ + layout.offset);
    laid_out_[i] = version;
  }
}

void Program::run(const std::byte* const* feeds, std::byte* const* variables, std::byte* const* results,
                  const uint64_t* versions) {
  const cpu::FlushDenormals mode;
  const cpu::Team team;
  cpu::Team::start();
  if (cpu::kernel_threads() != threads_) prepare();
  use_arena();
  for (const Patch& patch : patches_) {
    const size_t i = patch.place.index;
    pointers_[patch.pointer] = patch.place.kind == compiler::Place::Kind::kFeed       ? const_cast<std::byte*>(feeds[i])
                               : patch.place.kind == compiler::Place::Kind::kVariable ? variables[i]
                                                                                      : results[i];
  }
  const auto start = Clock::now();
  lay_out(variables, versions);
  if (times_.empty()) run_steps<false>();
  else run_steps<true>();
  cpu::watch_contention(Clock::now() - start);
}

template <bool kTimed>
void Program::run_steps() {
  std::byte* const scratch = base_ + plan_.scratch_offset;
  const auto start = kTimed ? Clock::now() : Clock::time_point();
  const auto elapsed = [start] { return std::chrono::nanoseconds(Clock::now() - start).count(); };
  int64_t now = 0;
  for (size_t i = 0; i < calls_.size();) {
    const Call& call = calls_[i];
    std::byte* const* operands = pointers_.data() + call.operands;
    std::byte* const* outputs = pointers_.data() + call.results;
    size_t next = i + 1;
    switch (call.kind) {
      case compiler::Step::Kind::kCall: call.kernel->run(operands, outputs, scratch); break;
      case compiler::Step::Kind::kCopy: std::memcpy(outputs[0], operands[0], call.bytes); break;
      case compiler::Step::Kind::kJump: next = call.target; break;
      case compiler::Step::Kind::kJumpIfNot: next = is_zero(operands[0], call.bytes) ? call.target : next; break;
    }
    if constexpr (kTimed) {
      const int64_t begin = std::exchange(now, elapsed());
      times_[i] = {begin, now, times_[i].total + now - begin};
    }
    i = next;
  }
}

}  // namespace alloy::runtime
