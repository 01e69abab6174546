#include "compiler/plan.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "compiler/offsets.h"
#include "compiler/schedule.h"

namespace alloy::compiler {
namespace {

using device::Layout;
using device::Place;
using device::Plan;
using device::Step;
using ir::Op;
using ir::OpCode;
using ir::Value;
using ir::ValueMap;

// One thing to do, in the order in which all of them stand: what becomes a step. Positions in that order are the
// planner's time.
struct Item {
  // A conditional is kIf, its first region, kElse, its second, kEnd; a loop is kLoop, its first region, kLeave, its
  // second, kRepeat.
  enum class Kind : uint8_t { kCall, kCopy, kIf, kElse, kEnd, kLoop, kLeave, kRepeat };
  Kind kind;
  const Op* op = nullptr;                                // of a call, or the conditional or loop
  Value from = {}, to = {};                              // of a copy
  std::vector<std::pair<const Op*, int>> branches = {};  // the ops whose regions it stands in, and which region of each
};

// Whether no run does both.
bool exclusive(const Item& a, const Item& b) {
  for (size_t i = 0; i < std::min(a.branches.size(), b.branches.size()); ++i) {
    if (a.branches[i].first != b.branches[i].first) return false;
    if (a.branches[i].second != b.branches[i].second) {
      return a.branches[i].first->info().facts.regions.run == ir::Run::kEither;
    }
  }
  return false;
}

// One stretch of the arena: the values that share it in place of one another, from its first item to its last.
struct Buffer {
  size_t bytes;
  size_t first;
  size_t last;
  size_t taken_at = SIZE_MAX;                           // the last item whose result took the place of an operand
  std::vector<std::pair<size_t, Value>> contents = {};  // the values, each from an item on
  size_t offset = 0;
};

class Planner {
 public:
  Planner(const device::Device& device, const ir::Graph& graph, const std::vector<Value>& feeds,
          const std::vector<int64_t>& slots)
      : device_(device), graph_(graph), slots_(slots), result_count_(graph.body().results.size() - slots.size()) {
    for (size_t i = 0; i < feeds.size(); ++i) places_[feeds[i]] = {Place::Kind::kFeed, i};
  }

  Plan make() {
    for (const Op* op : schedule(graph_, slots_)) line_up(*op);
    number_variables();
    find_uses();
    claim_results();
    claim_variables();
    for (size_t i = 0; i < items_.size(); ++i) place_item(i);
    copy_out();
    lay_out();
    find_peak();
    emit();
    return std::move(plan_);
  }

 private:
  // ---- order ----

  // Lists what an op does, and places what is not computed.
  void line_up(const Op& op) {
    const Value v = op.result();
    if (op.info().facts.renames) {
      alias_[v] = op.operands[0];
      return;
    }
    switch (op.code) {  // what has a place of its own, or none; of all else, a missing kernel is a mistake
      case OpCode::placeholder:
      case OpCode::empty: break;
      case OpCode::constant: {
        places_[v] = {Place::Kind::kConstant, plan_.constants.size()};
        plan_.constants.emplace_back(op.attributes.get<ir::LiteralRef>(ir::Attr::kValue));
        break;
      }
      case OpCode::variable: variables_.emplace_back(v, op.attributes.integer(ir::Attr::kSlot)); break;
      default: line_up_run(op);
    }
  }

  void line_up_run(const Op& op) {
    switch (op.info().facts.regions.run) {
      case ir::Run::kEither: line_up_branches(op); break;
      case ir::Run::kAlternately: line_up_loop(op); break;
      case ir::Run::kCounted: op.fail("A counted loop has no plan");  // resolve_shapes leaves none
      case ir::Run::kNever:
      case ir::Run::kOnce: push({.kind = Item::Kind::kCall, .op = &op});
    }
  }

  void line_up_branches(const Op& op) {
    for (int k = 0; k < 2; ++k) {
      push({.kind = k == 0 ? Item::Kind::kIf : Item::Kind::kElse, .op = &op});
      branches_.emplace_back(&op, k);
      const ir::Block& region = *op.regions[static_cast<size_t>(k)];
      for (const auto& inner : region.ops) line_up(*inner);
      for (uint32_t r = 0; r < op.results.size(); ++r) give(region, region.results[r], op.result(r));
      branches_.pop_back();
    }
    push({.kind = Item::Kind::kEnd, .op = &op});
  }

