// The reverse walk. A table op's gradient stands in its row of ops.def, a structured op's in its family's file (ops/).
#include "ir/gradients.h"

#include <algorithm>
#include <unordered_set>

#include "ir/names.h"
#include "ir/rules.h"
#include "ir/walk.h"

namespace alloy::ir {
namespace {

void differentiate(GradientRule& r) {
  switch (r.op().code) {
#define ALLOY_ROW(name) \
  case OpCode::name: return gradient_##name(r);
#include "ir/ops.def"
  }
}

// Whether the result's derivative to the operand can differ from zero: not where the op only takes its shape, nor
// through stop_gradient.
bool passes_gradient(const Op& op, size_t operand) {
  return op.code != OpCode::stop_gradient && op.info().reads(operand);
}

// The reverse walk over a block and, through conditionals, over the blocks in it.
class Walk {
 public:
  using Adjoints = ValueMap<Expr>;

  Walk(Graph& graph, const std::vector<Value>& targets) : graph_(graph), targets_(targets.begin(), targets.end()) {}

  // Finds what the targets reach: only that gets a gradient.
  void mark(const std::vector<Op*>& ops) {
    for (Op* op : ops) {
      bool reached = false;
      for (size_t i = 0; i < op->operands.size(); ++i) reached |= passes_gradient(*op, i) && is_active(op->operands[i]);
      for (const auto& region : op->regions) mark(live_in(*region));
      if (op->info().facts.regions.is_loop()) reached = reaches(*op);
      for (uint32_t i = 0; i < op->results.size(); ++i) {
        bool active = reached;
        if (op->info().facts.regions.run == Run::kEither) {
          active = is_active(op->regions[0]->results[i]) || is_active(op->regions[1]->results[i]);
        }
        if (active) active_.insert({op, i});
      }
    }
  }

  // From the adjoints of what `ops` compute to those of what they use.
  void walk(const std::vector<Op*>& ops, Adjoints& adjoints) {
    for (auto it = ops.rbegin(); it != ops.rend(); ++it) {
      const Op& op = **it;
      std::vector<Expr> incoming;
      for (uint32_t i = 0; i < op.results.size(); ++i) {
        const auto found = adjoints.find({*it, i});
        incoming.push_back(found == adjoints.end() ? none : found->second);
      }
      if (std::none_of(incoming.begin(), incoming.end(), [](const Expr& g) { return static_cast<bool>(g); })) continue;
      label(op);
      if (op.info().facts.regions.is_loop() && active_.contains({*it, 0})) op.fail("A loop has no gradient");
      if (op.info().facts.regions.run == Run::kEither) {
        walk_branches(*it, incoming, adjoints);
      } else {
        walk_op(op, std::move(incoming), adjoints);
      }
    }
  }

  static std::vector<Op*> live_in(const Block& block) {
    std::vector<Op*> ops = live_ops(block.results, {});
    std::erase_if(ops, [&](const Op* op) { return op->block != &block; });
    return ops;
  }

 private:
  // What is added from now on came of the op's line, and is called after it.
  void label(const Op& op) {
    graph_.location = op.location;
    graph_.name = name_in(kGradients, op.name.empty() ? op.info().name : op.name);
  }

  bool is_active(Value v) const { return active_.contains(v) || targets_.contains(v); }

  // Whether a target reaches any result of a loop, which may hand any value on to any other.
  bool reaches(const Op& loop) const {
    const auto is_active = [this](Value v) { return this->is_active(v); };
    const std::vector<Value> used = used_values(loop);
    if (std::any_of(used.begin(), used.end(), is_active)) return true;
    return std::any_of(loop.regions.begin(), loop.regions.end(), [&](const auto& region) {
      return std::any_of(region->ops.begin(), region->ops.end(), [&](const auto& op) {
        for (uint32_t i = 0; i < op->results.size(); ++i) {
          if (is_active(op->result(i))) return true;
        }
        return false;
      });
    });
  }

  static void add_to(Adjoints& adjoints, Value v, Expr gradient) {
    Expr& total = adjoints[v];
    total = total ? total + gradient : gradient;
  }

  void walk_op(const Op& op, std::vector<Expr> incoming, Adjoints& adjoints) {
    std::vector<bool> wanted;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      wanted.push_back(passes_gradient(op, i) && is_active(op.operands[i]));
    }
    if (std::none_of(wanted.begin(), wanted.end(), [](bool w) { return w; })) return;
    GradientRule rule(graph_, op, std::move(incoming), wanted);
    differentiate(rule);
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (rule.outgoing()[i] && wanted[i]) add_to(adjoints, op.operands[i], rule.outgoing()[i]);
    }
  }

