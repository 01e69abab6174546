#include "ir/transform/cut.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "ir/transform/walk.h"

namespace alloy::ir {
namespace {

bool is_on_host(const Op& op) { return op.info().facts.host; }

class Cutter {
 public:
  explicit Cutter(const Specialized& step) : step_(step) { order(step.graph->body().ops); }

  Cut run() {
    find_stages();
    find_places();
    for (size_t part = 0; part < cut_.parts.size(); ++part) make_part(part);
    for (const Op* op : ops_) {
      if (is_on_host(*op) && stages_.contains(op)) make_call(*op);
    }
    return std::move(cut_);
  }

 private:
  using Values = std::unordered_set<Value, ValueHash>;

  // Puts each cast of an operand of a call directly behind the op that makes the value. Such casts are written behind
  // all gradients, and a call begins once its operands are computed.
  void order(const std::vector<std::unique_ptr<Op>>& ops) {
    std::unordered_set<const Op*> called;
    for (const auto& op : ops) {
      for (const Value& v : op->operands) {
        if (is_on_host(*op) && v.op->code == OpCode::cast) called.insert(v.op);
      }
    }
    std::unordered_map<const Op*, std::vector<const Op*>> casts;  // by the op behind which they come
    for (const auto& op : ops) {
      if (called.contains(op.get())) casts[op->operands[0].op].push_back(op.get());
    }
    const auto add = [&](auto&& again, const Op* op) -> void {
      ops_.push_back(op);
      for (const Op* cast : casts[op]) again(again, cast);
    };
    for (const auto& op : ops) {
      if (!called.contains(op.get())) add(add, op.get());
    }
  }

  // Finds the first part in which each op can run, and how many there are; a call in stage i follows part i.
  void find_stages() {
    size_t last = 0;
    for (const Op* op : ops_) {
      size_t stage = 0;
      for_each_use(*op, [&](Value v) { stage = std::max(stage, stages_.at(v.op) + (is_on_host(*v.op) ? 1 : 0)); });
      stages_[op] = stage;
      if (is_on_host(*op)) last = std::max(last, stage + 1);
    }
    cut_.parts.resize(last + 1);
    needed_.resize(last + 1);
    handed_.resize(last + 1);
  }

  // Finds the values that each part needs, from the last op to the first, so that ops are computed and calls are made
  // as late as their users allow.
  void find_places() {
    const size_t last = cut_.parts.size() - 1;
    for (const Value& v : step_.graph->body().results) needed_[last].insert(v);
    for (auto it = ops_.rbegin(); it != ops_.rend(); ++it) {
      const Op& op = **it;
      std::vector<size_t> users;
      if (op.info().facts.effect) users.push_back(last);
      for (size_t part = 0; part <= last; ++part) {
        for (uint32_t i = 0; i < op.results.size(); ++i) {
          if (needed_[part].contains(op.result(i)) || handed_[part].contains(op.result(i))) users.push_back(part);
        }
      }
      if (users.empty()) {
        stages_.erase(&op);
      } else if (is_on_host(op)) {
        // Early if nothing is computed for it, since a part of its own would cost more.
        if (!std::all_of(op.operands.begin(), op.operands.end(), is_given)) stages_[&op] = users.front() - 1;
        const size_t stage = stages_.at(&op);
        for (const Value& v : op.operands) handed_[stage].insert(v);
      } else {
        if (!is_free(op)) users = {homes_[&op] = users.front()};
        for (size_t part : users) for_each_use(op, [&](Value v) { needed_[part].insert(v); });
      }
    }
  }

  static bool is_given(const Value& v) { return is_on_host(*v.op) || v.op->operands.empty(); }

  // True if computing the op again costs less than keeping its results.
  static bool is_free(const Op& op) {
    const Facts& facts = op.info().facts;
    if (facts.fresh || facts.effect) return false;
    bool reads = false;
    for (size_t i = 0; i < op.operands.size(); ++i) reads |= op.info().reads(i);
    return !reads || facts.renames || facts.repeats || op.code == OpCode::custom_gradient;
  }

  // Calls f for each value that the op uses; operands whose shape alone is read do not count.
  template <class F>
  static void for_each_use(const Op& op, F f) {
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (op.info().reads(i)) f(op.operands[i]);
    }
    for (const Value& v : op.regions.empty() ? std::vector<Value>() : captures(op)) f(v);
  }

  size_t number(Value v, size_t part) {
    const auto [known, is_new] = numbers_[v].try_emplace(part, cut_.values.size());
    if (is_new) cut_.values.push_back(v.type());
    return known->second;
  }

