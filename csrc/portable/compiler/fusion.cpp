// Fusion of elementwise ops, optimizer steps and reductions of rows that feed each other, and of an op that leads them,
// such as a product of matrices. The values between the ops of a group never leave the cache.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/passes.h"
#include "ir/transform/regions.h"
#include "ir/transform/walk.h"

namespace alloy::compiler {
namespace {

using ir::Block;
using ir::Graph;
using ir::Op;
using ir::OpCode;
using ir::Value;
using ir::ValueMap;

// The most tiles (parts of values) that an op adds to its group: its operands and results, less the one that it shares
// with the group.
size_t tiles(const Op& op) { return op.operands.size() + op.results.size() - 1; }

// The ops of one block, divided into groups. Each group becomes one op, so a group must not depend on itself by way of
// another group. A group has values of one shape, and perhaps values for each row of that shape.
class Groups {
 public:
  Groups(const Block& block, const device::FusionPolicy& policy)
      : policy_(policy),
        ops_(block.ops),
        inputs_(block.ops.size()),
        users_(block.ops.size()),
        uses_(block.ops.size(), 0) {
    for (uint32_t i = 0; i < ops_.size(); ++i) index_.emplace(ops_[i].get(), i);
    for (uint32_t i = 0; i < ops_.size(); ++i) {
      for (const Value& v : ir::used_values(*ops_[i])) {
        if (!has(v.op)) continue;
        ++uses_[index_.at(v.op)];
        inputs_[i].push_back(index_.at(v.op));
      }
    }
    for (const Value& v : block.results) {
      if (has(v.op)) ++uses_[index_.at(v.op)];
    }
    static const ir::Shape kScalar;  // for ops without results
    for (uint32_t i = 0; i < ops_.size(); ++i) {
      merged_.push_back(i);
      members_.push_back({ops_[i].get()});
      const bool folds = policy_.folds(*ops_[i]), joins = policy_.joins(*ops_[i]);
      leads_.push_back(!folds && !joins && ops_[i]->results.size() == 1 && policy_.leads(*ops_[i]));
      tiles_.push_back(tiles(*ops_[i]));
      leaders_.push_back(0);
      if (folds) shapes_.push_back(&ops_[i]->operands[0].shape());
      else shapes_.push_back(ops_[i]->results.empty() ? &kScalar : &ops_[i]->results[0].shape);
      has_rows_.push_back(folds);
      seen_.push_back({0, 0});
      for (const uint32_t used : inputs_[i]) users_[used].push_back(i);
      if (folds || joins) join_producers(i);
    }
    gathers_.resize(ops_.size());
    for (uint32_t i = 0; i < ops_.size(); ++i) {
      if (leads_[i] && policy_.gathers(*ops_[i])) gather(i);
    }
    join_reductions();
    join_strangers();
  }

  // Groups are numbers below the number of ops.
  uint32_t group_of(const Op* op) const { return find(index_.at(op)); }
  bool has(const Op* op) const { return index_.contains(op); }
  const std::vector<const Op*>& members(uint32_t g) const { return members_[g]; }
  size_t tile_count(uint32_t g) const { return tiles_[g]; }
  const ir::Shape& shape_of(uint32_t g) const { return *shapes_[g]; }

  std::vector<const Op*> users_of(const Op* op) const {
    std::vector<const Op*> users;
    for (const uint32_t i : users_[index_.at(op)]) users.push_back(ops_[i].get());
    return users;
  }

