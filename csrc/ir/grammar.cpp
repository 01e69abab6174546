#include "ir/grammar.h"

#include <algorithm>
#include <unordered_set>

#include "ir/transform/walk.h"

namespace alloy::ir {
namespace {

// True if ops in `block` may use the values of `other`: `other` is the same block or one around it.
bool can_see(const Block* block, const Block* other) {
  while (block != nullptr && block != other) block = block->parent == nullptr ? nullptr : block->parent->block;
  return block == other;
}

// The number of arguments that the op passes to its region `k`.
size_t argument_count(const Op& op, size_t k) {
  const Regions& regions = op.info().facts.regions;
  if (regions.run == RegionRun::kBackwards) return static_cast<size_t>(op.attributes.integer(Attr::kCount));
  if (!regions.is_loop()) return 0;
  const size_t own = regions.own_arguments[k];
  if (k == 0) return own + op.operands.size() - regions.own_operands;
  return own + op.regions[k - 1]->results.size() - regions.own_results[k - 1];
}

// The mistake in the number of regions or of their arguments, or nothing.
std::optional<std::string> region_mistake(const Op& op) {
  const Regions& regions = op.info().facts.regions;
  if (op.regions.size() != regions.count) return "Expected " + std::to_string(regions.count) + " regions";
  for (size_t k = 0; k < op.regions.size(); ++k) {
    const std::string region = "region " + std::to_string(k);
    const size_t wanted = argument_count(op, k), has = op.regions[k]->arguments.size();
    if (has != wanted) {
      return "Expected " + std::to_string(wanted) + " arguments of " + region + ", got " + std::to_string(has);
    }
    const size_t own = regions.own_results[k], given = op.regions[k]->results.size();
    if (given < own) {
      return "Expected " + std::to_string(own) + " or more results of " + region + ", got " + std::to_string(given);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> signature_mistake(const Signature& row, const std::vector<Value>& operands,
                                             const Attributes& attributes) {
  const int given = static_cast<int>(operands.size());
  if (given < row.fewest_operands || (row.most_operands >= 0 && given > row.most_operands)) {
    std::string expected = std::to_string(row.fewest_operands);
    if (row.most_operands < 0) expected += " or more";
    else if (row.most_operands != row.fewest_operands) expected += " to " + std::to_string(row.most_operands);
    return "Expected " + expected + " operands, got " + std::to_string(given);
  }
  for (const Value& v : operands) {
    if (!v) return "An operand is missing";
    if (v.index >= v.op->results.size()) {
      return "Expected a result of " + std::string(v.op->info().name) + ", which gives " +
             std::to_string(v.op->results.size()) + ", got number " + std::to_string(v.index);
    }
  }
  for (const auto& [attr, value] : attributes.entries()) {
    if ((row.attributes >> static_cast<int>(attr) & 1) == 0) return "Unknown attribute " + std::string(name(attr));
    if (!is_legal(attr, value)) {
      return "The attribute " + std::string(name(attr)) + " is not legal" +
             (words(attr).empty() ? "" : " (one of " + std::string(words(attr)) + ")");
    }
  }
  for (const Attr attr : attributes_of(row)) {
    if (!is_optional(attr) && !attributes.has(attr)) {
      return "The attribute " + std::string(name(attr)) + " is missing";
    }
  }
  return std::nullopt;
}

std::optional<std::string> grammar_mistake(const Op& op) {
  if (auto mistake = signature_mistake(op.info(), op.operands, op.attributes)) return mistake;
  if (auto mistake = region_mistake(op)) return mistake;
  if ((op.code == OpCode::assign || op.code == OpCode::read_variable) && op.operands[0].op->code != OpCode::variable) {
    return "Expected a variable, got the result of " + std::string(op.operands[0].op->info().name);
  }
  if (op.code == OpCode::fused) {
    for (const Value& v : captures(op)) {
      if (std::find(op.operands.begin(), op.operands.end(), v) == op.operands.end()) {
        return "Expected every value that the region uses among the operands";
      }
    }
  }
  return std::nullopt;
}

namespace {

class Verifier {
 public:
  std::vector<std::string> run(const Graph& graph) {
    for (const auto& argument : graph.body().arguments) report(*argument, "stands in the body, which has no arguments");
    verify_block(graph.body());
    return std::move(problems_);
  }

 private:
  using Defined = std::unordered_set<const Op*>;

  void report(const Op& op, const std::string& message) {
    problems_.push_back("[" + std::string(op.info().name) + " #" + std::to_string(op.id) + "] " + message);
  }

  void verify_block(const Block& block) {
    const Op* previous = nullptr;
    for (const auto* list : {&block.arguments, &block.ops}) {
      for (const auto& op : *list) {
        if (previous != nullptr && op->id <= previous->id) report(*op, "stands behind an op that was made later");
        previous = op.get();
        if ((op->code == OpCode::argument) != (list == &block.arguments)) {
          report(*op, op->code == OpCode::argument ? "stands among the ops of a block" : "stands among arguments");
        }
        if (auto mistake = grammar_mistake(*op)) {
          report(*op, *mistake);
          continue;
        }
        verify_place(*op, block);
        for (const auto& region : op->regions) {
          if (region->parent != op.get()) report(*op, "holds a region of another op");
          const Defined outside = defined_;
          verify_block(*region);
          defined_ = outside;
        }
        verify_types(*op);
        defined_.insert(op.get());
      }
    }
    verify_end(block);
  }

  void verify_place(const Op& op, const Block& block) {
    if (op.block != &block) report(op, "stands in a block that does not hold it");
    for (const Value& v : op.operands) {
      if (!defined_.contains(v.op) || !can_see(op.block, v.op->block)) {
        report(op, "uses a value that is not defined before it");
      }
    }
    if (op.code == OpCode::variable && !slots_.insert(op.attributes.integer(Attr::kSlot)).second) {
      report(op, "has the slot of another variable");
    }
    if (op.info().facts.global && block.parent != nullptr) report(op, "stands in a region");
    for (const Op* before : op.after) {
      if (!defined_.contains(before)) report(op, "runs after an op that does not come before it");
    }
  }

  void verify_types(const Op& op) {
    for (const auto& region : op.regions) {
      const auto is_value = [](const Value& v) { return v && v.index < v.op->results.size(); };
      if (!std::all_of(region->results.begin(), region->results.end(), is_value)) return;  // reported above
    }
    try {
      if (infer(op) != op.results) report(op, "has results other than its rule gives");
    } catch (const Error& error) {
      problems_.push_back(error.what());
    }
  }

  void verify_end(const Block& block) {
    for (const Value& v : block.results) {
      if (!defined_.contains(v.op) || v.index >= v.op->results.size()) {
        problems_.push_back("[block] returns a value that is not defined in it");
      }
    }
    for (const Op* op : block.effects) {
      if (!defined_.contains(op) || op->block != &block) {
        problems_.push_back("[block] lists an effect that is not in it");
      }
    }
    for (const auto& op : block.ops) {
      const bool listed = std::find(block.effects.begin(), block.effects.end(), op.get()) != block.effects.end();
      if (block.parent != nullptr && has_effect(*op) && !listed) {
        report(*op, "is an effect that its region does not list");
      }
    }
  }

  Defined defined_;  // the values that an op may use at this point
  std::unordered_set<int64_t> slots_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> verify(const Graph& graph) { return Verifier().run(graph); }

}  // namespace alloy::ir
