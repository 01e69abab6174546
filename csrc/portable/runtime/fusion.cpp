// Fusion of elementwise ops that feed each other: what is between them never leaves the cache.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "kernels/elementwise.h"
#include "runtime/passes.h"

namespace alloy::portable {
namespace {

using ir::Block;
using ir::Graph;
using ir::Op;
using ir::OpCode;
using ir::Value;
using ir::ValueMap;

// Fewer than the tiles a kernel can have at once, so that any chain fits.
constexpr size_t kMostOps = Elementwise::kMostBuffers - 2;

// The ops of one block in groups. A group becomes one op, so no group may need what needs it.
class Groups {
 public:
  explicit Groups(const Block& block) {
    for (const auto& op : block.ops) {
      const size_t g = group_count();
      group_of_[op.get()] = g;
      members_.push_back({op.get()});
      needs_.emplace_back();
      for (const Op* used : used_by(*op)) {
        const auto it = group_of_.find(used);
        if (it != group_of_.end()) add_need(g, find(it->second));
      }
      if (Elementwise::accepts(*op)) join_producers(*op);
    }
  }

  size_t group_count() const { return members_.size(); }
  size_t group_of(const Op* op) const { return find(group_of_.at(op)); }
  bool has(const Op* op) const { return group_of_.contains(op); }
  const std::vector<const Op*>& members(size_t g) const { return members_[g]; }

  // The ops whose values an op uses, in its regions too.
  static std::vector<const Op*> used_by(const Op& op) {
    std::vector<const Op*> used;
    for (const Value& v : op.operands) used.push_back(v.op);
    for (const Value& v : ir::captures(op)) used.push_back(v.op);
    return used;
  }

 private:
  using Bits = std::vector<bool>;

  size_t find(size_t g) const {
    while (merged_.contains(g)) g = merged_.at(g);
    return g;
  }

  // The groups that a group needs, directly or not, as bits by number.
  bool needs(size_t g, size_t other) const { return other < needs_[g].size() && needs_[g][other]; }

  void set(size_t g, size_t other) {
    if (needs_[g].size() <= other) needs_[g].resize(other + 1);
    needs_[g][other] = true;
  }

  void add_need(size_t g, size_t other) {
    set(g, other);
    for (size_t i = 0; i < needs_[other].size(); ++i) {
      if (needs_[other][i]) set(g, i);
    }
  }

  void join_producers(const Op& op) {
    for (const Value& v : op.operands) {
      const auto it = group_of_.find(v.op);
      if (it == group_of_.end()) continue;
      const size_t producer = find(it->second), own = group_of(&op);
      if (producer == own || !fits(*members_[producer].front(), op)) continue;
      if (members_[producer].size() + members_[own].size() > kMostOps) continue;
      if (!is_cyclic(producer, own)) merge(producer, own);
    }
  }

  static bool fits(const Op& producer, const Op& op) {
    return Elementwise::accepts(producer) && producer.results[0].shape == op.results[0].shape;
  }

  // Whether `own` needs `producer` by a way through a third group.
  bool is_cyclic(size_t producer, size_t own) const {
    for (const Op* op : members_[own]) {
      for (const Op* used : used_by(*op)) {
        const auto it = group_of_.find(used);
        if (it == group_of_.end()) continue;
        const size_t g = find(it->second);
        if (g != producer && g != own && needs(g, producer)) return true;
      }
    }
    return false;
  }

  void merge(size_t into, size_t from) {
    members_[into].insert(members_[into].end(), members_[from].begin(), members_[from].end());
    members_[from].clear();
    merged_[from] = into;
    for (size_t i = 0; i < needs_[from].size(); ++i) {
      if (needs_[from][i] && i != into) set(into, i);
    }
    // Whoever needs one of them now needs both, and all that they need.
    for (size_t g = 0; g < needs_.size(); ++g) {
      if (g != into && g != from && (needs(g, into) || needs(g, from))) add_need(g, into);
    }
  }

