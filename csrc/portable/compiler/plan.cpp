#include "compiler/plan.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "compiler/early_copies.h"
#include "compiler/items.h"
#include "compiler/offsets.h"
#include "compiler/uses.h"

namespace alloy::compiler {
namespace {

using device::PackedWeights;
using device::Place;
using device::Plan;
using device::Step;
using ir::Op;
using ir::OpCode;
using ir::Value;
using ir::ValueMap;

// A piece of the arena and the values that use it one after another, from the first item to the last.
struct Buffer {
  size_t bytes;
  size_t first;
  size_t last;
  size_t taken_at = SIZE_MAX;                           // the last item whose result replaced an operand
  std::vector<std::pair<size_t, Value>> contents = {};  // (the first item at which it is there, value)
  size_t offset = 0;
};

class Planner {
 public:
  Planner(const device::Device& device, const ir::Graph& graph, const std::vector<int64_t>& slots,
          const device::HostKernelMaker& make_on_host)
      : device_(device),
        graph_(graph),
        slots_(slots),
        result_count_(graph.body().results.size() - slots.size()),
        kernels_(device, make_on_host),
        items_(line_up(graph, slots, kernels_)),
        uses_(items_, graph) {}

  Plan make(const std::vector<Value>& feeds) {
    place_given(feeds);
    claim_results();
    claim_variables();
    for (size_t i = 0; i < items_.list.size(); ++i) place_item(i);
    copy_out();
    lay_out();
    find_peak();
    size_t first = 0;
    plan_.steps = emit(first);
    emit_copies_out();
    if (device_.lanes() > 1) copy_early(plan_, device_.alignment());
    return std::move(plan_);
  }

 private:
  // ---- places outside the arena ----

  // Feeds, constants and variables have places that are given.
  void place_given(const std::vector<Value>& feeds) {
    for (size_t i = 0; i < feeds.size(); ++i) places_[feeds[i]] = {Place::Kind::kFeed, i};
    for (const Value& v : items_.constants) {
      places_[v] = {Place::Kind::kConstant, plan_.constants.size()};
      plan_.constants.emplace_back(v.op->attributes.get<ir::LiteralRef>(ir::Attr::kValue));
    }
    for (const auto& [v, slot] : items_.variables) plan_.variables.push_back(slot);
    plan_.variables.insert(plan_.variables.end(), slots_.begin(), slots_.end());
    std::sort(plan_.variables.begin(), plan_.variables.end());
    plan_.variables.erase(std::unique(plan_.variables.begin(), plan_.variables.end()), plan_.variables.end());
    for (const auto& [v, slot] : items_.variables) places_[v] = {Place::Kind::kVariable, variable_index(slot)};
  }

  size_t variable_index(int64_t slot) const {
    return std::lower_bound(plan_.variables.begin(), plan_.variables.end(), slot) - plan_.variables.begin();
  }

  // Computes a result of the graph directly in the result's memory; if it is several results, in the first of them.
  void claim_results() {
    for (size_t i = 0; i < result_count_; ++i) {
      const Value v = items_.root(graph_.body().results[i]);
      if (!places_.contains(v) && uses_.is_written(v)) places_[v] = {Place::Kind::kResult, i};
    }
  }

  // Computes a variable's new value directly in the variable if nothing can read the old value afterwards.
  void claim_variables() {
    std::unordered_map<int64_t, Value> old;
    for (const auto& [v, slot] : items_.variables) old.emplace(slot, v);
    for (size_t s = 0; s < slots_.size(); ++s) {
      const Value v = items_.root(graph_.body().results[result_count_ + s]);
      if (places_.contains(v) || !uses_.is_written(v)) continue;
      const auto known = old.find(slots_[s]);
      if (known == old.end() || may_overwrite(known->second, v)) {
        places_[v] = {Place::Kind::kVariable, variable_index(slots_[s])};
      }
    }
  }

