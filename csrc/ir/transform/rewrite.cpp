#include "ir/transform/rewrite.h"

#include <algorithm>

#include "ir/transform/regions.h"
#include "ir/transform/walk.h"

namespace alloy::ir {

Rewriter::Entry& Rewriter::entry(const Op& op) {
  if (op.id >= entries_.size()) entries_.resize(std::max<size_t>(op.id + 1, 2 * entries_.size()));
  Entry& found = entries_[op.id];
  found.of = &op;
  return found;
}

void Rewriter::stand_for(Value from, Value to) {
  if (from.index == 0) entry(*from.op).first = to;
  else others_[from] = to;
}

Value Rewriter::mapped(Value from) const {
  Value to;
  if (from.index > 0) {
    if (const auto it = others_.find(from); it != others_.end()) to = it->second;
  } else if (const Entry* known = find(*from.op)) {
    to = known->first;
  }
  if (!to || to.op->block->parent != nullptr) {
    from.op->fail("The value belongs to a nested block and cannot be used outside it");
  }
  return to;
}

std::vector<Op*> Rewriter::mapped(const std::vector<Op*>& effects) const {
  std::vector<Op*> out;
  for (Op* op : effects) {
    if (const Entry* known = find(*op); known != nullptr && known->copy != nullptr) out.push_back(known->copy);
  }
  return out;
}

std::unique_ptr<Graph> Rewriter::run(const std::vector<Value>& results, const std::vector<Op*>& effects) {
  copy_ = std::make_unique<Graph>();
  const Op* any = !results.empty() ? results[0].op : !effects.empty() ? effects[0] : nullptr;
  const Block* body = any == nullptr ? nullptr : any->block;
  while (body != nullptr && body->parent != nullptr) body = body->parent->block;
  copy_->body().results = copy_block(body, results, effects);
  copy_->body().effects = mapped(effects);
  copy_->name.clear();
  copy_->location.clear();
  copy_->after.clear();
  copy_->precision.clear();
  return std::move(copy_);
}

std::vector<Value> Rewriter::copy_block(const Block* block, const std::vector<Value>& results,
                                        const std::vector<Op*>& effects) {
  for (Op* op : live_ops(results, effects)) {
    if (op->block == block) copy_op(*op);
  }
  std::vector<Value> out;
  for (const Value& v : results) out.push_back(mapped(v));
  return out;
}

void Rewriter::label_as(const Op& op) {
  copy_->label_as(op);
  copy_->after = mapped(op.after);
  copy_->precision = op.attributes.has(Attr::kPrecision) ? op.attributes.word(Attr::kPrecision) : std::string();
}

std::vector<Value> Rewriter::open_copy(const Block& region, const std::vector<Type>& arguments) {
  std::vector<Value> values = copy_->open_region(arguments);
  for (size_t i = 0; i < region.arguments.size(); ++i) stand_for(region.arguments[i]->result(), values[i]);
  return values;
}

std::vector<std::unique_ptr<Block>> Rewriter::copy_regions(const Op& op, const std::vector<Value>& operands) {
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& region : op.regions) {
    open_copy(*region, argument_types(op.code, operands, regions, op.attributes));
    std::vector<Value> results;
    for (uint32_t i = 0; i < region->results.size(); ++i) {
      if (!dropped_.contains(op.result(i))) results.push_back(region->results[i]);
    }
    regions.push_back(copy_->close_region(copy_block(region.get(), results, region->effects)));
  }
  return regions;
}

std::vector<Value> Rewriter::copy_over(const Op& op, std::vector<Value> operands) {
  std::vector<std::unique_ptr<Block>> regions = copy_regions(op, operands);
  return add_over(op, std::move(operands), std::move(regions));
}

std::vector<Value> Rewriter::add_over(const Op& op, std::vector<Value> operands,
                                      std::vector<std::unique_ptr<Block>> regions) {
  label_as(op);
  Op* made = copy_->add(op.code, std::move(operands), op.attributes, std::move(regions));
  entry(op).copy = made;
  std::vector<Value> results;
  uint32_t next = 0;
  for (uint32_t i = 0; i < op.results.size(); ++i) {
    results.push_back(dropped_.contains(op.result(i)) ? Value() : Value{made, next++});
  }
  return results;
}