  std::map<const Op*, size_t> group_of_;  // before merging; find() follows
  std::map<size_t, size_t> merged_;
  std::vector<std::vector<const Op*>> members_;
  std::vector<Bits> needs_;
};

// Copies a graph group by group, each where everything it needs is there.
class Fuser {
 public:
  std::unique_ptr<Graph> run(const Graph& graph) {
    copy_ = std::make_unique<Graph>();
    copy_->body().results = copy_block(graph.body());
    return std::move(copy_);
  }

 private:
  std::vector<Value> copy_block(const Block& block) {
    const Groups groups(block);
    const std::vector<std::vector<const Op*>> order = sorted(block, groups);
    std::unordered_set<Value, ir::ValueHash> outside(block.results.begin(), block.results.end());
    for (const auto& op : block.ops) {
      for (const Value& v : op->operands) {
        if (groups.has(v.op) && groups.group_of(v.op) != groups.group_of(op.get())) outside.insert(v);
      }
      for (const Value& v : ir::captures(*op)) outside.insert(v);
    }
    for (const auto& members : order) {
      if (members.size() == 1) copy_op(*members[0]);
      else copy_group(members, outside);
    }
    std::vector<Value> results;
    for (const Value& v : block.results) results.push_back(values_.at(v));
    return results;
  }

  // Groups in an order of execution: as early as the first member that nothing holds back.
  static std::vector<std::vector<const Op*>> sorted(const Block& block, const Groups& groups) {
    std::vector<std::vector<const Op*>> order;
    std::unordered_set<size_t> done;
    // Depth first from every op in order; a graph has chains too long for recursion.
    for (const auto& start : block.ops) {
      std::vector<size_t> stack = {groups.group_of(start.get())};
      while (!stack.empty()) {
        const size_t g = stack.back();
        if (done.contains(g)) {
          stack.pop_back();
          continue;
        }
        const size_t height = stack.size();
        for (const Op* member : groups.members(g)) {
          for (const Op* used : Groups::used_by(*member)) {
            if (groups.has(used) && groups.group_of(used) != g && !done.contains(groups.group_of(used))) stack.push_back(groups.group_of(used));
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
      copy_->open_region();
      regions.push_back(copy_->close_region(copy_block(*region)));
    }
    copy_->name = op.name;
    copy_->location = op.location;
    Op* made = copy_->add(op.code, std::move(operands), op.attributes, std::move(regions));
    if (op.code == OpCode::variable) made->attributes.set(ir::Attr::kSlot, op.attributes.integer(ir::Attr::kSlot));
    for (uint32_t i = 0; i < op.results.size(); ++i) values_[{const_cast<Op*>(&op), i}] = {made, i};
  }

  void copy_group(const std::vector<const Op*>& members, const std::unordered_set<Value, ir::ValueHash>& outside) {
    std::vector<Value> operands, results;
    for (const Op* op : members) {
      for (const Value& v : op->operands) {
        const bool inside = std::find(members.begin(), members.end(), v.op) != members.end();
        const Value mapped = inside ? Value{} : values_.at(v);
        if (!inside && std::find(operands.begin(), operands.end(), mapped) == operands.end()) operands.push_back(mapped);
      }
      const Value v{const_cast<Op*>(op), 0};
      if (outside.contains(v)) results.push_back(v);
    }
    copy_->open_region();
    for (const Op* op : members) copy_op(*op);
    std::vector<Value> inner;
    for (const Value& v : results) inner.push_back(values_.at(v));
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(copy_->close_region(std::move(inner)));
    copy_->name.clear();
    Op* made = copy_->add(OpCode::fused, std::move(operands), {}, std::move(regions));
    for (uint32_t i = 0; i < results.size(); ++i) values_[results[i]] = {made, i};
  }

  std::unique_ptr<Graph> copy_;
  ValueMap<Value> values_;
};

}  // namespace

std::unique_ptr<Graph> fuse(const Graph& graph) { return Fuser().run(graph); }

}  // namespace alloy::portable