  // What the first region passes on is the second's arguments and the loop's results as it stands; what the second
  // gives is copied to the first one's arguments.
  void line_up_loop(const Op& op) {
    const ir::Block &before = *op.regions[0], &after = *op.regions[1];
    hand_over(op.operands, before);
    push({.kind = Item::Kind::kLoop, .op = &op});
    branches_.emplace_back(&op, 0);
    for (const auto& inner : before.ops) line_up(*inner);
    for (uint32_t i = 0; i < op.results.size(); ++i) {
      alias_[after.arguments[i]->result()] = before.results[i + 1];
      alias_[op.result(i)] = before.results[i + 1];
    }
    push({.kind = Item::Kind::kLeave, .op = &op});
    branches_.back().second = 1;
    const size_t begin = items_.size();
    for (const auto& inner : after.ops) line_up(*inner);
    for (size_t i = 0; i < after.results.size(); ++i) {
      if (may_become(after, i, before.arguments[i]->result(), begin)) {
        alias_[root(after.results[i])] = before.arguments[i]->result();
      }
    }
    hand_over(after.results, before);
    branches_.pop_back();
    push({.kind = Item::Kind::kRepeat, .op = &op});
  }

  // Whether result `i` of a region, whose items begin at `begin`, can be computed where this argument is: behind its
  // computation, which may work in place, nobody wants the argument.
  bool may_become(const ir::Block& region, size_t i, Value argument, size_t begin) {
    const Value v = root(region.results[i]);
    const auto computes = [&](const Item& item) { return item.kind == Item::Kind::kCall && item.op == v.op; };
    const auto first = items_.begin() + static_cast<long>(begin);
    const auto writer = std::find_if(first, items_.end(), computes);
    if (v.op->block != &region || writer == items_.end()) return false;
    for (size_t k = 0; k < v.op->operands.size(); ++k) {
      if (root(v.op->operands[k]) == argument && !kernel_of(v.op)->in_place(k, v.index)) return false;
    }
    const auto reads_it = [&](const Item& item) {
      const std::vector<Value> read = operands_of(item);
      return std::any_of(read.begin(), read.end(), [&](const Value& r) { return root(r) == argument; });
    };
    return std::none_of(writer + 1, items_.end(), reads_it) &&
           std::none_of(region.results.begin(), region.results.end(),
                        [&](const Value& result) { return root(result) == argument; });
  }

  static std::vector<Value> operands_of(const Item& item) {
    switch (item.kind) {
      case Item::Kind::kCall: return item.op->operands;
      case Item::Kind::kCopy: return {item.from};
      case Item::Kind::kIf: return {item.op->operands[0]};
      case Item::Kind::kLeave: return {item.op->regions[0]->results[0]};
      default: return {};
    }
  }

  // Copies values to the arguments of a region, all at once: none is overwritten before it is read.
  void hand_over(const std::vector<Value>& values, const ir::Block& region) {
    std::vector<std::pair<Value, Value>> waiting;
    for (size_t i = 0; i < values.size(); ++i) {
      const Value argument = region.arguments[i]->result();
      if (root(values[i]) != argument) waiting.emplace_back(values[i], argument);
    }
    while (!waiting.empty()) {
      const auto is_free = [&](const auto& move) {
        return std::none_of(waiting.begin(), waiting.end(),
                            [&](const auto& other) { return root(other.first) == move.second; });
      };
      auto next = std::find_if(waiting.begin(), waiting.end(), is_free);
      if (next == waiting.end()) {  // they go round in rings; one value steps aside
        next = waiting.begin();
        const Value aside = step_aside(next->second);
        for (auto& [from, to] : waiting) {
          if (root(from) == next->second) from = aside;
        }
      }
      push({.kind = Item::Kind::kCopy, .from = next->first, .to = next->second});
      waiting.erase(next);
    }
  }