  // True if every use of `old` comes before every item that writes `v`, is in another branch, or works in place.
  bool may_overwrite(Value old, Value v) {
    for (size_t use : uses_.readers(old)) {
      for (size_t writer : uses_.writers(v)) {
        if (use < writer) continue;
        if (use == items_.list.size()) return false;
        const Item &reads = items_.list[use], &writes = items_.list[writer];
        if (exclusive(reads, writes)) continue;
        const bool kept =
            reads.kind == Item::Kind::kCopy && items_.root(reads.to) == v;  // copies the old value onto itself
        const bool in_place = use == writer && writes.kind == Item::Kind::kCall && works_in_place(writes.op, old, v);
        if (!kept && !in_place) return false;
      }
    }
    return true;
  }

  // True if the result of `op` that is `v` may be written over every operand that is `old`.
  bool works_in_place(const Op* op, Value old, Value v) {
    for (uint32_t r = 0; r < op->results.size(); ++r) {
      if (items_.root(op->result(r)) != v) continue;
      for (size_t i = 0; i < op->operands.size(); ++i) {
        if (items_.root(op->operands[i]) == old && !kernels_.of(*op).in_place(i, r)) return false;
      }
    }
    return true;
  }

  // ---- the arena ----

  void place_item(size_t i) {
    const Item& item = items_.list[i];
    if (item.kind == Item::Kind::kIf) {
      for (uint32_t r = 0; r < item.op->results.size(); ++r) new_buffer(items_.root(item.op->result(r)));
    }
    if (item.kind == Item::Kind::kCopy) {
      const Value from = items_.root(item.from), v = items_.root(item.to);
      if (!places_.contains(v) && !buffer_of_.contains(v) && !inherit(from, i, v)) new_buffer(v);
    }
    if (item.kind != Item::Kind::kCall) return;
    pack_weights(*item.op);  // changes how much scratch the kernel needs
    if (const size_t bytes = kernels_.of(*item.op).scratch_bytes(); device_.lanes() == 1) {
      shared_scratch_bytes_ = std::max(shared_scratch_bytes_, bytes);
    } else if (bytes > 0) {
      scratch_of_[item.op] = buffers_.size();
      buffers_.push_back({.bytes = bytes, .first = i, .last = i});
    }
    for (uint32_t r = 0; r < item.op->results.size(); ++r) {
      const Value v = items_.root(item.op->result(r));
      if (!places_.contains(v) && !buffer_of_.contains(v) && !take_over(*item.op, i, v)) new_buffer(v);
    }
  }

  void pack_weights(const Op& op) {
    device::Kernel& kernel = kernels_.of(op);
    const auto weights = kernel.prepacked_operand();
    if (!weights) return;
    const Place source = place_of(op.operands[*weights]);
    if (!lasts(source)) return;
    if (const size_t bytes = kernel.take_prepacked(); bytes > 0) {
      plan_.packed_weights.push_back({&kernel, *weights, source, packed_weights_bytes_});
      packed_weights_bytes_ += aligned(bytes);
    }
  }

  // True if no run changes the contents.
  bool lasts(const Place& place) const {
    if (place.kind == Place::Kind::kConstant) return true;
    return place.kind == Place::Kind::kVariable &&
           !std::binary_search(slots_.begin(), slots_.end(), plan_.variables[place.index]);
  }

  void new_buffer(Value v) {
    if (places_.contains(v) || buffer_of_.contains(v) || !uses_.is_written(v)) return;
    buffer_of_[v] = buffers_.size();
    buffers_.push_back({.bytes = v.type().byte_count(),
                        .first = uses_.first_item(v),
                        .last = uses_.last_item(v),
                        .contents = {{uses_.first_item(v), v}}});
  }

  // Puts `v` in the memory of an operand whose last use is this op.
  bool take_over(const Op& op, size_t i, Value v) {
    for (const Value& operand : op.operands) {
      if (works_in_place(&op, items_.root(operand), v) && inherit(items_.root(operand), i, v)) return true;
    }
    return false;
  }

  // Puts `v` in the memory of a value whose last use is this item.
  bool inherit(Value old, size_t i, Value v) {
    const auto it = buffer_of_.find(old);
    if (it == buffer_of_.end()) return false;
    Buffer& buffer = buffers_[it->second];
    if (buffer.last != i || buffer.taken_at == i || buffer.bytes != v.type().byte_count()) return false;
    const auto may_run_beside = [&](size_t reader) { return reader < i && i - reader < device_.lanes(); };
    const std::vector<size_t>& readers = uses_.readers(old);
    if (std::any_of(readers.begin(), readers.end(), may_run_beside)) return false;
    buffer.taken_at = i;
    buffer.last = uses_.last_item(v);
    buffer.contents.emplace_back(i, v);
    buffer_of_[v] = it->second;
    return true;
  }

