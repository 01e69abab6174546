// Runs a graph in double precision: the ops that run, in their order, computed by the reference (reference/). Tests
// compare gradients and compiled programs with it.
#pragma once

#include <map>
#include <set>

#include "graph_builder.h"
#include "reference/reference.h"

namespace alloy::test {

using reference::Array;

// How a graph runs, whatever its tensors hold: which ops are needed, in which order, and what passes through regions.
template <class Contents>
class GraphRun {
 public:
  virtual ~GraphRun() = default;

 protected:
  // An op without regions, or a counted loop.
  virtual void run_op(const Op& op) = 0;
  virtual bool is_true(const Contents& predicate) const = 0;

  void run(const Block& body, const std::vector<Value>& results, const std::vector<Op*>& effects) {
    needed_.clear();
    for (const Value& v : results) need(v.op);
    for (const Op* op : effects) need(op);
    run_block(body);
  }

  // One op, whose operands have values.
  void run_alone(const Op& op) {
    needed_.clear();
    need(&op);
    run_any(op);
  }

  const Contents& x(const Op& op, size_t i = 0) const { return values_.at(op.operands[i]); }

  std::vector<Contents> all_of(const std::vector<Value>& values) const {
    std::vector<Contents> all;
    for (const Value& v : values) all.push_back(values_.at(v));
    return all;
  }

  void give(const Op& op, Contents contents, uint32_t result = 0) { values_[op.result(result)] = std::move(contents); }

  void give_all(const Op& op, const std::vector<Contents>& all) {
    for (uint32_t i = 0; i < all.size(); ++i) give(op, all[i], i);
  }

  // One pass through a region of a loop.
  std::vector<Contents> pass(const Block& region, const std::vector<Contents>& arguments) {
    EXPECT_EQ(arguments.size(), region.arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i) values_[region.arguments[i]->result()] = arguments[i];
    run_block(region);
    return all_of(region.results);
  }

  ValueMap<Contents> values_;

 private:
  // An op needs its operands, the ops that come before it, and the outside values that its regions use.
  void need(const Op* op) {
    if (!needed_.insert(op).second) return;
    for (const Value& v : op->operands) need(v.op);
    for (const Op* before : op->after) need_before(before);
    for (const auto& region : op->regions) {
      for (const Value& v : region->results) need(v.op);
      for (const Op* effect : region->effects) need(effect);
    }
  }

  // An op in a region runs with the op that holds the region.
  void need_before(const Op* op) {
    need(op);
    for (const Block* block = op->block; block->parent != nullptr; block = block->parent->block) need(block->parent);
  }

  void run_block(const Block& block) {
    for (const auto& op : block.ops) {
      if (needed_.contains(op.get())) run_any(*op);
    }
  }

  void run_any(const Op& op) {
    switch (op.code) {
      case OpCode::if_else: return run_region(op, is_true(x(op)) ? 0 : 1);
      case OpCode::fused: return run_region(op, 0);
      case OpCode::while_loop: return while_loop(op);
      default: return run_op(op);
    }
  }

  void run_region(const Op& op, size_t i) {
    run_block(*op.regions[i]);
    give_all(op, all_of(op.regions[i]->results));
  }

  void while_loop(const Op& op) {
    std::vector<Contents> carried = all_of(op.operands);
    while (true) {
      const std::vector<Contents> passed = pass(*op.regions[0], carried);
      carried.assign(passed.begin() + 1, passed.end());
      if (!is_true(passed[0])) break;
      carried = pass(*op.regions[1], carried);
    }
    give_all(op, carried);
  }

  std::set<const Op*> needed_;
};

// A graph's meaning in numbers: ops by the reference, and the state of variables.
class Interpreter : private GraphRun<Array> {
 public:
  // The state of variables by slot, from run to run; a variable that is not here has its initial value.
  std::map<int64_t, Array> state;

  // One run. `feeds` are the placeholders' values.
  std::vector<Array> run(const std::vector<std::pair<Value, Array>>& feeds, const std::vector<Value>& results,
                         const std::vector<Op*>& effects) {
    values_.clear();
    for (const auto& [placeholder, array] : feeds) values_[placeholder] = array;
    for (const auto& [slot, array] : state) current_[slot] = array;
    start_ = state;
    const Op* any = !results.empty() ? results[0].op : !effects.empty() ? effects[0] : nullptr;
    if (any != nullptr) GraphRun::run(*any->block, results, effects);
    for (const auto& [slot, array] : current_) state[slot] = array;
    return all_of(results);
  }

 private:
  bool is_true(const Array& predicate) const override { return predicate.values.at(0) != 0; }

  void run_op(const Op& op) override {
    const auto slot_of = [&] { return op.operands[0].op->attributes.integer(Attr::kSlot); };
    switch (op.code) {
      case OpCode::placeholder: ASSERT_TRUE(values_.contains(op.result())) << "not fed"; return;
      case OpCode::constant: return give(op, literal(*op.attributes.get<LiteralRef>(Attr::kValue)));
      // NaN, so that an op that uses the elements is noticed.
      case OpCode::empty:
      case OpCode::shaped:
        return give(op, op.results[0].is_static() ? Array(op.results[0].shape.dims(), NAN) : Array());
      case OpCode::variable: return give(op, variable(op));
      case OpCode::read_variable: return give(op, current_.at(slot_of()));
      case OpCode::assign: current_[slot_of()] = x(op, 1); return;
      case OpCode::for_loop: return for_loop(op);
      default:
        ASSERT_TRUE(reference::has_function(op)) << op.info().name << " has no function in csrc/reference";
        give_all(op, reference::compute(op, all_of(op.operands)));
    }
  }

  Array variable(const Op& op) {
    const int64_t slot = op.attributes.integer(Attr::kSlot);
    if (!current_.contains(slot)) current_[slot] = literal(*op.attributes.get<LiteralRef>(Attr::kValue));
    if (!start_.contains(slot)) start_[slot] = current_[slot];
    return start_[slot];
  }

  void for_loop(const Op& op) {
    std::vector<Array> carried = all_of(op.operands);
    const double lower = carried[0].values.at(0), upper = carried[1].values.at(0), step = carried[2].values.at(0);
    carried.erase(carried.begin(), carried.begin() + 3);
    const size_t kept = carried.size();
    std::vector<Array> stacks;
    for (size_t r = kept; r < op.results.size(); ++r) stacks.push_back(Array(op.results[r].shape.dims()));
    size_t row = 0;
    for (double i = lower; step > 0 && i < upper; i += step, ++row) {
      carried.insert(carried.begin(), Array({}, i));
      carried = pass(*op.regions[0], carried);
      for (size_t s = 0; s < stacks.size(); ++s) {
        const std::vector<double>& values = carried[kept + s].values;
        std::copy(values.begin(), values.end(), stacks[s].values.begin() + static_cast<long>(row * values.size()));
      }
      carried.resize(kept);
    }
    carried.insert(carried.end(), stacks.begin(), stacks.end());
    give_all(op, carried);
  }

  static Array literal(const Literal& value) {
    Array out(value.type().shape.dims());
    for (size_t i = 0; i < out.size(); ++i) out.values[i] = value.at(static_cast<int64_t>(i));
    return out;
  }

  std::map<int64_t, Array> start_, current_;
};

}  // namespace alloy::test
