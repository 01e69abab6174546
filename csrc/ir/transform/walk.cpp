#include "ir/transform/walk.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace alloy::ir {

namespace {

// Calls f with every value of an outer block that the regions of `op` use.
void for_each_capture(const Op& op, const std::function<void(Value)>& f) {
  for (const auto& region : op.regions) {
    std::unordered_set<const Op*> inside;
    for (const auto& argument : region->arguments) inside.insert(argument.get());
    for (const auto& inner : region->ops) {
      inside.insert(inner.get());
      for (const Value& v : inner->operands) {
        if (!inside.contains(v.op)) f(v);
      }
      for_each_capture(*inner, [&](Value v) {
        if (!inside.contains(v.op)) f(v);
      });
    }
    for (const Value& v : region->results) {
      if (!inside.contains(v.op)) f(v);
    }
  }
}

bool has_op(const Block& block, const std::function<bool(const Op&)>& is_such) {
  return std::any_of(block.ops.begin(), block.ops.end(), [&](const auto& op) {
    return is_such(*op) || std::any_of(op->regions.begin(), op->regions.end(),
                                       [&](const auto& region) { return has_op(*region, is_such); });
  });
}

}  // namespace

bool has_op(const Graph& graph, const std::function<bool(const Op&)>& is_such) { return has_op(graph.body(), is_such); }

std::vector<Value> captures(const Op& op) {
  std::vector<Value> found;
  std::unordered_set<Value, ValueHash> seen;
  for_each_capture(op, [&](Value v) {
    if (seen.insert(v).second) found.push_back(v);
  });
  return found;
}

std::vector<Value> used_values(const Op& op) {
  std::vector<Value> used = op.operands;
  const std::vector<Value> captured = captures(op);
  used.insert(used.end(), captured.begin(), captured.end());
  return used;
}

std::vector<Op*> live_ops(const std::vector<Value>& results, const std::vector<Op*>& effects, For purpose) {
  std::vector<Op*> seen;            // by id: hashing would take longer than all other work
  std::unordered_set<Op*> foreign;  // ops of other graphs with the same ids
  std::vector<Op*> stack;
  auto visit = [&](Op* op) {
    if (op == nullptr) return;
    if (op->id >= seen.size()) seen.resize(std::max<size_t>(op->id + 1, 2 * seen.size()));
    Op*& own = seen[op->id];
    if (own == op || (own != nullptr && !foreign.insert(op).second)) return;
    if (own == nullptr) own = op;
    stack.push_back(op);
  };
  for (const Value& v : results) visit(v.op);
  for (Op* op : effects) visit(op);
  while (!stack.empty()) {
    Op* op = stack.back();
    stack.pop_back();
    for (const Value& v : op->operands) visit(v.op);
    for (Op* before : op->after) visit(before);
    if (op->info().facts.regions.run == RegionRun::kBackwards && purpose == For::kRunning) continue;
    for (const auto& region : op->regions) {
      for (const Value& v : region->results) visit(v.op);
      for (Op* effect : region->effects) visit(effect);
    }
  }
  // Ops inside regions were visited only to find the captured values and the ops that must come first. Arguments exist
  // on entry.
  const auto is_left_out = [&](Op* op) {
    Op* const parent = op->block->parent;
    const bool is_inside =
        parent != nullptr && parent->id < seen.size() && (seen[parent->id] == parent || foreign.contains(parent));
    return is_inside || op->code == OpCode::argument;
  };
  std::vector<Op*> ordered;
  for (Op* op : seen) {
    if (op != nullptr && !is_left_out(op)) ordered.push_back(op);
  }
  if (foreign.empty()) return ordered;
  for (Op* op : foreign) {
    if (!is_left_out(op)) ordered.push_back(op);
  }
  std::sort(ordered.begin(), ordered.end(), [](Op* a, Op* b) { return a->id < b->id; });
  return ordered;
}

namespace {

// Calls f with the op and all ops in its regions, at any depth.
void for_each_nested(const Op& op, const std::function<void(const Op&)>& f) {
  f(op);
  for (const auto& region : op.regions) {
    for (const auto& inner : region->ops) for_each_nested(*inner, f);
  }
}

}  // namespace

std::vector<std::vector<Op*>> stages(const std::vector<Value>& results, const std::vector<Op*>& effects) {
  std::vector<std::vector<Op*>> out;
  std::unordered_map<const Op*, size_t> behind;  // for an op, the first stage that may use it
  struct Accessed {
    size_t assigned = 0, read = 0;  // the same for accesses of a variable
  };
  std::unordered_map<int64_t, Accessed> state;
  auto slot_of = [](const Op& op) { return op.operands[0].op->attributes.integer(Attr::kSlot); };
  for (Op* op : live_ops(results, effects)) {
    size_t stage = 0;
    auto wait_for = [&](const Op* other) {
      if (const auto it = behind.find(other); it != behind.end()) stage = std::max(stage, it->second);
    };
    for (const Value& v : op->operands) wait_for(v.op);
    for (const Value& v : captures(*op)) wait_for(v.op);
    for_each_nested(*op, [&](const Op& inner) {
      for (const Op* before : inner.after) wait_for(before);
      if (inner.code == OpCode::read_variable) stage = std::max(stage, state[slot_of(inner)].assigned);
      if (inner.code == OpCode::assign) {
        stage = std::max({stage, state[slot_of(inner)].assigned, state[slot_of(inner)].read});
      }
    });
    for_each_nested(*op, [&](const Op& inner) {
      if (inner.code == OpCode::read_variable) {
        state[slot_of(inner)].read = std::max(state[slot_of(inner)].read, stage + 1);
      }
      if (inner.code == OpCode::assign) state[slot_of(inner)].assigned = stage + 1;
    });
    behind[op] = stage + 1;
    if (out.size() == stage) out.emplace_back();
    out[stage].push_back(op);
  }
  return out;
}

}  // namespace alloy::ir