  // Copies results and new values of variables that were computed elsewhere to their places after the last item.
  // Results come first, because they may still be read from variables. A new value that is in another variable's memory
  // goes through the arena, because that variable may be overwritten first.
  void copy_out() {
    const size_t end = items_.list.size();
    for (size_t i = 0; i < result_count_; ++i) {
      result_copies_.push_back({items_.root(graph_.body().results[i]), {Place::Kind::kResult, i}});
    }
    for (size_t s = 0; s < slots_.size(); ++s) {
      const Value v = items_.root(graph_.body().results[result_count_ + s]);
      const Place target{Place::Kind::kVariable, variable_index(slots_[s])};
      const auto it = places_.find(v);
      if (it == places_.end() || it->second.kind != Place::Kind::kVariable || it->second == target) {
        late_copies_.push_back({v, target});
      } else {
        detours_.push_back({v, target, buffers_.size()});
        buffers_.push_back({.bytes = v.type().byte_count(), .first = end, .last = end, .contents = {{end, v}}});
      }
    }
  }

  size_t aligned(size_t bytes) const {
    const size_t alignment = device_.alignment();
    return (bytes + alignment - 1) / alignment * alignment;
  }

  void lay_out() {
    std::vector<Lifetime> lifetimes;
    // Steps that could run at once shall not wait for each other's memory.
    const size_t rest = device_.lanes() - 1;
    for (const Buffer& buffer : buffers_) {
      lifetimes.push_back({aligned(buffer.bytes), buffer.first, buffer.last + rest});
    }
    const Offsets offsets = assign_offsets(lifetimes);
    for (size_t b = 0; b < buffers_.size(); ++b) buffers_[b].offset = offsets.of[b];
    plan_.scratch_offset = offsets.end;
    plan_.packed_weights_offset = plan_.scratch_offset + aligned(shared_scratch_bytes_);
    for (PackedWeights& weights : plan_.packed_weights) weights.offset += plan_.packed_weights_offset;
    plan_.arena_bytes = plan_.packed_weights_offset + packed_weights_bytes_;
  }

  // Finds the item at which the live buffers take the most memory, and the values in them.
  void find_peak() {
    std::vector<int64_t> change(items_.list.size() + 2, 0);
    for (const Buffer& buffer : buffers_) {
      change[buffer.first] += static_cast<int64_t>(buffer.bytes);
      change[buffer.last + 1] -= static_cast<int64_t>(buffer.bytes);
    }
    std::partial_sum(change.begin(), change.end(), change.begin());
    const size_t peak = std::max_element(change.begin(), change.end()) - change.begin();
    for (const Buffer& buffer : buffers_) {
      if (peak < buffer.first || peak > buffer.last || buffer.contents.empty()) continue;
      const auto next = std::find_if(buffer.contents.begin(), buffer.contents.end(),
                                     [&](const auto& entry) { return entry.first > peak; });
      const Value v = std::prev(next)->second;
      const auto original = items_.stands_for.find(v);
      plan_.at_peak.push_back(original == items_.stands_for.end() ? v : original->second);
    }
  }

  // ---- steps ----

  Place place_of(Value v) const {
    const Value r = items_.root(v);
    if (const auto it = places_.find(r); it != places_.end()) return it->second;
    if (const auto it = buffer_of_.find(r); it != buffer_of_.end()) return arena(it->second);
    return {};
  }

  Place arena(size_t buffer) const { return {Place::Kind::kArena, buffers_[buffer].offset}; }