  // A copy of the value in memory of its own.
  Value step_aside(Value v) {
    Op& made = *asides_.emplace_back(std::make_unique<Op>());
    made.code = OpCode::argument;
    made.results = {v.type()};
    stands_for_[made.result()] = v;
    push({.kind = Item::Kind::kCopy, .from = v, .to = made.result()});
    return made.result();
  }

  // A branch computes a result where the conditional wants it, or, where the value is not its own, copies it there.
  void give(const ir::Block& region, Value v, Value result) {
    const Value own = root(v);
    if (own.op->code == OpCode::empty) return;
    const bool computed = own.op->block == &region && !places_.contains(own);
    if (computed && !given_.contains(own)) {
      alias_[own] = result;
      given_.insert({own, true});
    } else {
      push({.kind = Item::Kind::kCopy, .from = v, .to = result});
    }
  }

  void push(Item item) {
    item.branches = branches_;
    items_.push_back(std::move(item));
  }

  // The value whose memory `v` is: a reshape has its operand's, a branch's result the conditional's, a loop's result
  // that of what its first region passes on.
  Value root(Value v) const {
    for (auto it = alias_.find(v); it != alias_.end(); it = alias_.find(v)) v = it->second;
    return v;
  }

  void number_variables() {
    for (const auto& [v, slot] : variables_) plan_.variables.push_back(slot);
    plan_.variables.insert(plan_.variables.end(), slots_.begin(), slots_.end());
    std::sort(plan_.variables.begin(), plan_.variables.end());
    plan_.variables.erase(std::unique(plan_.variables.begin(), plan_.variables.end()), plan_.variables.end());
    for (const auto& [v, slot] : variables_) places_[v] = {Place::Kind::kVariable, variable_index(slot)};
  }

  size_t variable_index(int64_t slot) const {
    return static_cast<size_t>(std::lower_bound(plan_.variables.begin(), plan_.variables.end(), slot) -
                               plan_.variables.begin());
  }

  // ---- lifetimes ----

  void find_uses() {
    for (size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      for (const Value& v : operands_of(item)) uses_[root(v)].push_back(i);
      if (item.kind == Item::Kind::kCall) {
        for (uint32_t r = 0; r < item.op->results.size(); ++r) {
          writers_[root(item.op->result(r))].push_back(i);
        }
      } else if (item.kind == Item::Kind::kCopy) {
        writers_[root(item.to)].push_back(i);
      }
      // The memory of a conditional's results is theirs from its first item to its last at least.
      if (item.kind == Item::Kind::kIf || item.kind == Item::Kind::kEnd) {
        for (uint32_t r = 0; r < item.op->results.size(); ++r) {
          lives_at_[root(item.op->result(r))].push_back(i);
        }
      }
    }
    for (size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].kind == Item::Kind::kRepeat) keep_through_loop(*items_[i].op, i);
    }
    for (const Value& v : graph_.body().results) uses_[root(v)].push_back(items_.size());
  }

  // The arguments of a loop's first region live from one iteration to the next, and what was there before the loop and
  // is used in it is used until its end.
  void keep_through_loop(const Op& loop, size_t end) {
    const auto is_begin = [&](const Item& item) { return item.kind == Item::Kind::kLoop && item.op == &loop; };
    const auto begin = static_cast<size_t>(std::find_if(items_.begin(), items_.end(), is_begin) - items_.begin());
    for (const auto& argument : loop.regions[0]->arguments) lives_at_[argument->result()] = {begin, end};
    for (auto& [v, uses] : uses_) {
      const auto first = std::lower_bound(uses.begin(), uses.end(), begin);
      const auto behind = std::lower_bound(first, uses.end(), end);
      if (first == behind || (writers_.contains(v) && first_item(v) >= begin)) continue;
      if (behind == uses.end() || *behind != end) uses.insert(behind, end);
    }
  }

  size_t first_item(Value v) const {
    size_t first = writers_.at(v).front();
    if (const auto it = lives_at_.find(v); it != lives_at_.end()) first = std::min(first, it->second.front());
    return first;
  }

