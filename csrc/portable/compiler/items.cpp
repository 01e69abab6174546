#include "compiler/items.h"

#include <algorithm>

#include "compiler/schedule.h"

namespace alloy::compiler {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Value;
using ir::ValueMap;

class LineUp {
 public:
  explicit LineUp(Kernels& kernels) : kernels_(kernels) {}

  Items run(const ir::Graph& graph, const std::vector<int64_t>& slots) {
    for (const Op* op : schedule(graph, slots)) line_up(*op);
    return std::move(items_);
  }

 private:
  void line_up(const Op& op) {
    const Value v = op.result();
    if (op.info().facts.renames) {
      items_.alias[v] = op.operands[0];
      return;
    }
    switch (op.code) {  // ops that make no item; a missing kernel for any other op is an error
      case OpCode::placeholder:
      case OpCode::empty: break;
      case OpCode::constant: items_.constants.push_back(v); break;
      case OpCode::variable: items_.variables.emplace_back(v, op.attributes.integer(ir::Attr::kSlot)); break;
      default: line_up_run(op);
    }
  }

  void line_up_run(const Op& op) {
    switch (op.info().facts.regions.run) {
      case ir::RegionRun::kEither: line_up_branches(op); break;
      case ir::RegionRun::kAlternately: line_up_loop(op); break;
      case ir::RegionRun::kCounted: op.fail("A counted loop has no plan");           // resolve_shapes replaces them
      case ir::RegionRun::kBackwards: op.fail("A region of gradients has no plan");  // the engine lowers none
      case ir::RegionRun::kNever:
      case ir::RegionRun::kOnce: push({.kind = Item::Kind::kCall, .op = &op});
    }
  }

  void line_up_branches(const Op& op) {
    for (int k = 0; k < 2; ++k) {
      push({.kind = k == 0 ? Item::Kind::kIf : Item::Kind::kElse, .op = &op});
      branches_.emplace_back(&op, k);
      const ir::Block& region = *op.regions[k];
      for (const auto& inner : region.ops) line_up(*inner);
      for (uint32_t r = 0; r < op.results.size(); ++r) give(region, region.results[r], op.result(r));
      branches_.pop_back();
    }
    push({.kind = Item::Kind::kEnd, .op = &op});
  }

  // The results of the first region share memory with the arguments of the second region and with the loop's results.
  // The results of the second region are copied to the arguments of the first one.
  void line_up_loop(const Op& op) {
    const ir::Block &before = *op.regions[0], &after = *op.regions[1];
    hand_over(op.operands, before);
    push({.kind = Item::Kind::kLoop, .op = &op});
    branches_.emplace_back(&op, 0);
    for (const auto& inner : before.ops) line_up(*inner);
    for (uint32_t i = 0; i < op.results.size(); ++i) {
      items_.alias[after.arguments[i]->result()] = before.results[i + 1];
      items_.alias[op.result(i)] = before.results[i + 1];
    }
    push({.kind = Item::Kind::kLeave, .op = &op});
    branches_.back().second = 1;
    const size_t begin = items_.list.size();
    for (const auto& inner : after.ops) line_up(*inner);
    for (size_t i = 0; i < after.results.size(); ++i) {
      if (may_become(after, i, before.arguments[i]->result(), begin)) {
        items_.alias[items_.root(after.results[i])] = before.arguments[i]->result();
      }
    }
    hand_over(after.results, before);
    branches_.pop_back();
    push({.kind = Item::Kind::kRepeat, .op = &op});
  }

  // True if result `i` of a region, whose items start at `begin`, can be computed in the memory of the argument:
  // nothing reads the argument after that computation, which may itself work in place.
  bool may_become(const ir::Block& region, size_t i, Value argument, size_t begin) {
    const Value v = items_.root(region.results[i]);
    const auto computes = [&](const Item& item) { return item.kind == Item::Kind::kCall && item.op == v.op; };
    const auto first = items_.list.begin() + static_cast<long>(begin);
    const auto writer = std::find_if(first, items_.list.end(), computes);
    if (v.op->block != &region || writer == items_.list.end()) return false;
    for (size_t k = 0; k < v.op->operands.size(); ++k) {
      if (items_.root(v.op->operands[k]) == argument && !kernels_.of(*v.op).in_place(k, v.index)) return false;
    }
    const auto reads_it = [&](const Item& item) {
      const std::vector<Value> read = item.operands();
      return std::any_of(read.begin(), read.end(), [&](const Value& r) { return items_.root(r) == argument; });
    };
    return std::none_of(writer + 1, items_.list.end(), reads_it) &&
           std::none_of(region.results.begin(), region.results.end(),
                        [&](const Value& result) { return items_.root(result) == argument; });
  }

