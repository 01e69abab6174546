#include "compiler/early_copies.h"

#include <algorithm>
#include <iterator>
#include <map>

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

// A variable, the product's reads of it, and the first step that writes it.
struct Update {
  Place variable;
  size_t bytes, writer;
  std::vector<Read> reads;
};

bool is_product(const ir::Op& op) {
  return op.info().facts.products ||
         std::any_of(op.regions.begin(), op.regions.end(), [](const std::unique_ptr<ir::Block>& region) {
           return std::any_of(region->ops.begin(), region->ops.end(),
                              [](const std::unique_ptr<ir::Op>& inner) { return inner->info().facts.products; });
         });
}

bool writes(const Step& step, const Place& variable) {
  if (std::find(step.results.begin(), step.results.end(), variable) != step.results.end()) return true;
  return std::any_of(step.regions.begin(), step.regions.end(), [&](const std::vector<Step>& region) {
    return std::any_of(region.begin(), region.end(), [&](const Step& inner) { return writes(inner, variable); });
  });
}

std::vector<Update> small_updates(const Plan& plan) {
  std::vector<Update> updates;
  for (size_t v = 0; v < plan.variables.size(); ++v) {
    Update update{{Place::Kind::kVariable, v}, 0, 0, {}};
    while (update.writer < plan.steps.size() && !writes(plan.steps[update.writer], update.variable)) {
      const Step& step = plan.steps[update.writer];
      for (size_t i = 0; step.kind == Step::Kind::kCall && is_product(*step.op) && i < step.operands.size(); ++i) {
        if (step.operands[i] != update.variable) continue;
        update.reads.push_back({update.writer, i});
        update.bytes = step.op->operands[i].type().byte_count();
      }
      ++update.writer;
    }
    if (update.writer == plan.steps.size() || update.bytes == 0 || update.bytes > kMostBytes) continue;
    updates.push_back(std::move(update));
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
