#include "runtime/plan.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace alloy::portable {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Value;
using ir::ValueMap;

constexpr size_t kAlignment = 64;
size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// One stretch of the arena: the values that share it in place of one another, from its first step to its last.
struct Buffer {
  size_t bytes;
  size_t first;
  size_t last;
  size_t taken_at = SIZE_MAX;  // the last step whose result took the place of an operand
  size_t offset = 0;
};

class Planner {
 public:
  Planner(const ir::Graph& graph, const std::vector<Value>& feeds, const std::vector<int64_t>& slots)
      : graph_(graph), slots_(slots), result_count_(graph.body().results.size() - slots.size()) {
    for (size_t i = 0; i < feeds.size(); ++i) places_[feeds[i]] = {Place::Kind::kFeed, i};
  }

  Plan make() {
    collect();
    find_last_uses();
    claim_results();
    claim_variables();
    for (size_t i = 0; i < ops_.size(); ++i) place_step(i);
    finish_outputs();
    lay_out();
    return std::move(plan_);
  }

 private:
  // Places what is not computed and lists what is.
  void collect() {
    for (const auto& op : graph_.body().ops) {
      const Value v{op.get(), 0};
      switch (op->code) {
        case OpCode::placeholder:
        case OpCode::empty: break;
        case OpCode::constant: {
          const ir::Literal& literal = *op->attributes.get<ir::LiteralRef>(ir::Attr::kValue);
          places_[v] = {Place::Kind::kConstant, plan_.constants.size()};
          literal.fill(plan_.constants.emplace_back(literal.type().byte_count()).data());
          break;
        }
        case OpCode::variable: variable_place(v, op->attributes.integer(ir::Attr::kSlot)); break;
        case OpCode::reshape: alias_[v] = root(op->operands[0]); break;
        default: ops_.push_back(op.get());
      }
    }
    for (int64_t slot : slots_) variable_index(slot);
    std::sort(plan_.variables.begin(), plan_.variables.end());
    for (auto& [v, slot] : variable_values_) places_[v] = {Place::Kind::kVariable, variable_index(slot)};
  }

  void variable_place(Value v, int64_t slot) {
    variable_index(slot);
    variable_values_.emplace_back(v, slot);
  }

  size_t variable_index(int64_t slot) {
    auto it = std::find(plan_.variables.begin(), plan_.variables.end(), slot);
    if (it == plan_.variables.end()) it = plan_.variables.insert(plan_.variables.end(), slot);
    return static_cast<size_t>(it - plan_.variables.begin());
  }

  // The value whose memory `v` is: reshapes share their operand's.
  Value root(Value v) const {
    const auto it = alias_.find(v);
    return it == alias_.end() ? v : it->second;
  }

  void find_last_uses() {
    for (size_t i = 0; i < ops_.size(); ++i) {
      for (const Value& v : ops_[i]->operands) last_use_[root(v)] = i;
      for (uint32_t r = 0; r < ops_[i]->results.size(); ++r) last_use_.try_emplace(Value{const_cast<Op*>(ops_[i]), r}, i);
    }
    for (const Value& v : graph_.body().results) last_use_[root(v)] = ops_.size();
  }

  bool is_computed(Value v) const { return !places_.contains(v) || places_.at(v).kind == Place::Kind::kResult; }

  // A computed value is written straight into the first result it is.
  void claim_results() {
    for (size_t i = 0; i < result_count_; ++i) {
      const Value v = root(graph_.body().results[i]);
      if (!places_.contains(v) && v.op->code != OpCode::empty) places_[v] = {Place::Kind::kResult, i};
    }
  }

  // A variable's last value is written straight into the variable where nothing reads the old one after (or while, unless the kernel can
  // work in place).
  void claim_variables() {
    std::unordered_map<const Op*, size_t> index;
    for (size_t i = 0; i < ops_.size(); ++i) index[ops_[i]] = i;
    for (size_t s = 0; s < slots_.size(); ++s) {
      const Value v = root(graph_.body().results[result_count_ + s]);
      if (places_.contains(v) || !index.contains(v.op)) continue;
      const size_t step = index.at(v.op);
      bool safe = true;
      for (const auto& [old, slot] : variable_values_) {
        if (slot != slots_[s] || !last_use_.contains(old) || last_use_.at(old) < step) continue;
        safe = safe && last_use_.at(old) == step && works_in_place(v.op, old, v.index);
      }
      if (safe) places_[v] = {Place::Kind::kVariable, variable_index(slots_[s])};
    }
  }

  Kernel* kernel_of(const Op* op) {
    auto& kernel = kernels_[op];
    if (!kernel) kernel = make_kernel(*op);
    return kernel.get();
  }

  // Whether `result` of `op` may be written over every operand that is `old`.
  bool works_in_place(const Op* op, Value old, uint32_t result) {
    for (size_t i = 0; i < op->operands.size(); ++i) {
      if (root(op->operands[i]) == old && !kernel_of(op)->in_place(i, result)) return false;
    }
    return true;
  }

  void place_step(size_t i) {
    const Op* op = ops_[i];
    kernel_of(op);
    for (uint32_t r = 0; r < op->results.size(); ++r) {
      const Value v{const_cast<Op*>(op), r};
      if (places_.contains(v)) continue;
      const size_t bytes = v.type().byte_count();
      if (!take_over(op, i, v, bytes)) {
        buffer_of_[v] = buffers_.size();
        buffers_.push_back({.bytes = bytes, .first = i, .last = last_use_.at(v)});
      }
    }
  }