void Rewriter::copy_op(const Op& op) {
  std::vector<Value> operands;
  for (const Value& v : op.operands) operands.push_back(mapped(v));
  label_as(op);
  Replacement replacement = rule_(*this, op, operands);
  if (!replacement) replacement = copy_over(op, std::move(operands));
  for (uint32_t i = 0; i < op.results.size(); ++i) stand_for(op.result(i), (*replacement)[i]);
}

Op* copy_into(Graph& graph, const Op& op, ValueMap<Value>& values) {
  std::vector<Value> operands;
  for (const Value& v : op.operands) operands.push_back(values.at(v));
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& region : op.regions) {
    const std::vector<Value> arguments = graph.open_region(argument_types(op.code, operands, regions, op.attributes));
    for (size_t i = 0; i < arguments.size(); ++i) values[region->arguments[i]->result()] = arguments[i];
    for (const auto& inner : region->ops) copy_into(graph, *inner, values);
    std::vector<Value> results;
    for (const Value& v : region->results) results.push_back(values.at(v));
    regions.push_back(graph.close_region(std::move(results)));
  }
  graph.label_as(op);
  Op* made = graph.add(op.code, std::move(operands), op.attributes, std::move(regions));
  for (uint32_t i = 0; i < op.results.size(); ++i) values[op.result(i)] = made->result(i);
  return made;
}

namespace {

std::string quoted(const std::string& name) { return name.empty() ? "" : " '" + name + "'"; }

}  // namespace

void require_fits(const Feed& feed) {
  const Op& op = *feed.placeholder.op;
  if (op.code != OpCode::placeholder) op.fail("Only a placeholder can be fed, not the result of this op");
  const Type &declared = feed.placeholder.type(), &given = feed.type;
  if (declared.dtype != given.dtype) {
    op.fail("The placeholder" + quoted(op.name) + " is " + std::string(name(declared.dtype)) + " but was fed " +
                std::string(name(given.dtype)),
            Error::Kind::kType);
  }
  if (!unify(declared.shape, given.shape)) {
    op.fail("The placeholder" + quoted(op.name) + " has shape " + to_string(declared.shape) + " but was fed shape " +
            to_string(given.shape));
  }
}

namespace {

// Records a mistake; if empty, mistakes are thrown.
using Report = std::function<void(const Error&)>;

// Copies a legal op. If its specialised operands make it illegal, reports the mistake and makes empty values of unknown
// shape, which every later op accepts.
std::vector<Value> copy_or_report(Rewriter& rewriter, const Op& op, const std::vector<Value>& operands,
                                  const Report& report) {
  Graph& copy = rewriter.copy();
  std::vector<std::unique_ptr<Block>> regions = rewriter.copy_regions(op, operands);
  copy.label_as(op);
  copy.after.clear();
  std::vector<Value> results;
  try {
    Op* made = copy.add(op.code, operands, op.attributes, std::move(regions));
    for (uint32_t i = 0; i < op.results.size(); ++i) results.push_back({made, i});
  } catch (const Error& error) {
    report(error);
    for (const Type& type : op.results) {
      results.push_back(copy.value(OpCode::empty, {}, {{Attr::kShape, Shape::unranked()}, {Attr::kDtype, type.dtype}}));
    }
  }
  return results;
}

// Copies a custom gradient without its gradient: only the operands that it passes on as results are kept.
std::vector<Value> copy_forwards(Rewriter& rewriter, const Op& op, std::vector<Value> operands) {
  operands.resize(op.results.size());
  std::vector<std::unique_ptr<Block>> regions;
  rewriter.copy().open_region(argument_types(op.code, operands, {}, op.attributes));
  regions.push_back(rewriter.copy().close_region({}));
  return rewriter.add_over(op, std::move(operands), std::move(regions));
}

// Finds the stacked results of counted loops that nothing needs. Users come after the values they use, so the walk
// begins at the end.
class UnusedStacks {
 public:
  std::unordered_set<Value, ValueHash> find(const std::vector<Value>& results, const std::vector<Op*>& effects) {
    used_.insert(results.begin(), results.end());
    look(live_ops(results, effects));
    return std::move(unused_);
  }

