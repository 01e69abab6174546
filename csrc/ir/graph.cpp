#include "ir/graph.h"

#include <algorithm>
#include <unordered_set>

#include "ir/grammar.h"
#include "ir/regions.h"

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
  // State and inputs belong to the graph, wherever they are made.
  const bool global = code == OpCode::variable || code == OpCode::placeholder;
  op->block = open_.empty() || global ? body_.get() : open_.back().get();
  op->name = name;
  op->location = location;
  if (code == OpCode::variable) op->attributes.set(Attr::kSlot, variable_count_);
  if (code == OpCode::argument) op->fail("Arguments stand at the head of a region, not among its ops");
  if (auto mistake = grammar_mistake(*op)) op->fail(*mistake);
  if (code == OpCode::transpose) {
    // From here on axes are counted from the front.
    Dims permutation = op->attributes.ints(Attr::kPermutation);
    const auto rank = static_cast<int64_t>(permutation.size());
    for (int64_t& axis : permutation) axis = normalize_axis(axis, rank).value_or(axis);
    op->attributes.set(Attr::kPermutation, permutation);
  }
  for (const Value& v : op->operands) {
    if (!holds(v.op->block)) {
      op->fail("An operand, the result of " + std::string(v.op->info().name) + ", is of another graph");
    }
  }
  for (const Op* before : after) {
    if (!holds(before->block)) {
      op->fail("An op to run after, " + std::string(before->info().name) + ", is of another graph");
    }
  }
  op->results = infer(*op);
  for (const Type& type : op->results) {
    if (type.shape.ranked() && type.shape.rank() > kMostAxes) {
      op->fail("Expected at most " + std::to_string(kMostAxes) + " axes, got " + std::to_string(type.shape.rank()));
    }
  }
  if (code == OpCode::variable) ++variable_count_;
  op->id = next_id_++;
  for (auto& region : op->regions) region->parent = op.get();
  return op->block->ops.emplace_back(std::move(op)).get();
}

std::vector<Value> Graph::open_region(const std::vector<Type>& arguments) {
  auto block = std::make_unique<Block>();
  std::vector<Value> values;
  for (const Type& type : arguments) {
    auto argument = std::make_unique<Op>();
    argument->code = OpCode::argument;
    argument->attributes = {{Attr::kShape, type.shape}, {Attr::kDtype, type.dtype}};
    argument->block = block.get();
    argument->location = location;
    argument->id = next_id_++;
    argument->results = infer(*argument);
    values.push_back({block->arguments.emplace_back(std::move(argument)).get(), 0});
  }
  open_.push_back(std::move(block));
  return values;
}

std::unique_ptr<Block> Graph::close_region(std::vector<Value> results) {
  const bool own = std::all_of(results.begin(), results.end(), [&](const Value& v) { return v && holds(v.op->block); });
  std::unique_ptr<Block> block = std::move(open_.back());
  open_.pop_back();
  if (!own) throw Error(Error::Kind::kValue, "[region] A result is of another graph.");
  block->results = std::move(results);
  for (auto& op : block->ops) {
    if (has_effect(*op)) block->effects.push_back(op.get());
  }
  return block;
}

bool Graph::holds(const Block* block) const {
  while (block->parent != nullptr) block = block->parent->block;
  return block == body_.get() ||
         std::any_of(open_.begin(), open_.end(), [&](const auto& open) { return open.get() == block; });
}

Value Graph::lend(Op* conditional, size_t k, Value inner) {
  auto& results = conditional->regions[k]->results;
  const auto known = std::find(results.begin(), results.end(), inner);
  if (known != results.end()) return {conditional, static_cast<uint32_t>(known - results.begin())};
  Block& other = *conditional->regions[1 - k];
  auto empty = std::make_unique<Op>();
  empty->code = OpCode::empty;
  empty->attributes = {{Attr::kShape, Shape::unranked()}, {Attr::kDtype, inner.dtype()}};
  empty->block = &other;
  empty->id = next_id_++;
  empty->results = infer(*empty);
  results.push_back(inner);
  other.results.push_back({other.ops.emplace_back(std::move(empty)).get(), 0});
  conditional->results.push_back(inner.type());
  return {conditional, static_cast<uint32_t>(conditional->results.size() - 1)};
}

bool has_effect(const Op& op) {
  if (op.code == OpCode::assign) return true;
  return std::any_of(op.regions.begin(), op.regions.end(), [](const auto& region) { return !region->effects.empty(); });
}

bool reads(const Op& op, size_t operand) {
  switch (op.code) {
    case OpCode::reshape_like:
    case OpCode::broadcast_like:
    case OpCode::reduce_like:
    case OpCode::slice_gradient:
    case OpCode::avg_pool2d_gradient: return operand == 0;
    case OpCode::conv2d_data_gradient:
    case OpCode::conv2d_weights_gradient: return operand < 2;
    case OpCode::shape_of:
    case OpCode::count: return false;
    default: return true;
  }
}

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

}  // namespace

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

size_t coefficient_count(OpCode code) { return code == OpCode::sgd ? 1 : code == OpCode::adam ? 4 : 0; }

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
      for (const Value& v : region->results) visit(v.op);
      for (Op* effect : region->effects) visit(effect);
    }
  }
  std::vector<Op*> ordered(seen.begin(), seen.end());
  // What regions need in themselves led to what they capture and must come after. Arguments are there on entry.
  std::erase_if(ordered,
                [&](const Op* op) { return seen.contains(op->block->parent) || op->code == OpCode::argument; });
  std::sort(ordered.begin(), ordered.end(), [](Op* a, Op* b) { return a->id < b->id; });
  return ordered;
}

