#include "runtime/program.h"

#include <algorithm>
#include <chrono>
#include <cassert>
#include <cstring>
#include <new>
#include <optional>

#include "runtime/contention.h"
#include "runtime/passes.h"

namespace alloy::portable {
namespace {

// A run that is longer than the scheduler's time slices.
constexpr std::chrono::milliseconds kLongRun(10);

bool is_zero(const std::byte* bytes, size_t count) {
  return std::all_of(bytes, bytes + count, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

Program::Program(Device& device, const std::vector<ir::Feed>& feeds, const std::vector<ir::Value>& results, const std::vector<ir::Op*>& effects) {
  // Every feed rides along as a result, so that the passes keep its placeholder; the plan then takes them off again.
  ir::Specialized special = ir::specialize(feeds, results, effects);
  auto& outputs = special.graph->body().results;
  for (const ir::Value& v : outputs) result_types_.push_back(v.type());
  for (const ir::Feed& feed : feeds) feed_types_.push_back(feed.type);
  outputs.insert(outputs.begin(), special.feeds.begin(), special.feeds.end());
  const ir::Pure pure = ir::remove_effects(*special.graph);
  graph_ = fuse(*simplify(*lower_convolutions(*resolve_shapes(*pure.graph))));
  assert(ir::verify(*graph_).empty());
  auto& planned = graph_->body().results;
  const auto end_of_feeds = planned.begin() + static_cast<long>(feeds.size());
  const std::vector<ir::Value> placeholders(planned.begin(), end_of_feeds);
  planned.erase(planned.begin(), end_of_feeds);

  plan_ = make_plan(*graph_, placeholders, pure.slots);
  arena_ = device.allocate(plan_.arena_bytes);
  if (!arena_) throw std::bad_alloc();
  for (const Step& step : plan_.steps) {
    Call call{step.kind, step.kernel.get(), pointers_.size(), 0, step.bytes, step.target};
    for (const Place& place : step.operands) resolve(place);
    call.results = pointers_.size();
    for (const Place& place : step.results) resolve(place);
    calls_.push_back(call);
  }
}

void Program::resolve(const Place& place) {
  std::byte* pointer = nullptr;
  switch (place.kind) {
    case Place::Kind::kNowhere: break;
    case Place::Kind::kConstant: pointer = plan_.constants[place.index].data(); break;
    case Place::Kind::kArena: pointer = arena_->host_bytes() + place.index; break;
    default: patches_.push_back({place, pointers_.size()});
  }
  pointers_.push_back(pointer);
}

void Program::run(const std::byte* const* feeds, std::byte* const* variables, std::byte* const* results) {
  for (const Patch& patch : patches_) {
    const size_t i = patch.place.index;
    pointers_[patch.pointer] = patch.place.kind == Place::Kind::kFeed       ? const_cast<std::byte*>(feeds[i])
                               : patch.place.kind == Place::Kind::kVariable ? variables[i]
                                                                            : results[i];
  }
  std::byte* const scratch = arena_->host_bytes() + plan_.scratch_offset;
  const FlushDenormals mode;
  const auto start = std::chrono::steady_clock::now();
  std::optional<ContentionWatch> watch;
  if (is_long_) watch.emplace();
  for (size_t i = 0; i < calls_.size();) {
    const Call& call = calls_[i];
    std::byte* const* operands = pointers_.data() + call.operands;
    std::byte* const* outputs = pointers_.data() + call.results;
    size_t next = i + 1;
    switch (call.kind) {
      case Step::Kind::kCall: call.kernel->run(operands, outputs, scratch); break;
      case Step::Kind::kCopy: std::memcpy(outputs[0], operands[0], call.bytes); break;
      case Step::Kind::kJump: next = call.target; break;
      case Step::Kind::kJumpIfNot: next = is_zero(operands[0], call.bytes) ? call.target : next; break;
    }
    i = next;
  }
  is_long_ = std::chrono::steady_clock::now() - start > kLongRun;
}

}  // namespace alloy::portable