 private:
  void look(const std::vector<Op*>& ops) {
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      used_.insert((*op)->operands.begin(), (*op)->operands.end());
      if ((*op)->info().facts.regions.run == RegionRun::kBackwards) continue;
      for (const auto& region : (*op)->regions) look(**op, *region);
    }
  }

  void look(const Op& op, const Block& region) {
    const Regions& regions = op.info().facts.regions;
    const size_t carried = regions.run == RegionRun::kCounted ? op.operands.size() - regions.own_operands : SIZE_MAX;
    std::vector<Value> needed;
    for (uint32_t i = 0; i < region.results.size(); ++i) {
      if (i < carried || used_.contains(op.result(i))) needed.push_back(region.results[i]);
      else unused_.insert(op.result(i));
    }
    used_.insert(needed.begin(), needed.end());
    std::vector<Op*> inner = live_ops(needed, region.effects);
    std::erase_if(inner, [&](const Op* other) { return other->block != &region; });
    look(inner);
  }

  std::unordered_set<Value, ValueHash> used_, unused_;
};

Specialized specialize(const std::vector<Feed>& feeds, const std::vector<Value>& results,
                       const std::vector<Op*>& effects, const Report& report) {
  Specialized out;
  auto check = [&](const std::function<void()>& work) {
    if (!report) return work();
    try {
      work();
    } catch (const Error& error) {
      report(error);
    }
  };
  ValueMap<Type> fed;
  for (const Feed& feed : feeds) {
    const Op& op = *feed.placeholder.op;
    check([&] {
      if (op.code == OpCode::placeholder && !fed.emplace(feed.placeholder, feed.placeholder.type()).second) {
        op.fail("The placeholder" + quoted(op.name) + " was fed twice");
      }
      require_fits(feed);
      fed[feed.placeholder] = feed.type;
    });
  }
  // Feeds that nothing uses are kept, so that every feed has its placeholder in the copy.
  std::vector<Value> wanted = results;
  for (const Feed& feed : feeds) wanted.push_back(feed.placeholder);
  Rewriter rewriter([&](Rewriter& r, const Op& op, const std::vector<Value>& operands) -> Replacement {
    if (op.code == OpCode::variable) out.slots.push_back(op.attributes.integer(Attr::kSlot));
    if (op.code == OpCode::custom_gradient) return copy_forwards(r, op, operands);
    if (op.code != OpCode::placeholder) {
      if (report) return copy_or_report(r, op, operands, report);
      return std::nullopt;
    }
    const Value placeholder = op.result();
    check([&] {
      if (fed.emplace(placeholder, placeholder.type()).second) {
        op.fail("The placeholder" + quoted(op.name) + " of shape " + to_string(op.results[0].shape) +
                " is needed but was not fed");
      }
    });
    const Type& type = fed.at(placeholder);
    return {{r.copy().value(OpCode::placeholder, {}, {{Attr::kShape, type.shape}, {Attr::kDtype, type.dtype}})}};
  });
  if (!report) rewriter.drop(UnusedStacks().find(wanted, effects));
  out.graph = rewriter.run(wanted, effects);
  auto& all = out.graph->body().results;
  out.feeds.assign(all.begin() + static_cast<long>(results.size()), all.end());
  all.resize(results.size());
  std::sort(out.slots.begin(), out.slots.end());
  return out;
}

}  // namespace

Specialized specialize(const std::vector<Feed>& feeds, const std::vector<Value>& results,
                       const std::vector<Op*>& effects) {
  return specialize(feeds, results, effects, Report());
}

Specialized specialize(const std::vector<Feed>& feeds, const std::vector<Value>& results,
                       const std::vector<Op*>& effects, std::vector<std::string>& problems) {
  return specialize(feeds, results, effects, Report([&](const Error& error) { problems.push_back(error.what()); }));
}

void carry_feeds(Specialized& special, const std::function<std::unique_ptr<Graph>(const Graph&)>& pass) {
  auto& given = special.graph->body().results;
  given.insert(given.begin(), special.feeds.begin(), special.feeds.end());
  special.graph = pass(*special.graph);
  auto& results = special.graph->body().results;
  const auto end_of_feeds = results.begin() + static_cast<long>(special.feeds.size());
  special.feeds.assign(results.begin(), end_of_feeds);
  results.erase(results.begin(), end_of_feeds);
}

}  // namespace alloy::ir
