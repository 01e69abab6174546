#include "ir/grammar.h"

#include <algorithm>
#include <unordered_set>

#include "ir/walk.h"

namespace alloy::ir {
namespace {

// Whether code in `block` may use what `other` holds: its own block or one around it.
bool can_see(const Block* block, const Block* other) {
  while (block != nullptr && block != other) block = block->parent == nullptr ? nullptr : block->parent->block;
  return block == other;
}

}  // namespace

std::optional<std::string> grammar_mistake(const Op& op) {
  const OpInfo& row = op.info();
  const int given = static_cast<int>(op.operands.size());
  if (given < row.fewest_operands || (row.most_operands >= 0 && given > row.most_operands)) {
    std::string expected = std::to_string(row.fewest_operands);
    if (row.most_operands < 0) expected += " or more";
    else if (row.most_operands != row.fewest_operands) expected += " to " + std::to_string(row.most_operands);
    return "Expected " + expected + " operands, got " + std::to_string(given);
  }
  for (const Value& v : op.operands) {
    if (!v) return "An operand is missing";
    if (v.index >= v.op->results.size()) {
      return "Expected a result of " + std::string(v.op->info().name) + ", which gives " +
             std::to_string(v.op->results.size()) + ", got number " + std::to_string(v.index);
    }
  }
  for (const auto& [attr, value] : op.attributes.entries()) {
    if ((row.attributes >> static_cast<int>(attr) & 1) == 0) return "Unknown attribute " + std::string(name(attr));
    if (!is_legal(attr, value)) {
      return "The attribute " + std::string(name(attr)) + " is not legal" +
             (words(attr).empty() ? "" : " (one of " + std::string(words(attr)) + ")");
    }
  }
  for (int i = 0; i < 64; ++i) {
    const Attr attr = static_cast<Attr>(i);
    if ((row.attributes >> i & 1) != 0 && kind(attr) != AttrKind::Bool && !op.attributes.has(attr)) {
      return "The attribute " + std::string(name(attr)) + " is missing";
    }
  }
  if (op.regions.size() != row.facts.regions) return "Expected " + std::to_string(row.facts.regions) + " regions";
  if ((op.code == OpCode::assign || op.code == OpCode::read_variable) && op.operands[0].op->code != OpCode::variable) {
    return "Expected a variable, got the result of " + std::string(op.operands[0].op->info().name);
  }
  return std::nullopt;
}

namespace {

void verify_block(const Block& block, std::unordered_set<const Op*>& defined, std::unordered_set<int64_t>& slots,
                  std::vector<std::string>& problems) {
  auto report = [&](const Op& op, const std::string& message) {
    problems.push_back("[" + std::string(op.info().name) + " #" + std::to_string(op.id) + "] " + message);
  };
  const Op* previous = nullptr;
  for (const auto& op : block.ops) {
    if (previous != nullptr && op->id <= previous->id) report(*op, "stands behind an op that was made later");
    previous = op.get();
    if (auto mistake = grammar_mistake(*op)) {
      report(*op, *mistake);
      continue;
    }
    if (op->block != &block) report(*op, "stands in a block that does not hold it");
    for (const Value& v : op->operands) {
      if (!defined.contains(v.op) || !can_see(op->block, v.op->block)) {
        report(*op, "uses a value that is not defined before it");
      }
    }
    if (op->code == OpCode::variable && !slots.insert(op->attributes.integer(Attr::kSlot)).second) {
      report(*op, "has the slot of another variable");
    }
    const bool global = op->code == OpCode::variable || op->code == OpCode::placeholder;
    if (global && block.parent != nullptr) report(*op, "stands in a region");
    if (op->code == OpCode::fused) {
      for (const Value& v : captures(*op)) {
        if (std::find(op->operands.begin(), op->operands.end(), v) == op->operands.end()) {
          report(*op, "uses a value that is not among its operands");
        }
      }
    }
    for (const Op* before : op->after) {
      if (!defined.contains(before)) report(*op, "runs after an op that does not come before it");
    }
    for (const auto& region : op->regions) {
      if (region->parent != op.get()) report(*op, "holds a region of another op");
      std::unordered_set<const Op*> inside = defined;
      verify_block(*region, inside, slots, problems);
    }
    try {
      const std::vector<Type> types = infer(*op);
      if (types != op->results) report(*op, "has results other than its rule gives");
    } catch (const Error& error) {
      problems.push_back(error.what());
    }
    defined.insert(op.get());
  }
  for (const Value& v : block.results) {
    if (!defined.contains(v.op) || v.index >= v.op->results.size()) {
      problems.push_back("[block] returns a value that is not defined in it");
    }
  }
  for (const Op* op : block.effects) {
    if (!defined.contains(op) || op->block != &block) problems.push_back("[block] lists an effect that is not in it");
  }
  for (const auto& op : block.ops) {
    const bool listed = std::find(block.effects.begin(), block.effects.end(), op.get()) != block.effects.end();
    if (block.parent != nullptr && has_effect(*op) && !listed) {
      report(*op, "is an effect that its region does not list");
    }
  }
}

}  // namespace

std::vector<std::string> verify(const Graph& graph) {
  std::vector<std::string> problems;
  std::unordered_set<const Op*> defined;
  std::unordered_set<int64_t> slots;
  verify_block(graph.body(), defined, slots, problems);
  return problems;
}

}  // namespace alloy::ir