  // The number of a value in the part that makes it.
  size_t number_in(Value v, size_t user) {
    if (is_on_host(*v.op)) return number(v, stages_.at(v.op));
    const auto home = homes_.find(v.op);
    return number(v, home == homes_.end() ? user : home->second);
  }

  void make_part(size_t index) {
    Part& part = cut_.parts[index];
    Graph& graph = *part.graph;
    ValueMap<Value> copies;
    std::vector<Value> entering;
    for (const Op* op : ops_) {
      const auto home = homes_.find(op);
      bool is_here = !is_on_host(*op) && home != homes_.end() && home->second == index;
      for (uint32_t i = 0; i < op->results.size(); ++i) {
        const Value v = op->result(i);
        const bool is_free = !is_on_host(*op) && home == homes_.end();
        is_here |= is_free && (needed_[index].contains(v) || handed_[index].contains(v));
        if (is_free || is_here || !needed_[index].contains(v)) continue;
        part.entering.push_back(number_in(v, index));
        entering.push_back(copies[v] = placeholder(graph, *op, v.type()));
      }
      if (is_here) copy(*op, part, copies);
    }
    part.placeholders.insert(part.placeholders.end(), entering.begin(), entering.end());
    if (index + 1 == cut_.parts.size()) {
      for (const Value& v : step_.graph->body().results) graph.body().results.push_back(copies.at(v));
    }
    leave(index, copies);
  }

  static Value placeholder(Graph& graph, const Op& op, const Type& type) {
    graph.label_as(op);
    return graph.value(OpCode::placeholder, {}, {{Attr::kShape, type.shape}, {Attr::kDtype, type.dtype}});
  }

  void copy(const Op& op, Part& part, ValueMap<Value>& copies) {
    Graph& graph = *part.graph;
    for (const Value& v : op.operands) {
      if (copies.contains(v)) continue;
      copies[v] = graph.value(OpCode::empty, {}, {{Attr::kShape, v.shape()}, {Attr::kDtype, v.dtype()}});
    }
    Op* const made = copy_into(graph, op, copies);
    if (op.info().facts.effect) graph.body().effects.push_back(made);
    if (op.code != OpCode::placeholder) return;
    const auto feed = std::find(step_.feeds.begin(), step_.feeds.end(), op.result());
    part.feeds.push_back(static_cast<size_t>(feed - step_.feeds.begin()));
    part.placeholders.push_back(made->result());
  }

  // Adds results for the values that later parts or calls need.
  void leave(size_t index, const ValueMap<Value>& copies) {
    Part& part = cut_.parts[index];
    const auto leave_one = [&](Value v) {
      part.leaving.push_back(number(v, index));
      part.graph->body().results.push_back(copies.at(v));
    };
    for (const Op* op : ops_) {
      if (is_on_host(*op) || !stages_.contains(op)) continue;
      const auto home = homes_.find(op);
      if (home != homes_.end() && home->second != index) continue;
      for (uint32_t i = 0; i < op->results.size(); ++i) {
        const Value v = op->result(i);
        const size_t end = home == homes_.end() ? index + 1 : cut_.parts.size();  // parts compute free values
        bool leaves = false;
        for (size_t user = index; user < end; ++user) {
          leaves |= handed_[user].contains(v) || (user != index && needed_[user].contains(v));
        }
        if (leaves) leave_one(v);
      }
    }
  }

  void make_call(const Op& op) {
    const size_t stage = stages_.at(&op);
    HostCall call{&op, {}, {}};
    for (const Value& v : op.operands) call.operands.push_back(number_in(v, stage));
    for (uint32_t i = 0; i < op.results.size(); ++i) call.results.push_back(number_in(op.result(i), stage));
    cut_.parts[stage].calls.push_back(std::move(call));
  }

  const Specialized& step_;
  std::vector<const Op*> ops_;                    // in the order in which the parts have them
  std::unordered_map<const Op*, size_t> stages_;  // of needed ops
  std::unordered_map<const Op*, size_t> homes_;   // the part that computes the op, for ops that are not free
  std::vector<Values> needed_, handed_;           // by part: values used by its ops, by the calls after it
  ValueMap<std::map<size_t, size_t>> numbers_;    // of values, by the part that makes them
  Cut cut_;
};

}  // namespace

bool has_host_ops(const Graph& graph) {
  return std::any_of(graph.body().ops.begin(), graph.body().ops.end(), [](const auto& op) { return is_on_host(*op); });
}

Cut cut(const Specialized& step) { return Cutter(step).run(); }

}  // namespace alloy::ir