  // The steps of the items from `i` to the end of their region.
  std::vector<Step> emit(size_t& i) {
    std::vector<Step> steps;
    for (; i < items_.list.size(); ++i) {
      const Item& item = items_.list[i];
      switch (item.kind) {
        case Item::Kind::kCall: steps.push_back(call(*item.op)); break;
        case Item::Kind::kCopy:
          emit_copy(steps, place_of(item.from), place_of(item.to), item.to.type().byte_count());
          break;
        case Item::Kind::kIf: steps.push_back(control(Step::Kind::kIf, item.op->operands[0], i)); break;
        case Item::Kind::kLoop: {
          const Op& loop = *item.op;
          steps.push_back(control(Step::Kind::kLoop, loop.regions[0]->results[0], i));
          if (loop.attributes.has(ir::Attr::kTripCount)) {
            steps.back().trip_count = loop.attributes.integer(ir::Attr::kTripCount);
          }
          break;
        }
        case Item::Kind::kElse:
        case Item::Kind::kLeave:
        case Item::Kind::kEnd:
        case Item::Kind::kRepeat: return steps;
      }
    }
    return steps;
  }

  // A conditional or loop whose first item is `i`; moves `i` to its last one.
  Step control(Step::Kind kind, Value predicate, size_t& i) {
    Step step{.kind = kind, .operands = {place_of(predicate)}, .bytes = predicate.type().byte_count()};
    for (std::vector<Step>& region : step.regions) region = emit(++i);
    return step;
  }

  Step call(const Op& op) {
    Step step{.kind = Step::Kind::kCall, .kernel = kernels_.take(op), .op = &op};
    if (dynamic_cast<device::HostKernel*>(step.kernel.get()) != nullptr) step.kind = Step::Kind::kHostCall;
    for (const Value& v : op.operands) step.operands.push_back(place_of(v));
    for (uint32_t r = 0; r < op.results.size(); ++r) step.results.push_back(place_of(op.result(r)));
    const auto own = scratch_of_.find(&op);
    step.scratch = own == scratch_of_.end() ? plan_.scratch_offset : buffers_[own->second].offset;
    if (packed_ < plan_.packed_weights.size() && plan_.packed_weights[packed_].kernel == step.kernel.get()) {
      const PackedWeights& weights = plan_.packed_weights[packed_++];
      step.operands[weights.operand] = {Place::Kind::kArena, weights.offset};
    }
    return step;
  }

  static void emit_copy(std::vector<Step>& steps, Place from, Place to, size_t bytes) {
    if (from == to || bytes == 0 || from.kind == Place::Kind::kNowhere) return;
    steps.push_back({.kind = Step::Kind::kCopy, .operands = {from}, .results = {to}, .bytes = bytes});
  }

  void emit_copies_out() {
    const auto copy = [&](Place from, Place to, Value v) { emit_copy(plan_.steps, from, to, v.type().byte_count()); };
    for (const CopyOut& c : result_copies_) copy(place_of(c.value), c.target, c.value);
    for (const Detour& d : detours_) copy(place_of(d.value), arena(d.buffer), d.value);
    for (const CopyOut& c : late_copies_) copy(place_of(c.value), c.target, c.value);
    for (const Detour& d : detours_) copy(arena(d.buffer), d.target, d.value);
  }

  struct CopyOut {
    Value value;
    Place target;
  };
  struct Detour {
    Value value;
    Place target;
    size_t buffer;
  };

  const device::Device& device_;
  const ir::Graph& graph_;
  const std::vector<int64_t>& slots_;
  const size_t result_count_;
  Kernels kernels_;
  const Items items_;
  const Uses uses_;
  Plan plan_;
  ValueMap<Place> places_;
  ValueMap<size_t> buffer_of_;
  std::vector<Buffer> buffers_;
  std::unordered_map<const Op*, size_t> scratch_of_;  // buffers, on a device with several lanes
  size_t shared_scratch_bytes_ = 0, packed_weights_bytes_ = 0;
  size_t packed_ = 0;  // how many of the packed weights have their step
  std::vector<CopyOut> result_copies_, late_copies_;
  std::vector<Detour> detours_;
};

}  // namespace

Plan make_plan(const device::Device& device, const ir::Graph& graph, const std::vector<Value>& feeds,
               const std::vector<int64_t>& slots, const device::HostKernelMaker& make_on_host) {
  return Planner(device, graph, slots, make_on_host).make(feeds);
}

}  // namespace alloy::compiler
