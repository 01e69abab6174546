#include "compiler/schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ir/transform/walk.h"

namespace alloy::compiler {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Value;

class Scheduler {
 public:
  Scheduler(const ir::Graph& graph, const std::vector<int64_t>& slots) : body_(graph.body()) {
    for (const auto& op : body_.ops) {
      if (op->info().facts.renames) continue;
      for (const Value& v : ir::used_values(*op)) {
        const Value read = unshaped(v);
        used_.insert(read.op);
        if (read.op->code == OpCode::variable) {
          readers_[read.op->attributes.integer(ir::Attr::kSlot)].push_back(op.get());
        }
      }
    }
    const size_t first = body_.results.size() - slots.size();
    for (size_t i = 0; i < slots.size(); ++i) written_[unshaped(body_.results[first + i]).op].push_back(slots[i]);
    for (size_t i = 0; i < first; ++i) fetched_.insert(unshaped(body_.results[i]).op);
  }

  std::vector<const Op*> run() {
    for (const auto& op : body_.ops) {
      if (is_scalar(*op)) emit(op.get());
    }
    // Both kinds come as early as possible: updates, because gradients can be freed after them; single numbers, because
    // updates may wait for them.
    for (const auto& op : body_.ops) {
      if (is_update(op.get()) || (!emitted_.contains(op.get()) && gives_one_number(*op))) hold_back(op.get());
    }
    for (const auto& op : body_.ops) {
      if (!waits_.contains(op.get())) emit(op.get());
    }
    // Updates that read each other's variables wait for each other; emit them in order.
    for (const auto& op : body_.ops) emit(op.get());
    return std::move(order_);
  }

 private:
  static Value unshaped(Value v) {
    while (v.op->info().facts.renames) v = v.op->operands[0];
    return v;
  }

  // True if the op has no operands, or gives one number made of such numbers: optimizers' coefficients, for which
  // updates would otherwise wait.
  bool is_scalar(const Op& op) const {
    if (op.operands.empty()) return op.regions.empty();
    return gives_one_number(op) && std::all_of(op.operands.begin(), op.operands.end(), [&](const Value& v) {
             return emitted_.contains(v.op) && v.shape().element_count() == 1 && v.op->code != OpCode::placeholder;
           });
  }

  static bool gives_one_number(const Op& op) {
    const ir::RegionRun run = op.info().facts.regions.run;
    return (run == ir::RegionRun::kNever || run == ir::RegionRun::kOnce) &&
           std::all_of(op.results.begin(), op.results.end(),
                       [](const ir::Type& type) { return type.shape.element_count() == 1; });
  }

  // True if the op only gives final values of variables.
  bool is_update(const Op* op) const {
    return written_.contains(op) && !emitted_.contains(op) && !used_.contains(op) && !fetched_.contains(op);
  }

  void hold_back(const Op* op) {
    std::set<const Op*>& waits = waits_[op];
    for (const Value& v : ir::used_values(*op)) {
      if (!emitted_.contains(v.op)) waits.insert(v.op);
    }
    if (is_update(op)) {
      for (int64_t slot : written_.at(op)) {
        for (const Op* reader : readers_[slot]) {
          if (reader != op && !emitted_.contains(reader)) waits.insert(reader);
        }
      }
    }
    for (const Op* other : waits) waiting_[other].push_back(op);
    if (waits.empty()) emit(op);
  }

  void emit(const Op* op) {
    std::vector<const Op*> next = {op};
    while (!next.empty()) {
      const Op* now = next.back();
      next.pop_back();
      if (!emitted_.insert(now).second) continue;
      order_.push_back(now);
      std::vector<const Op*> ready;
      for (const Op* update : waiting_[now]) {
        if (waits_[update].erase(now) > 0 && waits_[update].empty()) ready.push_back(update);
      }
      next.insert(next.end(), ready.rbegin(), ready.rend());
    }
  }

  const ir::Block& body_;
  std::unordered_set<const Op*> used_;                           // ops whose results another op uses, perhaps reshaped
  std::map<int64_t, std::vector<const Op*>> readers_;            // by slot, ops that read the variable's first value
  std::unordered_map<const Op*, std::vector<int64_t>> written_;  // slots of the variables that the op updates
  std::unordered_set<const Op*> fetched_;                        // ops that give other results
  std::unordered_map<const Op*, std::set<const Op*>> waits_;     // the ops that an update waits for
  std::unordered_map<const Op*, std::vector<const Op*>> waiting_;  // the updates that wait for an op
  std::unordered_set<const Op*> emitted_;
  std::vector<const Op*> order_;
};

}  // namespace

std::vector<const Op*> schedule(const ir::Graph& graph, const std::vector<int64_t>& slots) {
  return Scheduler(graph, slots).run();
}

}  // namespace alloy::compiler
