#include "ir/graph.h"

#include <algorithm>
#include <unordered_set>

#include "ir/grammar.h"

namespace alloy::ir {

const Type& Value::type() const { return op->results[index]; }

void Op::fail(const std::string& message, Error::Kind kind) const {
  std::string text = "[" + std::string(info().name) + "] " + message;
  if (!location.empty()) text += "; built at " + location;
  throw Error(kind, text + ".");
}

Graph::Graph() : body_(std::make_unique<Block>()) {}
Graph::~Graph() = default;

Op* Graph::add(OpCode code, std::vector<Value> operands, Attributes attributes) {
  return add(code, std::move(operands), std::move(attributes), {});
}

Value Graph::value(OpCode code, std::vector<Value> operands, Attributes attributes) {
  return Value{add(code, std::move(operands), std::move(attributes)), 0};
}

Op* Graph::add(OpCode code, std::vector<Value> operands, Attributes attributes,
               std::vector<std::unique_ptr<Block>> regions) {
  auto op = std::make_unique<Op>();
  op->code = code;
  op->operands = std::move(operands);
  op->attributes = std::move(attributes);
  op->after = after;
  op->regions = std::move(regions);
  op->block = open_.empty() ? body_.get() : open_.back().get();
  op->name = name;
  op->location = location;
  if (code == OpCode::variable) op->attributes.set(Attr::kSlot, variable_count_);
  if (auto mistake = grammar_mistake(*op)) op->fail(*mistake);
  op->results = infer(*op);
  if (code == OpCode::variable) ++variable_count_;
  op->id = next_id_++;
  for (auto& region : op->regions) region->parent = op.get();
  return op->block->ops.emplace_back(std::move(op)).get();
}

void Graph::open_region() { open_.push_back(std::make_unique<Block>()); }

std::unique_ptr<Block> Graph::close_region(std::vector<Value> results) {
  std::unique_ptr<Block> block = std::move(open_.back());
  open_.pop_back();
  block->results = std::move(results);
  for (auto& op : block->ops) {
    if (has_effect(*op)) block->effects.push_back(op.get());
  }
  return block;
}

bool has_effect(const Op& op) {
  if (op.code == OpCode::assign) return true;
  return std::any_of(op.regions.begin(), op.regions.end(),
                     [](const auto& region) { return !region->effects.empty(); });
}

namespace {

// Calls f with every value of an outer block that the regions of `op` use.
void for_each_capture(const Op& op, const std::function<void(Value)>& f) {
  for (const auto& region : op.regions) {
    std::unordered_set<const Op*> inside;
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

// An op of `block` that stands for `op`: itself, or the one whose region holds it. Null if `op` stands elsewhere.
Op* ancestor_in(const Block* block, Op* op) {
  while (op != nullptr && op->block != block) op = op->block->parent;
  return op;
}

}  // namespace

std::vector<Op*> live_ops(const std::vector<Value>& results, const std::vector<Op*>& effects) {
  std::unordered_set<Op*> seen;
  std::vector<Op*> stack;
  auto visit = [&](Op* op) {
    if (op != nullptr && seen.insert(op).second) stack.push_back(op);
  };
  for (const Value& v : results) visit(v.op);
  for (Op* op : effects) visit(op);
  while (!stack.empty()) {
    Op* op = stack.back();
    stack.pop_back();
    for (const Value& v : op->operands) visit(v.op);
    for (Op* before : op->after) visit(before);
    for (const auto& region : op->regions) {
      for (const auto& inner : region->ops) {
        for (Op* before : inner->after) visit(ancestor_in(op->block, before));
      }
    }
    for_each_capture(*op, [&](Value v) { visit(v.op); });
  }
  std::vector<Op*> ordered(seen.begin(), seen.end());
  std::sort(ordered.begin(), ordered.end(), [](Op* a, Op* b) { return a->id < b->id; });
  return ordered;
}

namespace {

// Copies ops of one graph into another, keeping track of what stands for what.
class Copier {
 public:
  Copier(Graph& target, const RewriteRule& rule) : target_(target), rule_(rule) {}

  Value mapped(Value from) const { return values_.at(from); }

  // Copies what `results` and `effects` need of `block` and returns what stands for the results.
  std::vector<Value> copy(const Block* block, const std::vector<Value>& results, const std::vector<Op*>& effects) {
    for (Op* op : live_ops(results, effects)) {
      if (op->block == block) copy(*op);
    }
    std::vector<Value> out;
    for (const Value& v : results) out.push_back(mapped(v));
    return out;
  }

  // What stands for `effects`, without those that were dropped.
  std::vector<Op*> mapped(const std::vector<Op*>& effects) const {
    std::vector<Op*> out;
    for (Op* op : effects) {
      if (auto it = ops_.find(op); it != ops_.end()) out.push_back(it->second);
    }
    return out;
  }

 private:
  void copy(const Op& op) {
    std::vector<Value> operands;
    for (const Value& v : op.operands) operands.push_back(mapped(v));
    target_.name = op.name;
    target_.location = op.location;
    target_.after = mapped(op.after);
    std::optional<std::vector<Value>> replacement = rule_(target_, op, operands);
    if (!replacement) {
      std::vector<std::unique_ptr<Block>> regions;
      for (const auto& region : op.regions) {
        target_.open_region();
        regions.push_back(target_.close_region(copy(region.get(), region->results, region->effects)));
      }
      Op* made = target_.add(op.code, std::move(operands), op.attributes, std::move(regions));
      if (op.code == OpCode::variable) made->attributes.set(Attr::kSlot, op.attributes.integer(Attr::kSlot));
      ops_[&op] = made;
      replacement.emplace();
      for (uint32_t i = 0; i < op.results.size(); ++i) replacement->push_back({made, i});
    }
    for (uint32_t i = 0; i < op.results.size(); ++i) values_[{const_cast<Op*>(&op), i}] = (*replacement)[i];
  }

  Graph& target_;
  const RewriteRule& rule_;
  ValueMap<Value> values_;
  std::unordered_map<const Op*, Op*> ops_;
};

std::string quoted(const std::string& name) { return name.empty() ? "" : " '" + name + "'"; }

void require_fits(const Op& op, const Type& declared, const Type& given) {
  if (declared.dtype != given.dtype) {
    op.fail("The placeholder" + quoted(op.name) + " is " + std::string(name(declared.dtype)) + " but was fed " +
                std::string(name(given.dtype)), Error::Kind::kType);
  }
  if (!unify(declared.shape, given.shape)) {
    op.fail("The placeholder" + quoted(op.name) + " has shape " + to_string(declared.shape) + " but was fed shape " +
            to_string(given.shape));
  }
}

}  // namespace

std::unique_ptr<Graph> rewrite(const std::vector<Value>& results, const std::vector<Op*>& effects, const RewriteRule& rule) {
  auto graph = std::make_unique<Graph>();
  Copier copier(*graph, rule);
  const Block* block = !results.empty() ? results[0].op->block : !effects.empty() ? effects[0]->block : nullptr;
  graph->body().results = copier.copy(block, results, effects);
  graph->body().effects = copier.mapped(effects);
  return graph;
}

Specialized specialize(const std::vector<Feed>& feeds, const std::vector<Value>& results, const std::vector<Op*>& effects) {
  Specialized out;
  ValueMap<const Type*> fed;
  for (const Feed& feed : feeds) {
    const Op& op = *feed.placeholder.op;
    if (op.code != OpCode::placeholder) op.fail("Only a placeholder can be fed, not the result of this op");
    require_fits(op, feed.placeholder.type(), feed.type);
    if (!fed.emplace(feed.placeholder, &feed.type).second) op.fail("The placeholder" + quoted(op.name) + " was fed twice");
  }
  // Feeds that nothing uses still take part, so that every feed has its placeholder in the copy.
  std::vector<Value> wanted = results;
  for (const Feed& feed : feeds) wanted.push_back(feed.placeholder);
  out.graph = rewrite(wanted, effects, [&](Graph& copy, const Op& op, const std::vector<Value>&) -> std::optional<std::vector<Value>> {
    if (op.code == OpCode::variable) out.slots.push_back(op.attributes.integer(Attr::kSlot));
    if (op.code != OpCode::placeholder) return std::nullopt;
    const auto type = fed.find({const_cast<Op*>(&op), 0});
    if (type == fed.end()) {
      op.fail("The placeholder" + quoted(op.name) + " of shape " + to_string(op.results[0].shape) + " is needed but was not fed");
    }
    return {{copy.value(OpCode::placeholder, {}, {{Attr::kShape, type->second->shape}, {Attr::kDtype, type->second->dtype}})}};
  });
  auto& all = out.graph->body().results;
  out.feeds.assign(all.begin() + static_cast<long>(results.size()), all.end());
  all.resize(results.size());
  std::sort(out.slots.begin(), out.slots.end());
  return out;
}

}  // namespace alloy::ir