  // The groups whose values the op uses, in its regions too.
  std::vector<uint32_t> used_by(const Op* op) const {
    std::vector<uint32_t> used;
    for (const uint32_t i : inputs_[index_.at(op)]) used.push_back(find(i));
    return used;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;  // no group

  uint32_t find(uint32_t g) const {
    while (merged_[g] != g) g = merged_[g] = merged_[merged_[g]];
    return g;
  }

  bool leads(const Op* op) const { return leads_[index_.at(op)]; }

  void join_producers(uint32_t i) {
    const Op& op = *ops_[i];
    for (const Value& v : op.operands) {
      if (!has(v.op)) continue;
      const uint32_t own = find(i), computes = group_of(v.op);
      // An op that leads, perhaps behind a reshape that its group does not have yet.
      const Op* const source = v.op->info().facts.renames ? v.op->operands[0].op : v.op;
      const bool has_led = has(source) && leads(source) && members_[group_of(source)].size() > 1;
      const uint32_t producer = has_led ? group_of(source) : computes;
      if (producer == own || tiles_[producer] + tiles_[own] > policy_.most_values()) continue;
      if (leaders_[producer] + leaders_[own] > 1) continue;
      if (producer != computes) {
        if (can_reshape(v, producer, own)) {
          merge(producer, computes);
          merge(producer, own);
        }
      } else if (policy_.folds(*v.op) || policy_.joins(*v.op) || has_led) {
        if (fit(v, producer, own) && !is_cyclic(producer, own)) merge(producer, own);
      } else if (leaders_[own] == 0 && !has_rows_[own] && v.shape() == *shapes_[own]) {
        join_leader(v, own);
      }
    }
  }

  // True if the reshape `v` of a value of `producer`, whose op leads, and `own` can join that group.
  bool can_reshape(Value v, uint32_t producer, uint32_t own) {
    const uint32_t reshape = group_of(v.op);
    return members_[reshape].size() == 1 && v.shape() == *shapes_[own] && !has_rows_[producer] && !has_rows_[own] &&
           v.shape().element_count() == shapes_[producer]->element_count() && !is_cyclic(reshape, own) &&
           !is_cyclic(producer, own, reshape) && !has_way(producer, reshape);
  }

  // True if one kernel can compute both groups, of which one uses the other's value `v`: they have values of one shape,
  // or one has values for each row of the other.
  bool fit(Value v, uint32_t producer, uint32_t own) const {
    const ir::Shape &from = *shapes_[producer], &to = *shapes_[own];
    const bool has_rows = has_rows_[producer] || has_rows_[own];
    if (has_rows && leaders_[producer] + leaders_[own] > 0) return false;
    if (from == to) return v.shape() == to || has_rows;
    const auto has_row_of = [&](uint32_t rows, uint32_t elements) {
      return !has_rows_[rows] && leaders_[rows] + leaders_[elements] == 0 && policy_.takes_rows(*shapes_[elements]) &&
             v.shape() == *shapes_[rows] && *shapes_[rows] == ir::shape_of_rows(*shapes_[elements]);
    };
    return has_row_of(producer, own) || has_row_of(own, producer);
  }

  // Joins the op that computes `v`, perhaps behind a reshape, if it leads and this group is its only user, or others
  // get its value from the group.
  void join_leader(Value v, uint32_t own) {
    const Op* leader = v.op;
    const auto may_join = [&](const Op* op, uint32_t between) {
      if (!has(op) || members_[group_of(op)].size() > 1) return false;
      return uses_[index_.at(op)] == 1 || (policy_.writes_leaders() && !is_cyclic(group_of(op), own, between));
    };
    uint32_t reshape = kNone;
    if (leader->info().facts.renames && may_join(leader, kNone)) {
      reshape = group_of(leader);
      leader = leader->operands[0].op;
    }
    if (!may_join(leader, reshape) || !leads(leader)) return;
    merge(own, group_of(leader));
    if (leader != v.op) merge(own, group_of(v.op));
    leaders_[own] = 1;
  }

  // Joins the elementwise ops that compute the operand of a reduction with the reduction's group. Further reductions
  // may join these, too.
  void gather(uint32_t i) {
    const Op& reduction = *ops_[i];
    const Value v = reduction.operands[0];
    if (!has(v.op)) return;
    const uint32_t producer = group_of(v.op), own = find(i);
    if (producer == own || gathers_[own] != nullptr || v.shape() != *shapes_[producer]) return;
    if (tiles_[producer] + tiles_[own] > policy_.most_values()) return;
    if (const Op* other = gathers_[producer]; other != nullptr) {
      if (other->results[0].shape != reduction.results[0].shape) return;
    } else if (leaders_[producer] > 0 || has_rows_[producer] || !policy_.joins(*v.op)) {
      return;
    }
    if (has_way(producer, own)) return;
    const ir::Shape* const whole = shapes_[producer];
    merge(producer, own);
    shapes_[producer] = whole;
    gathers_[producer] = &reduction;
  }

  // Joins reductions along the same axes of values that one group computes.
  void join_reductions() {
    std::map<uint32_t, uint32_t> firsts;  // by that group
    for (uint32_t i = 0; i < ops_.size(); ++i) {
      const uint32_t own = find(i);
      const Value v = ops_[i]->operands.empty() ? Value{} : ops_[i]->operands[0];
      if (!leads_[i] || !policy_.gathers(*ops_[i]) || gathers_[own] != nullptr || !has(v.op)) continue;
      const auto [it, is_first] = firsts.emplace(group_of(v.op), i);
      const Op& first = *ops_[it->second];
      const uint32_t other = find(it->second);
      if (is_first || other == own || tiles_[other] + tiles_[own] > policy_.most_values()) continue;
      if (first.operands[0].shape() != v.shape() || first.results[0].shape != ops_[i]->results[0].shape) continue;
      if (!has_way(other, own) && !has_way(own, other)) merge(other, own);
    }
  }

  // Joins groups of elementwise ops of one shape that do not feed each other.
  void join_strangers() {
    std::map<ir::Dims, uint32_t> last;  // group, by shape
    for (uint32_t i = 0; i < ops_.size(); ++i) {
      const uint32_t own = find(i);
      if (!policy_.joins(*ops_[i]) || leaders_[own] > 0 || has_rows_[own]) continue;
      if (!policy_.joins_strangers(*shapes_[own])) continue;
      const auto [it, is_first] = last.emplace(shapes_[own]->dims(), own);
      const uint32_t other = find(it->second);
      if (is_first || other == own) continue;
      const bool fits = tiles_[other] + tiles_[own] <= policy_.most_values();
      if (fits && !has_way(other, own) && !has_way(own, other)) merge(other, own);
      else it->second = own;
    }
  }

  // True if `own` depends on `producer` by way of a third group, or if the op that leads `own` needs all of `producer`.
  // The search alternates between both ends. If it takes too many steps it returns true, which only keeps the groups
  // apart.
  bool is_cyclic(uint32_t producer, uint32_t own, uint32_t between = kNone) {
    for (const Op* op : members_[own]) {
      if (!leads(op)) continue;
      for (const uint32_t g : used_by(op)) {
        if (g == producer) return true;
      }
    }
    return has_way(producer, own, between);
  }

  // True if `own` depends on `producer` by way of a third group, other than `between`. The search alternates between
  // both ends. If it takes too many steps it returns true, which only keeps the groups apart.
  bool has_way(uint32_t producer, uint32_t own, uint32_t between = kNone) {
    constexpr int kMostSteps = 512;
    ++search_;
    std::vector<uint32_t> behind_producer = {producer}, before_own = {own};
    for (int step = 0; step < kMostSteps; ++step) {
      if (behind_producer.empty() || before_own.empty()) return false;
      if (extend(behind_producer, users_, 0, producer, own, between) ||
          extend(before_own, inputs_, 1, own, producer, between)) {
        return true;
      }
    }
    return true;
  }

  // Takes the last group of `ways` and adds its neighbours, except `between` and the direct one from `start` to `goal`.
  // Returns true if the search from the other side has reached one of them.
  bool extend(std::vector<uint32_t>& ways, const std::vector<std::vector<uint32_t>>& neighbours, size_t side,
              uint32_t start, uint32_t goal, uint32_t between) {
    const uint32_t g = ways.back();
    ways.pop_back();
    for (const Op* op : members_[g]) {
      for (const uint32_t i : neighbours[index_.at(op)]) {
        const uint32_t next = find(i);
        if (next == start || next == between || (g == start && next == goal) || seen_[next][side] == search_) continue;
        if (next == goal || seen_[next][1 - side] == search_) return true;
        seen_[next][side] = search_;
        ways.push_back(next);
      }
    }
    return false;
  }

  void merge(uint32_t into, uint32_t from) {
    tiles_[into] += tiles_[from];
    has_rows_[into] = has_rows_[into] || has_rows_[from];
    if (const int64_t count = shapes_[from]->element_count(); count != shapes_[into]->element_count()) {
      has_rows_[into] = true;
      if (count > shapes_[into]->element_count()) shapes_[into] = shapes_[from];
    }
    leaders_[into] += leaders_[from];
    members_[into].insert(members_[into].end(), members_[from].begin(), members_[from].end());
    members_[from].clear();
    merged_[from] = into;
  }

  const device::FusionPolicy& policy_;
  const std::vector<std::unique_ptr<Op>>& ops_;
  std::unordered_map<const Op*, uint32_t> index_;      // positions in ops_; the vectors below use them as indices
  std::vector<std::vector<uint32_t>> inputs_, users_;  // by op, in this block
  std::vector<uint32_t> uses_;                         // number of uses, counting results of the block
  mutable std::vector<uint32_t> merged_;               // the group that this one was merged into, or itself
  std::vector<std::vector<const Op*>> members_;
  std::vector<size_t> tiles_, leaders_;        // numbers of tiles and of ops that lead the group
  std::vector<const ir::Shape*> shapes_;       // of the group's values that are not for rows
  std::vector<bool> has_rows_;                 // values for each row
  std::vector<bool> leads_;                    // by op
  std::vector<const Op*> gathers_;             // a reduction that the group gathers for, or null
  std::vector<std::array<uint32_t, 2>> seen_;  // the last search that reached the group, from either side
  uint32_t search_ = 0;
};

using Values = std::unordered_set<Value, ir::ValueHash>;

// The values that groups pass to each other, and the values that they compute again. A group computes a value again, by
// the ops of the value's group, if that reads no more memory than the value would take; then nobody writes the value.
class Traffic {
 public:
  Traffic(const Block& block, const Groups& groups, const device::FusionPolicy& policy)
      : policy_(policy), groups_(groups), written_(block.results.begin(), block.results.end()) {
    std::map<uint32_t, std::map<uint64_t, Value>> imports;  // by group; a value follows the values that it depends on
    for (const auto& op : block.ops) {
      for (const Value& v : ir::captures(*op)) written_.insert(v);
      for (const Value& v : op->operands) {
        const uint32_t group = groups.group_of(op.get());
        if (!groups.has(v.op) || groups.group_of(v.op) == group) continue;
        passed_.insert(v);
        const bool is_whole = v.shape() == op->results[0].shape && v.shape() == groups.shape_of(group);
        if (policy.joins(*op) && is_whole) imports[group].emplace(v.op->id, v);
        else written_.insert(v);
      }
    }
    for (const auto& [group, values] : imports) {
      for (const auto& [id, v] : values) {
        if (!copy(v, group)) written_.insert(v);
      }
    }
  }