  size_t last_item(Value v) const {
    size_t last = 0;
    for (const auto* map : {&uses_, &writers_, &lives_at_}) {
      if (const auto it = map->find(v); it != map->end()) last = std::max(last, it->second.back());
    }
    return last;
  }

  // ---- places outside the arena ----

  // A computed value is written straight into the first result it is.
  void claim_results() {
    for (size_t i = 0; i < result_count_; ++i) {
      const Value v = root(graph_.body().results[i]);
      if (!places_.contains(v) && writers_.contains(v)) places_[v] = {Place::Kind::kResult, i};
    }
  }

  // A variable's last value is written straight into the variable where nobody can want the old one any more.
  void claim_variables() {
    std::unordered_map<int64_t, Value> old;
    for (const auto& [v, slot] : variables_) old.emplace(slot, v);
    for (size_t s = 0; s < slots_.size(); ++s) {
      const Value v = root(graph_.body().results[result_count_ + s]);
      if (places_.contains(v) || !writers_.contains(v)) continue;
      const auto known = old.find(slots_[s]);
      if (known == old.end() || may_overwrite(known->second, v)) {
        places_[v] = {Place::Kind::kVariable, variable_index(slots_[s])};
      }
    }
  }

  // Whether every use of `old` comes before every item that writes `v`, is in another branch, or works in place.
  bool may_overwrite(Value old, Value v) {
    const auto uses = uses_.find(old);
    if (uses == uses_.end()) return true;
    for (size_t use : uses->second) {
      for (size_t writer : writers_.at(v)) {
        if (use < writer) continue;
        if (use == items_.size()) return false;
        const Item &reads = items_[use], &writes = items_[writer];
        if (exclusive(reads, writes)) continue;
        const bool kept = reads.kind == Item::Kind::kCopy && root(reads.to) == v;  // the old value stays where it is
        const bool in_place = use == writer && writes.kind == Item::Kind::kCall && works_in_place(writes.op, old, v);
        if (!kept && !in_place) return false;
      }
    }
    return true;
  }

  device::Kernel* kernel_of(const Op* op) {
    auto& kernel = kernels_[op];
    if (!kernel) kernel = device_.make_kernel(*op);
    return kernel.get();
  }

  // Whether the result of `op` that is `v` may be written over every operand that is `old`.
  bool works_in_place(const Op* op, Value old, Value v) {
    for (uint32_t r = 0; r < op->results.size(); ++r) {
      if (root(op->result(r)) != v) continue;
      for (size_t i = 0; i < op->operands.size(); ++i) {
        if (root(op->operands[i]) == old && !kernel_of(op)->in_place(i, r)) return false;
      }
    }
    return true;
  }

  // ---- the arena ----

  void place_item(size_t i) {
    const Item& item = items_[i];
    if (item.kind == Item::Kind::kIf) {
      for (uint32_t r = 0; r < item.op->results.size(); ++r) new_buffer(root(item.op->result(r)));
    }
    if (item.kind == Item::Kind::kCopy) {
      const Value from = root(item.from), v = root(item.to);
      if (!places_.contains(v) && !buffer_of_.contains(v) && !inherit(from, i, v)) new_buffer(v);
    }
    if (item.kind != Item::Kind::kCall) return;
    kernel_of(item.op);
    for (uint32_t r = 0; r < item.op->results.size(); ++r) {
      const Value v = root(item.op->result(r));
      if (!places_.contains(v) && !buffer_of_.contains(v) && !take_over(*item.op, i, v)) new_buffer(v);
    }
  }

  void new_buffer(Value v) {
    if (places_.contains(v) || buffer_of_.contains(v) || !writers_.contains(v)) return;
    buffer_of_[v] = buffers_.size();
    buffers_.push_back({.bytes = v.type().byte_count(),
                        .first = first_item(v),
                        .last = last_item(v),
                        .contents = {{first_item(v), v}}});
  }

  // Puts `v` in the place of an operand that dies here.
  bool take_over(const Op& op, size_t i, Value v) {
    for (const Value& operand : op.operands) {
      if (works_in_place(&op, root(operand), v) && inherit(root(operand), i, v)) return true;
    }
    return false;
  }

