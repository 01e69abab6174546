#include "ir/graph.h"

#include <algorithm>

#include "ir/grammar.h"

namespace alloy::ir {

const Type& Value::type() const { return op->results[index]; }

void Op::fail(const std::string& message, Error::Kind kind) const {
  const std::string called = !typed.empty() ? typed
                             : code == OpCode::native && attributes.has(Attr::kFunction)
                                 ? attributes.word(Attr::kFunction)
                                 : std::string(info().name);
  throw Error(kind, "[" + called + "] " + message, location);
}

Graph::Graph() : body_(std::make_unique<Block>()) {}
Graph::~Graph() = default;

void Graph::label_as(const Op& op) {
  name = op.name;
  location = op.location;
  typed = op.typed;
}

Op* Graph::add(OpCode code, std::vector<Value> operands, Attributes attributes) {
  return add(code, std::move(operands), std::move(attributes), {});
}

Value Graph::value(OpCode code, std::vector<Value> operands, Attributes attributes) {
  return Value{add(code, std::move(operands), std::move(attributes)), 0};
}

Op* Graph::add(OpCode code, std::vector<Value> operands, Attributes attributes,
               std::vector<std::unique_ptr<Block>> regions) {
  auto op = std::make_unique<Op>();
  // If the op is refused, its regions are kept, since the user may still hold values of them.
  struct Keep {
    std::unique_ptr<Op>& op;
    std::vector<std::unique_ptr<Block>>& abandoned;
    ~Keep() {
      if (op) std::move(op->regions.begin(), op->regions.end(), std::back_inserter(abandoned));
    }
  } on_error{op, abandoned_};
  op->code = code;
  op->operands = std::move(operands);
  op->attributes = std::move(attributes);
  op->after = after;
  op->regions = std::move(regions);
  op->block = open_.empty() || op->info().facts.global ? body_.get() : open_.back().get();
  op->name = name;
  op->location = location;
  op->typed = typed;
  if (code == OpCode::variable && !op->attributes.has(Attr::kSlot)) op->attributes.set(Attr::kSlot, variable_count_);
  if (op->info().multiplies() && !precision.empty() && !op->attributes.has(Attr::kPrecision)) {
    op->attributes.set(Attr::kPrecision, precision);
  }
  if (code == OpCode::argument) op->fail("Arguments stand at the head of a region, not among its ops");
  if (auto mistake = grammar_mistake(*op)) op->fail(*mistake);
  if (code == OpCode::transpose) {
    // Axes are stored as counted from the front.
    Dims permutation = op->attributes.ints(Attr::kPermutation);
    const int64_t rank = permutation.size();
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
  if (code == OpCode::variable) variable_count_ = std::max(variable_count_, op->attributes.integer(Attr::kSlot) + 1);
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
    values.push_back(block->arguments.emplace_back(std::move(argument))->result());
  }
  open_.push_back(std::move(block));
  return values;
}

std::unique_ptr<Block> Graph::close_region(std::vector<Value> results) {
  const bool own = std::all_of(results.begin(), results.end(), [&](const Value& v) { return v && holds(v.op->block); });
  std::unique_ptr<Block> block = std::move(open_.back());
  open_.pop_back();
  if (!own) {
    abandon(std::move(block));
    throw Error(Error::Kind::kValue, "[region] A result is of another graph.");
  }
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

void Graph::abandon_region() {
  abandoned_.push_back(std::move(open_.back()));
  open_.pop_back();
}

bool Graph::sees(Value value) const {
  const Block* block = value.op->block;
  return block == body_.get() ||
         std::any_of(open_.begin(), open_.end(), [&](const auto& open) { return open.get() == block; });
}

Value Graph::stack(Op* loop, Value inner) {
  std::vector<Value>& results = loop->regions[0]->results;
  const size_t carried = loop->operands.size() - loop->info().facts.regions.own_operands;
  auto known = std::find(results.begin() + static_cast<long>(carried), results.end(), inner);
  const auto index = static_cast<uint32_t>(known - results.begin());
  if (known == results.end()) {
    results.push_back(inner);
    loop->results = infer(*loop);
  }
  return {loop, index};
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
  if (op.info().facts.effect) return true;
  return std::any_of(op.regions.begin(), op.regions.end(), [](const auto& region) { return !region->effects.empty(); });
}

}  // namespace alloy::ir