  // True if a group must write the value for other groups.
  bool is_written(Value v) const { return written_.contains(v); }
  // The ops of other groups that this group computes again, in order.
  std::vector<const Op*> copies(uint32_t group) const {
    const auto it = copies_.find(group);
    return it == copies_.end() ? std::vector<const Op*>{} : it->second.ops();
  }

 private:
  // The ops that a group computes again, and the values that these ops read from memory: as large as the group's, and
  // smaller ones.
  struct Copies {
    std::map<uint32_t, const Op*> by_id;
    Values read, small;

    bool has(const Op* op) const { return by_id.contains(op->id); }
    std::vector<const Op*> ops() const {
      std::vector<const Op*> all;
      for (const auto& [id, op] : by_id) all.push_back(op);
      return all;
    }
  };

  // Adds the ops that compute the value to the copies of the group. Returns false if reading the value costs less.
  bool copy(Value v, uint32_t group) {
    Copies& copies = copies_[group];
    Copies more = copies;
    if (!add(more, v) || more.read.size() > copies.read.size() + 1) return false;
    size_t count = groups_.tile_count(group);
    for (const Op* op : more.ops()) count += tiles(*op);
    if (count > policy_.most_values() || !is_cheap(more, copies, group)) return false;
    copies = std::move(more);
    written_.insert(copies.read.begin(), copies.read.end());
    written_.insert(copies.small.begin(), copies.small.end());
    return true;
  }