  // The gradient of a conditional is a conditional on the same predicate, whose branches differentiate its branches and
  // give the gradients of what those capture.
  void walk_branches(Op* op, const std::vector<Expr>& incoming, Adjoints& adjoints) {
    std::vector<Value> captured = captures(*op);
    std::erase_if(captured, [&](Value v) { return !is_active(v); });
    if (captured.empty()) return;
    std::vector<std::unique_ptr<Block>> branches;
    for (const auto& region : op->regions) {
      graph_.open_region();
      // An op without a gradient leaves no region open behind it.
      struct Close {
        Graph* graph;
        ~Close() {
          if (graph != nullptr) graph->close_region({});
        }
      } on_error{&graph_};
      Adjoints inner;
      for (size_t i = 0; i < incoming.size(); ++i) {
        if (incoming[i]) add_to(inner, region->results[i], incoming[i]);
      }
      walk(live_in(*region), inner);
      std::vector<Value> gradients;
      for (Value v : captured) {
        const Expr x(graph_, v);
        gradients.push_back((inner.contains(v) ? inner.at(v) : broadcast_like(x.scalar(0), x)).value());
      }
      on_error.graph = nullptr;
      branches.push_back(graph_.close_region(std::move(gradients)));
    }
    for (size_t k = 0; k < branches.size(); ++k) borrow(*branches[k], op, k);
    label(*op);
    Op* made = graph_.add(op->code, op->operands, {}, std::move(branches));
    for (uint32_t i = 0; i < captured.size(); ++i) add_to(adjoints, captured[i], Expr(graph_, {made, i}));
  }

  // What the gradient of branch `k` uses of that branch becomes a result of the conditional, through which it can be
  // seen.
  void borrow(Block& block, Op* conditional, size_t k) {
    for (auto& op : block.ops) {
      for (Value& v : op->operands) {
        if (v.op->block == conditional->regions[k].get()) v = graph_.lend(conditional, k, v);
      }
      for (auto& region : op->regions) borrow(*region, conditional, k);
    }
  }

  Graph& graph_;
  std::unordered_set<Value, ValueHash> targets_, active_;
};

}  // namespace

std::vector<Value> gradients(Graph& graph, Value primary, const std::vector<Value>& targets, Value seed) {
  if (kind(primary.dtype()) != DTypeKind::kFloating) {
    primary.op->fail("Expected a floating result to differentiate, got " + to_string(primary.type()),
                     Error::Kind::kType);
  }
  if (seed && (seed.dtype() != primary.dtype() || !unify(seed.shape(), primary.shape()))) {
    primary.op->fail("Expected a seed " + to_string(primary.type()) + ", got " + to_string(seed.type()));
  }
  // What the user adds next did not come of the ops that the walk passes.
  struct Restore {
    Graph& graph;
    std::string name = graph.name, location = graph.location;
    ~Restore() {
      graph.name = std::move(name);
      graph.location = std::move(location);
    }
  } restore{graph};
  const std::vector<Op*> ops = live_ops({primary}, {});
  Walk walk(graph, targets);
  walk.mark(ops);
  Walk::Adjoints adjoints;
  const Expr of_primary(graph, primary);
  adjoints[primary] = seed ? Expr(graph, seed) : broadcast_like(of_primary.scalar(1.0), of_primary);
  walk.walk(ops, adjoints);
  std::vector<Value> out;
  for (const Value& target : targets) {
    const auto found = adjoints.find(target);
    out.push_back(found == adjoints.end() ? Value{} : found->second.value());
  }
  return out;
}

Expr adjoint(Expr g, Expr x, const std::function<Expr(Expr)>& f) {
  Graph& graph = x.graph();
  const Value y = f(x).value();
  if (g.value().dtype() != y.dtype() || !unify(g.shape(), y.shape())) {
    y.op->fail("Expected an incoming gradient " + to_string(y.type()) + ", got " + to_string(g.value().type()));
  }
  const Value gradient = gradients(graph, y, {x.value()}, g.value())[0];
  if (!gradient) return broadcast_like(x.scalar(0), x);
  return gradient == g.value() ? identity(g) : Expr(graph, gradient);  // an op of its own
}

}  // namespace alloy::ir