  // Puts `v` in the place of a value that dies at this item.
  bool inherit(Value old, size_t i, Value v) {
    const auto it = buffer_of_.find(old);
    if (it == buffer_of_.end()) return false;
    Buffer& buffer = buffers_[it->second];
    if (buffer.last != i || buffer.taken_at == i || buffer.bytes != v.type().byte_count()) return false;
    buffer.taken_at = i;
    buffer.last = last_item(v);
    buffer.contents.emplace_back(i, v);
    buffer_of_[v] = it->second;
    return true;
  }

  // What is not in its place after the last item is copied there: results first, then variables, which results may
  // still be read from. A variable's new value that stands in another variable goes through the arena, since that one
  // may be overwritten first.
  void copy_out() {
    const size_t end = items_.size();
    for (size_t i = 0; i < result_count_; ++i) {
      result_copies_.push_back({root(graph_.body().results[i]), {Place::Kind::kResult, i}});
    }
    for (size_t s = 0; s < slots_.size(); ++s) {
      const Value v = root(graph_.body().results[result_count_ + s]);
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
    for (const Buffer& buffer : buffers_) lifetimes.push_back({aligned(buffer.bytes), buffer.first, buffer.last});
    const Offsets offsets = assign_offsets(lifetimes);
    for (size_t b = 0; b < buffers_.size(); ++b) buffers_[b].offset = offsets.of[b];
    plan_.arena_bytes = offsets.end;
  }

  // Where the buffers that live at one time are largest together, and what is in them then.
  void find_peak() {
    std::vector<int64_t> change(items_.size() + 2, 0);
    for (const Buffer& buffer : buffers_) {
      change[buffer.first] += static_cast<int64_t>(buffer.bytes);
      change[buffer.last + 1] -= static_cast<int64_t>(buffer.bytes);
    }
    std::partial_sum(change.begin(), change.end(), change.begin());
    const auto peak = static_cast<size_t>(std::max_element(change.begin(), change.end()) - change.begin());
    for (const Buffer& buffer : buffers_) {
      if (peak < buffer.first || peak > buffer.last) continue;
      const auto next = std::find_if(buffer.contents.begin(), buffer.contents.end(),
                                     [&](const auto& entry) { return entry.first > peak; });
      const Value v = std::prev(next)->second;
      const auto original = stands_for_.find(v);
      plan_.at_peak.push_back(original == stands_for_.end() ? v : original->second);
    }
  }

  // ---- steps ----

  Place place_of(Value v) const {
    const Value r = root(v);
    if (const auto it = places_.find(r); it != places_.end()) return it->second;
    if (const auto it = buffer_of_.find(r); it != buffer_of_.end()) return arena(it->second);
    return {};
  }

  Place arena(size_t buffer) const { return {Place::Kind::kArena, buffers_[buffer].offset}; }

  void emit() {
    size_t scratch = 0;
    std::vector<size_t> waiting, begins;  // innermost last: jumps whose target is not known yet, loops' first steps
    for (const Item& item : items_) {
      switch (item.kind) {
        case Item::Kind::kCall: scratch = std::max(scratch, emit_call(*item.op)); break;
        case Item::Kind::kCopy: emit_copy(place_of(item.from), place_of(item.to), item.to.type().byte_count()); break;
        case Item::Kind::kIf: waiting.push_back(emit_jump_if_not(item.op->operands[0])); break;
        case Item::Kind::kElse: {
          const size_t over = emit_jump({.kind = Step::Kind::kJump});
          plan_.steps[waiting.back()].target = plan_.steps.size();
          waiting.back() = over;
          break;
        }
        case Item::Kind::kEnd:
          plan_.steps[waiting.back()].target = plan_.steps.size();
          waiting.pop_back();
          break;
        case Item::Kind::kLoop: begins.push_back(plan_.steps.size()); break;
        case Item::Kind::kLeave: waiting.push_back(emit_jump_if_not(item.op->regions[0]->results[0])); break;
        case Item::Kind::kRepeat:
          emit_jump({.kind = Step::Kind::kJump, .target = begins.back()});
          begins.pop_back();
          plan_.steps[waiting.back()].target = plan_.steps.size();
          waiting.pop_back();
          break;
      }
    }
    for (const CopyOut& c : result_copies_) emit_copy(place_of(c.value), c.target, c.value.type().byte_count());
    for (const Detour& d : detours_) emit_copy(place_of(d.value), arena(d.buffer), d.value.type().byte_count());
    for (const CopyOut& c : late_copies_) emit_copy(place_of(c.value), c.target, c.value.type().byte_count());
    for (const Detour& d : detours_) emit_copy(arena(d.buffer), d.target, d.value.type().byte_count());
    plan_.scratch_offset = plan_.arena_bytes;
    plan_.layouts_offset = plan_.arena_bytes += aligned(scratch);
    for (Layout& layout : plan_.layouts) {
      layout.offset += plan_.layouts_offset;
      plan_.steps[layout.step].operands[layout.operand] = {Place::Kind::kArena, layout.offset};
    }
    plan_.arena_bytes += layout_bytes_;
  }

  // Whether no run changes what is there.
  bool lasts(const Place& place) const {
    if (place.kind == Place::Kind::kConstant) return true;
    return place.kind == Place::Kind::kVariable &&
           !std::binary_search(slots_.begin(), slots_.end(), plan_.variables[place.index]);
  }

  // Returns the scratch the call needs.
  size_t emit_call(const Op& op) {
    Step step{.kind = Step::Kind::kCall};
    step.op = &op;
    step.kernel = std::move(kernels_.at(&op));
    for (const Value& v : op.operands) step.operands.push_back(place_of(v));
    for (uint32_t r = 0; r < op.results.size(); ++r) step.results.push_back(place_of(op.result(r)));
    if (const auto own = step.kernel->prepacked(); own && lasts(step.operands[own->operand])) {
      plan_.layouts.push_back({plan_.steps.size(), own->operand, step.operands[own->operand], layout_bytes_});
      layout_bytes_ += aligned(own->bytes);
      step.kernel->take_prepacked();
    }
    const size_t scratch = step.kernel->scratch_bytes();
    plan_.steps.push_back(std::move(step));
    return scratch;
  }

  void emit_copy(Place from, Place to, size_t bytes) {
    if (from == to || bytes == 0 || from.kind == Place::Kind::kNowhere) return;
    plan_.steps.push_back({.kind = Step::Kind::kCopy, .operands = {from}, .results = {to}, .bytes = bytes});
  }

  size_t emit_jump_if_not(Value predicate) {
    return emit_jump(
        {.kind = Step::Kind::kJumpIfNot, .operands = {place_of(predicate)}, .bytes = predicate.type().byte_count()});
  }

  size_t emit_jump(Step step) {
    plan_.steps.push_back(std::move(step));
    return plan_.steps.size() - 1;
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
  Plan plan_;
  std::vector<Item> items_;
  std::vector<std::pair<const Op*, int>> branches_;  // while lining up
  std::vector<std::pair<Value, int64_t>> variables_;
  ValueMap<Value> alias_;
  ValueMap<bool> given_;
  std::vector<std::unique_ptr<Op>> asides_;  // whose results are copies of values of the graph, ...
  ValueMap<Value> stands_for_;               // ... these
  ValueMap<Place> places_;
  ValueMap<std::vector<size_t>> uses_, writers_, lives_at_;  // positions, ascending
  std::unordered_map<const Op*, std::unique_ptr<device::Kernel>> kernels_;
  ValueMap<size_t> buffer_of_;
  std::vector<Buffer> buffers_;
  size_t layout_bytes_ = 0;
  std::vector<CopyOut> result_copies_, late_copies_;
  std::vector<Detour> detours_;
};

}  // namespace

Plan make_plan(const device::Device& device, const ir::Graph& graph, const std::vector<Value>& feeds,
               const std::vector<int64_t>& slots) {
  return Planner(device, graph, feeds, slots).make();
}

}  // namespace alloy::compiler