  // Adds the op of the value and the ops of its group that come before it and whose values no other group reads.
  bool add(Copies& copies, Value v) const {
    if (copies.has(v.op)) return true;
    if (!policy_.joins(*v.op) || v.op->results.size() > 1) return false;
    copies.by_id.emplace(v.op->id, v.op);
    for (const Value& operand : v.op->operands) {
      if (operand.shape().element_count() < v.shape().element_count()) {
        copies.small.insert(operand);
        continue;
      }
      const bool is_between = groups_.has(operand.op) && groups_.group_of(operand.op) == groups_.group_of(v.op) &&
                              !passed_.contains(operand) && !written_.contains(operand);
      if (!is_between) copies.read.insert(operand);
      else if (!add(copies, operand)) return false;
    }
    return true;
  }

  // True if the copies beyond those of `before` take less time than writing and reading a value: ops that move into the
  // group, as nothing else uses them, and little arithmetic. An op that leads needs whole operands, so it cannot use a
  // copy.
  bool is_cheap(const Copies& copies, const Copies& before, uint32_t group) const {
    constexpr int kMostAgain = 4;
    int again = 0;
    std::unordered_set<const Op*> moved;
    for (auto it = copies.by_id.rbegin(); it != copies.by_id.rend(); ++it) {
      const Op* op = it->second;
      bool moves = !written_.contains(op->result());
      for (const Op* user : groups_.users_of(op)) {
        const bool is_own = groups_.group_of(user) == group;
        if (is_own && !policy_.joins(*user)) return false;
        moves &= is_own || moved.contains(user);
      }
      if (moves) moved.insert(op);
      else if (op->info().types == ir::TypeClass::floating) return false;
      else if (!before.has(op)) ++again;
    }
    return again <= kMostAgain;
  }