namespace {

// Calls f with the op and with every op in its regions, however deep.
void for_each_nested(const Op& op, const std::function<void(const Op&)>& f) {
  f(op);
  for (const auto& region : op.regions) {
    for (const auto& inner : region->ops) for_each_nested(*inner, f);
  }
}

}  // namespace

std::vector<std::vector<Op*>> stages(const std::vector<Value>& results, const std::vector<Op*>& effects) {
  std::vector<std::vector<Op*>> out;
  std::unordered_map<const Op*, size_t> behind;  // an op, the first stage that may use it
  struct Accessed {
    size_t assigned = 0, read = 0;  // likewise, of a variable at that point of execution
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

Value Rewriter::mapped(Value from) const {
  const auto it = values_.find(from);
  if (it == values_.end() || it->second.op->block->parent != nullptr) {
    from.op->fail("The value belongs to a nested block and cannot be used outside it");
  }
  return it->second;
}

std::vector<Op*> Rewriter::mapped(const std::vector<Op*>& effects) const {
  std::vector<Op*> out;
  for (Op* op : effects) {
    if (auto it = ops_.find(op); it != ops_.end()) out.push_back(it->second);
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
  copy_->name = op.name;
  copy_->location = op.location;
  copy_->after = mapped(op.after);
}

std::vector<Value> Rewriter::open_copy(const Block& region, const std::vector<Type>& arguments) {
  std::vector<Value> values = copy_->open_region(arguments);
  for (size_t i = 0; i < region.arguments.size(); ++i) values_[{region.arguments[i].get(), 0}] = values[i];
  return values;
}

std::vector<std::unique_ptr<Block>> Rewriter::copy_regions(const Op& op, const std::vector<Value>& operands) {
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& region : op.regions) {
    open_copy(*region, argument_types(op.code, operands, regions));
    regions.push_back(copy_->close_region(copy_block(*region)));
  }
  return regions;
}

std::vector<Value> Rewriter::copy_over(const Op& op, std::vector<Value> operands) {
  std::vector<std::unique_ptr<Block>> regions = copy_regions(op, operands);
  label_as(op);
  Op* made = copy_->add(op.code, std::move(operands), op.attributes, std::move(regions));
  if (op.code == OpCode::variable) made->attributes.set(Attr::kSlot, op.attributes.integer(Attr::kSlot));
  ops_[&op] = made;
  std::vector<Value> results;
  for (uint32_t i = 0; i < op.results.size(); ++i) results.push_back({made, i});
  return results;
}

void Rewriter::copy_op(const Op& op) {
  std::vector<Value> operands;
  for (const Value& v : op.operands) operands.push_back(mapped(v));
  label_as(op);
  std::optional<std::vector<Value>> replacement = rule_(*this, op, operands);
  if (!replacement) replacement = copy_over(op, std::move(operands));
  for (uint32_t i = 0; i < op.results.size(); ++i) values_[{const_cast<Op*>(&op), i}] = (*replacement)[i];
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

// Takes note of a mistake; or, where nobody listens, throws it.
using Report = std::function<void(const Error&)>;

// A copy of a legal op, or, of one that its specialised operands make illegal, empty values of unknown shape, to which
// nothing behind it can object.
std::vector<Value> copy_or_report(Rewriter& rewriter, const Op& op, const std::vector<Value>& operands,
                                  const Report& report) {
  Graph& copy = rewriter.copy();
  std::vector<std::unique_ptr<Block>> regions = rewriter.copy_regions(op, operands);
  copy.name = op.name;
  copy.location = op.location;
  copy.after.clear();
  std::vector<Value> results;
  try {
    Op* made = copy.add(op.code, operands, op.attributes, std::move(regions));
    if (op.code == OpCode::variable) made->attributes.set(Attr::kSlot, op.attributes.integer(Attr::kSlot));
    for (uint32_t i = 0; i < op.results.size(); ++i) results.push_back({made, i});
  } catch (const Error& error) {
    report(error);
    for (const Type& type : op.results) {
      results.push_back(copy.value(OpCode::empty, {}, {{Attr::kShape, Shape::unranked()}, {Attr::kDtype, type.dtype}}));
    }
  }
  return results;
}

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
  // Feeds that nothing uses still take part, so that every feed has its placeholder in the copy.
  std::vector<Value> wanted = results;
  for (const Feed& feed : feeds) wanted.push_back(feed.placeholder);
  Rewriter rewriter(
      [&](Rewriter& r, const Op& op, const std::vector<Value>& operands) -> std::optional<std::vector<Value>> {
        if (op.code == OpCode::variable) out.slots.push_back(op.attributes.integer(Attr::kSlot));
        if (op.code != OpCode::placeholder) {
          if (report) return copy_or_report(r, op, operands, report);
          return std::nullopt;
        }
        const Value placeholder{const_cast<Op*>(&op), 0};
        check([&] {
          if (fed.emplace(placeholder, placeholder.type()).second) {
            op.fail("The placeholder" + quoted(op.name) + " of shape " + to_string(op.results[0].shape) +
                    " is needed but was not fed");
          }
        });
        const Type& type = fed.at(placeholder);
        return {{r.copy().value(OpCode::placeholder, {}, {{Attr::kShape, type.shape}, {Attr::kDtype, type.dtype}})}};
      });
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

}  // namespace alloy::ir