  // Puts `v` in the place of an operand that dies here.
  bool take_over(const Op* op, size_t i, Value v, size_t bytes) {
    for (const Value& operand : op->operands) {
      const Value old = root(operand);
      const auto it = buffer_of_.find(old);
      if (it == buffer_of_.end() || last_use_.at(old) != i || buffers_[it->second].bytes != bytes || buffers_[it->second].last != i) continue;
      if (buffers_[it->second].taken_at == i || !works_in_place(op, old, v.index)) continue;
      buffers_[it->second].taken_at = i;
      buffers_[it->second].last = last_use_.at(v);
      buffer_of_[v] = it->second;
      return true;
    }
    return false;
  }

  // What is not in its place after the last step is copied there: results first, then variables, which results may still be read from.
  // A variable's new value that is another variable's old one goes through the arena, since that one may be overwritten first.
  void finish_outputs() {
    const size_t end = ops_.size();
    for (size_t i = 0; i < result_count_; ++i) add_copy(root(graph_.body().results[i]), {Place::Kind::kResult, i});
    std::vector<std::pair<Value, size_t>> through_arena;
    for (size_t s = 0; s < slots_.size(); ++s) {
      const Value v = root(graph_.body().results[result_count_ + s]);
      const Place target{Place::Kind::kVariable, variable_index(slots_[s])};
      const auto it = places_.find(v);
      if (it == places_.end() || it->second.kind != Place::Kind::kVariable || it->second == target) {
        late_copies_.push_back({v, target});
      } else {
        through_arena.emplace_back(v, buffers_.size());
        buffers_.push_back({.bytes = v.type().byte_count(), .first = end, .last = end});
        copies_to_arena_.push_back({v, through_arena.back().second});
        copies_from_arena_.push_back({through_arena.back().second, target, v.type().byte_count()});
      }
    }
  }

  void add_copy(Value v, Place target) {
    if (places_.contains(v) && places_.at(v) == target) return;
    result_copies_.push_back({v, target});
  }

  // Offsets: the largest buffers first, each at the lowest offset where it meets no other that lives at the same time.
  void lay_out() {
    std::vector<size_t> order(buffers_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return buffers_[a].bytes > buffers_[b].bytes; });
    std::vector<size_t> placed;
    for (size_t b : order) {
      Buffer& buffer = buffers_[b];
      std::vector<const Buffer*> rivals;
      for (size_t p : placed) {
        if (buffers_[p].first <= buffer.last && buffer.first <= buffers_[p].last) rivals.push_back(&buffers_[p]);
      }
      std::sort(rivals.begin(), rivals.end(), [](const Buffer* x, const Buffer* y) { return x->offset < y->offset; });
      size_t offset = 0;
      for (const Buffer* rival : rivals) {
        if (offset + aligned(buffer.bytes) <= rival->offset) break;
        offset = std::max(offset, rival->offset + aligned(rival->bytes));
      }
      buffer.offset = offset;
      plan_.arena_bytes = std::max(plan_.arena_bytes, offset + aligned(buffer.bytes));
      placed.push_back(b);
    }
    emit();
  }

  Place place_of(Value v) const {
    const Value r = root(v);
    if (const auto it = places_.find(r); it != places_.end()) return it->second;
    if (const auto it = buffer_of_.find(r); it != buffer_of_.end()) return {Place::Kind::kArena, buffers_[it->second].offset};
    return {};
  }

  void emit() {
    size_t scratch = 0;
    for (const Op* op : ops_) {
      Step step;
      step.op = op;
      step.kernel = std::move(kernels_.at(op));
      for (const Value& v : op->operands) step.operands.push_back(place_of(v));
      for (uint32_t r = 0; r < op->results.size(); ++r) step.results.push_back(place_of({const_cast<Op*>(op), r}));
      scratch = std::max(scratch, step.kernel->scratch_bytes());
      plan_.steps.push_back(std::move(step));
    }
    for (const auto& [v, target] : result_copies_) emit_copy(place_of(v), target, v.type().byte_count());
    for (const auto& [v, b] : copies_to_arena_) emit_copy(place_of(v), {Place::Kind::kArena, buffers_[b].offset}, v.type().byte_count());
    for (const auto& [v, target] : late_copies_) emit_copy(place_of(v), target, v.type().byte_count());
    for (const auto& [b, target, bytes] : copies_from_arena_) emit_copy({Place::Kind::kArena, buffers_[b].offset}, target, bytes);
    plan_.scratch_offset = plan_.arena_bytes;
    plan_.arena_bytes += aligned(scratch);
  }

  void emit_copy(Place from, Place to, size_t bytes) {
    if (from == to || from.kind == Place::Kind::kNowhere) return;
    Step step;
    step.operands = {from};
    step.results = {to};
    step.copy_bytes = bytes;
    plan_.steps.push_back(std::move(step));
  }

  struct CopyOut {
    Value value;
    Place target;
  };
  struct CopyFromArena {
    size_t buffer;
    Place target;
    size_t bytes;
  };

  const ir::Graph& graph_;
  const std::vector<int64_t>& slots_;
  const size_t result_count_;
  Plan plan_;
  std::vector<const Op*> ops_;
  std::unordered_map<const Op*, std::unique_ptr<Kernel>> kernels_;
  std::vector<std::pair<Value, int64_t>> variable_values_;
  ValueMap<Value> alias_;
  ValueMap<Place> places_;
  ValueMap<size_t> last_use_;
  ValueMap<size_t> buffer_of_;
  std::vector<Buffer> buffers_;
  std::vector<CopyOut> result_copies_, late_copies_;
  std::vector<std::pair<Value, size_t>> copies_to_arena_;
  std::vector<CopyFromArena> copies_from_arena_;
};

}  // namespace

Plan make_plan(const ir::Graph& graph, const std::vector<Value>& feeds, const std::vector<int64_t>& slots) {
  return Planner(graph, feeds, slots).make();
}

}  // namespace alloy::portable