  const device::FusionPolicy& policy_;
  const Groups& groups_;
  Values passed_, written_;
  std::map<uint32_t, Copies> copies_;
};

// Copies a graph group by group, each group after the groups that it depends on.
class Fuser {
 public:
  explicit Fuser(const device::FusionPolicy& policy) : policy_(policy) {}

  std::unique_ptr<Graph> run(const Graph& graph) {
    copy_ = std::make_unique<Graph>();
    copy_->body().results = copy_block(graph.body());
    return std::move(copy_);
  }

 private:
  std::vector<Value> copy_block(const Block& block) {
    const Groups groups(block, policy_);
    const std::vector<std::vector<const Op*>> order = sorted(block, groups);
    const Traffic traffic(block, groups, policy_);
    for (const auto& members : order) {
      const std::vector<const Op*> copies = traffic.copies(groups.group_of(members[0]));
      if (members.size() + copies.size() == 1) copy_op(*members[0]);
      else copy_group(members, copies, traffic);
    }
    std::vector<Value> results;
    for (const Value& v : block.results) results.push_back(values_.at(v));
    return results;
  }

  // The groups in an order of execution, each as early as its first member allows.
  static std::vector<std::vector<const Op*>> sorted(const Block& block, const Groups& groups) {
    std::vector<std::vector<const Op*>> order;
    std::unordered_set<uint32_t> done;
    // Depth first from every op in order, without recursion: chains of ops can be too long for the call stack.
    for (const auto& start : block.ops) {
      std::vector<uint32_t> stack = {groups.group_of(start.get())};
      while (!stack.empty()) {
        const uint32_t g = stack.back();
        if (done.contains(g)) {
          stack.pop_back();
          continue;
        }
        const size_t height = stack.size();
        for (const Op* member : groups.members(g)) {
          for (const uint32_t used : groups.used_by(member)) {
            if (used != g && !done.contains(used)) stack.push_back(used);
          }
        }
        if (stack.size() > height) continue;
        stack.pop_back();
        done.insert(g);
        std::vector<const Op*> members = groups.members(g);
        std::sort(members.begin(), members.end(), [](const Op* a, const Op* b) { return a->id < b->id; });
        order.push_back(std::move(members));
      }
    }
    return order;
  }

