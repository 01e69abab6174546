#include "compiler/early_copies.h"

#include <algorithm>
#include <iterator>

#include "compiler/edges.h"
#include "ir/rounding.h"

namespace alloy::compiler {
namespace {

using device::Place;
using device::Plan;
using device::Step;

// Larger copies would delay the first steps; many of them are of plans that keep a device busy anyway.
constexpr size_t kMostBytes = 64 << 10, kMostOfAll = 256 << 10;

// An operand of a step.
struct Read {
  size_t step, operand;
};

// A variable, products' reads of it, and the first step that writes it.
struct Update {
  Place variable;
  size_t bytes = 0, writer = 0;
  std::vector<Read> reads = {};
};

bool is_product(const ir::Op& op) {
  return op.info().facts.products ||
         std::any_of(op.regions.begin(), op.regions.end(), [](const std::unique_ptr<ir::Block>& region) {
           return std::any_of(region->ops.begin(), region->ops.end(),
                              [](const std::unique_ptr<ir::Op>& inner) { return inner->info().facts.products; });
         });
}

// Calls f for the places that the step or those in its regions write.
template <class F>
void for_each_written(const Step& step, const F& f) {
  for (const Place& place : step.results) f(place);
  for (const std::vector<Step>& region : step.regions) {
    for (const Step& inner : region) for_each_written(inner, f);
  }
}

std::vector<Update> small_updates(const Plan& plan) {
  std::vector<Update> all, updates;
  for (size_t v = 0; v < plan.variables.size(); ++v) all.push_back({{Place::Kind::kVariable, v}});
  std::vector<bool> is_written(all.size());
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    for_each_written(step, [&](const Place& place) {
      if (place.kind != Place::Kind::kVariable || is_written[place.index]) return;
      is_written[place.index] = true;
      Update& update = all[place.index];
      update.writer = s;
      if (update.bytes > 0 && update.bytes <= kMostBytes) updates.push_back(std::move(update));
    });
    for (size_t i = 0; step.kind == Step::Kind::kCall && i < step.operands.size(); ++i) {
      const Place& place = step.operands[i];
      if (place.kind != Place::Kind::kVariable || is_written[place.index] || !is_product(*step.op)) continue;
      all[place.index].bytes = step.op->operands[i].type().byte_count();
      all[place.index].reads.push_back({s, i});
    }
  }
  return updates;
}

// True for all steps that this one follows.
std::vector<bool> before(const std::vector<Step>& steps, size_t step) {
  std::vector<bool> all(steps.size());
  std::vector<size_t> next{step};
  while (!next.empty()) {
    const size_t i = next.back();
    next.pop_back();
    for (const size_t other : steps[i].follows) {
      if (!all[other]) next.push_back(other);
      all[other] = true;
    }
  }
  return all;
}

}  // namespace

void copy_early(Plan& plan, size_t alignment) {
  const std::vector<Update> updates = small_updates(plan);
  if (updates.empty()) return find_edges(plan);
  const auto replace = [&](const std::vector<Read>& reads, const Place& place) {
    for (const Read& read : reads) plan.steps[read.step].operands[read.operand] = place;
  };
  // Without the reads, an update follows only the steps that it follows for other reasons.
  for (const Update& update : updates) replace(update.reads, {});
  find_edges(plan);
  std::vector<Step> copies;
  std::vector<Update> copied;
  size_t bytes = 0;
  for (const Update& update : updates) {
    if (bytes > kMostOfAll) break;
    const std::vector<bool> is_before = before(plan.steps, update.writer);
    Update own = update;
    std::erase_if(own.reads, [&](const Read& read) { return is_before[read.step]; });
    if (own.reads.empty()) continue;
    bytes += ir::round_up(own.bytes, alignment);
    copied.push_back(std::move(own));
  }
  for (const Update& update : updates) replace(update.reads, update.variable);
  // Packed weights, which end the arena, are of devices with one lane, as scratch that all kernels share is.
  if (bytes <= kMostOfAll && plan.packed_weights.empty()) {
    for (const Update& update : copied) {
      const Place copy{Place::Kind::kArena, plan.arena_bytes};
      plan.arena_bytes += ir::round_up(update.bytes, alignment);
      replace(update.reads, copy);
      copies.push_back(
          {.kind = Step::Kind::kCopy, .operands = {update.variable}, .results = {copy}, .bytes = update.bytes});
    }
    plan.scratch_offset = plan.packed_weights_offset = plan.arena_bytes;
    plan.steps.insert(plan.steps.begin(), std::move_iterator(copies.begin()), std::move_iterator(copies.end()));
  }
  find_edges(plan);
}

}  // namespace alloy::compiler