  // Copies values to the arguments of a region as if all at once: reads each value before anything overwrites it.
  void hand_over(const std::vector<Value>& values, const ir::Block& region) {
    std::vector<std::pair<Value, Value>> waiting;
    for (size_t i = 0; i < values.size(); ++i) {
      const Value argument = region.arguments[i]->result();
      if (items_.root(values[i]) != argument) waiting.emplace_back(values[i], argument);
    }
    while (!waiting.empty()) {
      const auto is_free = [&](const auto& move) {
        return std::none_of(waiting.begin(), waiting.end(),
                            [&](const auto& other) { return items_.root(other.first) == move.second; });
      };
      auto next = std::find_if(waiting.begin(), waiting.end(), is_free);
      if (next == waiting.end()) {  // the values form a ring: move one out of the way
        next = waiting.begin();
        const Value aside = step_aside(next->second);
        for (auto& [from, to] : waiting) {
          if (items_.root(from) == next->second) from = aside;
        }
      }
      push({.kind = Item::Kind::kCopy, .from = next->first, .to = next->second});
      waiting.erase(next);
    }
  }

  // A copy of the value in memory of its own.
  Value step_aside(Value v) {
    Op& made = *items_.asides.emplace_back(std::make_unique<Op>());
    made.code = OpCode::argument;
    made.results = {v.type()};
    items_.stands_for[made.result()] = v;
    push({.kind = Item::Kind::kCopy, .from = v, .to = made.result()});
    return made.result();
  }

  // Computes a branch's result in the memory of the conditional's result, or copies it there if the branch did not
  // compute it.
  void give(const ir::Block& region, Value v, Value result) {
    const Value own = items_.root(v);
    if (own.op->code == OpCode::empty) return;
    const bool computed = own.op->block == &region && own.op->code != OpCode::constant;
    if (computed && !given_.contains(own)) {
      items_.alias[own] = result;
      given_.insert({own, true});
    } else {
      push({.kind = Item::Kind::kCopy, .from = v, .to = result});
    }
  }

  void push(Item item) {
    item.branches = branches_;
    items_.list.push_back(std::move(item));
  }

  Kernels& kernels_;
  Items items_;
  std::vector<std::pair<const Op*, int>> branches_;  // the regions around the current op
  ValueMap<bool> given_;
};

}  // namespace

device::Kernel& Kernels::of(const Op& op) {
  auto& kernel = kernels_[&op];
  if (!kernel) kernel = device_.make_kernel(op);
  if (!kernel) kernel = make_on_host_(op);
  return *kernel;
}

std::vector<Value> Item::operands() const {
  switch (kind) {
    case Item::Kind::kCall: return op->operands;
    case Item::Kind::kCopy: return {from};
    case Item::Kind::kIf: return {op->operands[0]};
    case Item::Kind::kLeave: return {op->regions[0]->results[0]};
    default: return {};
  }
}

bool exclusive(const Item& a, const Item& b) {
  for (size_t i = 0; i < std::min(a.branches.size(), b.branches.size()); ++i) {
    if (a.branches[i].first != b.branches[i].first) return false;
    if (a.branches[i].second != b.branches[i].second) {
      return a.branches[i].first->info().facts.regions.run == ir::RegionRun::kEither;
    }
  }
  return false;
}

Value Items::root(Value v) const {
  for (auto it = alias.find(v); it != alias.end(); it = alias.find(v)) v = it->second;
  return v;
}

Items line_up(const ir::Graph& graph, const std::vector<int64_t>& slots, Kernels& kernels) {
  return LineUp(kernels).run(graph, slots);
}

}  // namespace alloy::compiler