  void copy_op(const Op& op) {
    std::vector<Value> operands;
    for (const Value& v : op.operands) operands.push_back(values_.at(v));
    std::vector<std::unique_ptr<Block>> regions;
    for (const auto& region : op.regions) {
      const std::vector<Value> arguments =
          copy_->open_region(ir::argument_types(op.code, operands, regions, op.attributes));
      for (size_t i = 0; i < arguments.size(); ++i) values_[region->arguments[i]->result()] = arguments[i];
      regions.push_back(copy_->close_region(copy_block(*region)));
    }
    copy_->label_as(op);
    Op* made = copy_->add(op.code, std::move(operands), op.attributes, std::move(regions));
    for (uint32_t i = 0; i < op.results.size(); ++i) values_[op.result(i)] = {made, i};
  }

  void copy_group(const std::vector<const Op*>& members, const std::vector<const Op*>& copies, const Traffic& traffic) {
    std::vector<Value> operands, results;
    for (const Op* op : members) {
      for (uint32_t i = 0; i < op->results.size(); ++i) {
        const Value v = op->result(i);
        if (traffic.is_written(v)) results.push_back(v);
      }
    }
    std::vector<const Op*> all = copies;
    all.insert(all.end(), members.begin(), members.end());
    drop_unused(all, results);
    for (const Op* op : all) {
      for (const Value& v : op->operands) {
        const bool inside = std::find(all.begin(), all.end(), v.op) != all.end();
        const Value mapped = inside ? Value{} : values_.at(v);
        if (!inside && std::find(operands.begin(), operands.end(), mapped) == operands.end()) {
          operands.push_back(mapped);
        }
      }
    }
    // Copying an op again replaces its value in values_; other groups must go on using the first copy.
    ValueMap<Value> others;
    for (const Op* op : copies) {
      const Value v = op->result();
      if (const auto known = values_.find(v); known != values_.end()) others.insert(*known);
    }
    copy_->open_region();
    for (const Op* op : all) copy_op(*op);
    std::vector<Value> inner;
    for (const Value& v : results) inner.push_back(values_.at(v));
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(copy_->close_region(std::move(inner)));
    copy_->name.clear();
    Op* made = copy_->add(OpCode::fused, std::move(operands), {}, std::move(regions));
    for (const auto& [v, other] : others) values_[v] = other;
    for (uint32_t i = 0; i < results.size(); ++i) values_[results[i]] = {made, i};
  }

  // Drops the ops that no result needs any more, because other groups compute them again.
  static void drop_unused(std::vector<const Op*>& ops, const std::vector<Value>& results) {
    Values needed(results.begin(), results.end());
    for (size_t i = ops.size(); i-- > 0;) {
      bool is_needed = false;
      for (uint32_t r = 0; r < ops[i]->results.size(); ++r) is_needed |= needed.contains(ops[i]->result(r));
      if (!is_needed) ops.erase(ops.begin() + static_cast<long>(i));
      else needed.insert(ops[i]->operands.begin(), ops[i]->operands.end());
    }
  }

  const device::FusionPolicy& policy_;
  std::unique_ptr<Graph> copy_;
  ValueMap<Value> values_;
};

}  // namespace

std::unique_ptr<Graph> fuse(const Graph& graph, const device::FusionPolicy& policy) { return Fuser(policy).run(graph); }

}  // namespace alloy::compiler
