// Fusion of elementwise ops and optimizer steps that feed each other, and of the matrix product that feeds them: what is between them
// never leaves the cache.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "kernels/elementwise.h"
#include "kernels/packed_product.h"
#include "runtime/passes.h"

namespace alloy::portable {
namespace {

using ir::Block;
using ir::Graph;
using ir::Op;
using ir::OpCode;
using ir::Value;
using ir::ValueMap;

// The most tiles an op adds to its group: its operands and results but the one that joins it, and a truth value.
size_t tiles(const Op& op) { return op.operands.size() + op.results.size() - 1; }
constexpr size_t kMostTiles = Elementwise::kMostBuffers - 2;

// The ops of one block in groups. A group becomes one op, so no group may need what needs it.
class Groups {
 public:
  explicit Groups(const Block& block) {
    for (const auto& op : block.ops) {
      for (const Op* used : used_by(*op)) ++uses_[used];
    }
    for (const Value& v : block.results) ++uses_[v.op];
    for (const auto& op : block.ops) {
      const size_t g = group_count();
      group_of_[op.get()] = g;
      members_.push_back({op.get()});
      tiles_.push_back(tiles(*op));
      products_.push_back(0);
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
  size_t tile_count(size_t g) const { return tiles_[g]; }
  // Whether the value exists block by block only, inside a group.
  bool is_inside(Value v) const { return has(v.op) && !Elementwise::accepts(*v.op) && members(group_of(v.op)).size() > 1; }

  // The ops whose values an op uses, in its regions too.
  static std::vector<const Op*> used_by(const Op& op) {
    std::vector<const Op*> used;
    for (const Value& v : ir::used_values(op)) used.push_back(v.op);
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
      if (producer == own || v.shape() != op.results[0].shape || tiles_[producer] + tiles_[own] > kMostTiles) continue;
      if (products_[producer] + products_[own] > 1) continue;
      if (Elementwise::accepts(*v.op)) {
        if (!is_cyclic(producer, own)) merge(producer, own);
      } else if (products_[own] == 0) {
        join_product(v, own);
      }
    }
  }

  // A product, under this shape or another, that only this group uses.
  void join_product(Value v, size_t own) {
    const Op* product = v.op;
    if (product->code == OpCode::reshape && uses_.at(product) == 1) product = product->operands[0].op;
    if (!has(product) || product->code != OpCode::matmul || uses_.at(product) != 1) return;
    const auto products = OuterProducts::of(*product);
    if (!products || !PackedProduct::pays(*products)) return;
    merge(own, group_of(product));
    if (product != v.op) merge(own, group_of(v.op));
    products_[own] = 1;
  }

  // Whether `own` needs `producer` by a way through a third group, or needs it whole, for a product.
  bool is_cyclic(size_t producer, size_t own) const {
    for (const Op* op : members_[own]) {
      for (const Op* used : used_by(*op)) {
        const auto it = group_of_.find(used);
        if (it == group_of_.end()) continue;
        const size_t g = find(it->second);
        if (g == producer ? op->code == OpCode::matmul : g != own && needs(g, producer)) return true;
      }
    }
    return false;
  }

  void merge(size_t into, size_t from) {
    tiles_[into] += tiles_[from];
    products_[into] += products_[from];
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

  std::map<const Op*, size_t> uses_;      // how many
  std::map<const Op*, size_t> group_of_;  // before merging; find() follows
  std::map<size_t, size_t> merged_;
  std::vector<std::vector<const Op*>> members_;
  std::vector<size_t> tiles_, products_;  // how many
  std::vector<Bits> needs_;
};

using Values = std::unordered_set<Value, ir::ValueHash>;

// Which values groups hand to each other, and which they compute anew because to read what those are made of costs no more than to read
// them: then nobody has to write them.
class Traffic {
 public:
  Traffic(const Block& block, const Groups& groups) : groups_(groups), written_(block.results.begin(), block.results.end()) {
    for_each_import(block, [&](const Op&, Value v) { written_.insert(v); });
    Values kept(block.results.begin(), block.results.end());
    for (const auto& op : block.ops) {
      for (const Value& v : ir::captures(*op)) kept.insert(v);
    }
    for_each_import(block, [&](const Op& user, Value v) {
      std::set<const Op*>& own = copies_[groups.group_of(&user)];
      size_t count = groups.tile_count(groups.group_of(&user)) + tiles(*v.op);
      for (const Op* copy : own) count += tiles(*copy);
      if (count > kMostTiles || !Elementwise::accepts(user) || v.shape() != user.results[0].shape || !is_cheap(*v.op)) {
        kept.insert(v);
      } else {
        own.insert(v.op);
        kept.insert(*large_operand(*v.op));
      }
    });
    written_ = std::move(kept);
  }

  // Whether a group must give the value to others.
  bool is_written(Value v) const { return written_.contains(v); }
  // The ops of other groups that this one computes anew.
  const std::set<const Op*>& copies(size_t group) const {
    static const std::set<const Op*> none;
    const auto it = copies_.find(group);
    return it == copies_.end() ? none : it->second;
  }

 private:
  // Calls f(user, value) where an op uses a value of another group of the block.
  template <class F>
  void for_each_import(const Block& block, const F& f) const {
    for (const auto& op : block.ops) {
      for (const Value& v : op->operands) {
        if (groups_.has(v.op) && groups_.group_of(v.op) != groups_.group_of(op.get())) f(*op, v);
      }
    }
  }

  // The one operand of an op that is as large as its result; null where there is none or more than one.
  static const Value* large_operand(const Op& op) {
    const Value* large = nullptr;
    for (const Value& v : op.operands) {
      if (v.shape().element_count() < op.results[0].shape.element_count()) continue;
      if (large != nullptr && *large != v) return nullptr;
      large = &v;
    }
    return large;
  }

  // Arithmetic on one large operand, which is in memory anyway, and small ones.
  bool is_cheap(const Op& op) const {
    if (!Elementwise::accepts(op) || op.info().types == ir::TypeClass::floating) return false;
    const Value* large = large_operand(op);
    return large != nullptr && !groups_.is_inside(*large) &&
           (!groups_.has(large->op) || !Elementwise::accepts(*large->op) || written_.contains(*large));
  }

  const Groups& groups_;
  Values written_;
  std::map<size_t, std::set<const Op*>> copies_;
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
    const Traffic traffic(block, groups);
    for (const auto& members : order) {
      const std::set<const Op*>& copies = traffic.copies(groups.group_of(members[0]));
      if (members.size() + copies.size() == 1) copy_op(*members[0]);
      else copy_group(members, copies, traffic);
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

  void copy_group(const std::vector<const Op*>& members, const std::set<const Op*>& copies, const Traffic& traffic) {
    std::vector<Value> operands, results;
    for (const Op* op : members) {
      for (uint32_t i = 0; i < op->results.size(); ++i) {
        const Value v{const_cast<Op*>(op), i};
        if (traffic.is_written(v)) results.push_back(v);
      }
    }
    std::vector<const Op*> all(copies.begin(), copies.end());
    std::sort(all.begin(), all.end(), [](const Op* a, const Op* b) { return a->id < b->id; });
    all.insert(all.end(), members.begin(), members.end());
    drop_unused(all, results);
    for (const Op* op : all) {
      for (const Value& v : op->operands) {
        const bool inside = std::find(all.begin(), all.end(), v.op) != all.end();
        const Value mapped = inside ? Value{} : values_.at(v);
        if (!inside && std::find(operands.begin(), operands.end(), mapped) == operands.end()) operands.push_back(mapped);
      }
    }
    // What stands for a value in other groups must not be forgotten for this one's own copy of it.
    ValueMap<Value> others;
    for (const Op* op : copies) {
      const Value v{const_cast<Op*>(op), 0};
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

  // Without the ops that no result needs any more: other groups compute them anew.
  static void drop_unused(std::vector<const Op*>& ops, const std::vector<Value>& results) {
    Values needed(results.begin(), results.end());
    for (size_t i = ops.size(); i-- > 0;) {
      bool is_needed = false;
      for (uint32_t r = 0; r < ops[i]->results.size(); ++r) is_needed |= needed.contains({const_cast<Op*>(ops[i]), r});
      if (!is_needed) ops.erase(ops.begin() + static_cast<long>(i));
      else needed.insert(ops[i]->operands.begin(), ops[i]->operands.end());
    }
  }

  std::unique_ptr<Graph> copy_;
  ValueMap<Value> values_;
};

}  // namespace

std::unique_ptr<Graph> fuse(const Graph& graph) { return Fuser().run(graph); }

}  // namespace alloy::portable
