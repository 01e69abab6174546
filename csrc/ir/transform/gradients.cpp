// Differentiation in reverse. A table op's gradient is in its row of ops.def, a structured op's in its family's file
// (ops/).
#include "ir/transform/gradients.h"

#include <algorithm>
#include <unordered_set>

#include "ir/names.h"
#include "ir/rules/elements.h"
#include "ir/rules/rules.h"
#include "ir/transform/regions.h"
#include "ir/transform/walk.h"

namespace alloy::ir {
namespace {

void differentiate(GradientRule& r) {
  switch (r.op().code) {
#define ALLOY_ROW(name) \
  case OpCode::name: return gradient_##name(r);
#include "ir/ops.def"
  }
}

// True if the result's derivative with respect to the operand can differ from zero. It is zero if the op reads only the
// operand's shape, for stop_gradient, and for the operands that custom_gradient passes on as its results.
bool passes_gradient(const Op& op, size_t operand) {
  if (op.code == OpCode::custom_gradient && operand < op.results.size()) return false;
  return op.code != OpCode::stop_gradient && op.info().reads(operand);
}

// Differentiates a block in reverse and, through conditionals and counted loops, the blocks in it.
class Walk {
 public:
  using Adjoints = ValueMap<Expr>;

  Walk(Graph& graph, const std::vector<Value>& targets) : graph_(graph), targets_(targets.begin(), targets.end()) {}

  // Marks the values that depend on a target; only these get a gradient.
  void mark(const std::vector<Op*>& ops) {
    for (Op* op : ops) {
      const RegionRun run = op->info().facts.regions.run;
      if (run == RegionRun::kCounted) {
        mark_loop(op);
        continue;
      }
      bool reached = false;
      for (size_t i = 0; i < op->operands.size(); ++i) reached |= passes_gradient(*op, i) && is_active(op->operands[i]);
      if (run != RegionRun::kBackwards) {
        for (const auto& region : op->regions) mark(live_in(*region));
      }
      if (run == RegionRun::kAlternately) reached = reaches(*op);
      for (uint32_t i = 0; i < op->results.size(); ++i) {
        bool active = reached;
        if (run == RegionRun::kEither)
          active = is_active(op->regions[0]->results[i]) || is_active(op->regions[1]->results[i]);
        if (active) active_.insert({op, i});
      }
    }
  }

  // Computes the adjoints of the values that `ops` use from the adjoints of the values that they compute.
  void walk(const std::vector<Op*>& ops, Adjoints& adjoints) {
    for (auto it = ops.rbegin(); it != ops.rend(); ++it) {
      const Op& op = **it;
      std::vector<Expr> incoming;
      bool any = false, active = false;
      for (uint32_t i = 0; i < op.results.size(); ++i) {
        const auto found = adjoints.find({*it, i});
        incoming.push_back(found == adjoints.end() ? none : found->second);
        any |= static_cast<bool>(incoming.back());
        active |= incoming.back() && active_.contains({*it, i});
      }
      if (!any) continue;
      label(op);
      switch (op.info().facts.regions.run) {
        case RegionRun::kAlternately:
          if (active) op.fail("A loop that ends by a predicate has no gradient");
          break;
        case RegionRun::kCounted:
          if (active) walk_loop(*it, incoming, adjoints);
          break;
        case RegionRun::kEither: walk_branches(*it, incoming, adjoints); break;
        case RegionRun::kBackwards: walk_custom(op, incoming, adjoints); break;
        default: walk_op(op, std::move(incoming), adjoints);
      }
    }
  }

  static std::vector<Op*> live_in(const Block& block) {
    std::vector<Op*> ops = live_ops(block.results, {}, For::kGradients);
    std::erase_if(ops, [&](const Op* op) { return op->block != &block; });
    return ops;
  }

 private:
  using Copies = ValueMap<Value>;

  // Gives ops added from now on the op's location, and a name after the op's.
  void label(const Op& op) {
    graph_.location = op.location;
    graph_.name = name_in(kGradients, op.name.empty() ? op.info().name : op.name);
  }

  bool is_active(Value v) const { return active_.contains(v) || targets_.contains(v); }

  // True if a value in a loop depends on a target; the loop may pass any value on to any result.
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

  // Marks a loop's carried values: one is marked if its initial value is, or if an iteration computes it from a marked
  // value.
  void mark_loop(Op* op) {
    const Block& region = *op->regions[0];
    const std::vector<Op*> inner = live_in(region);
    const auto is_reached = [&](Value v) { return kind(v.dtype()) == DTypeKind::kFloating && is_active(v); };
    bool changed = true;
    while (changed) {
      mark(inner);
      changed = false;
      for (size_t i = 3; i < op->operands.size(); ++i) {
        const Value argument = region.arguments[i - 2]->result();
        if (is_reached(op->operands[i]) || is_reached(region.results[i - 3])) {
          changed |= active_.insert(argument).second;
        }
      }
    }
    for (uint32_t i = 0; i < op->results.size(); ++i) {
      const bool is_carried = i + 3 < op->operands.size();
      if (is_carried ? is_active(region.arguments[i + 1]->result()) : is_reached(region.results[i])) {
        active_.insert({op, i});
      }
    }
  }

  static void add_to(Adjoints& adjoints, Value v, Expr gradient) {
    Expr& total = adjoints[v];
    total = total ? total + gradient : gradient;
  }

  // The value's adjoint, or zeros.
  Expr found_or_zeros(const Adjoints& adjoints, Value v) {
    const auto found = adjoints.find(v);
    if (found != adjoints.end()) return found->second;
    const Expr x(graph_, v);
    return broadcast_like(x.scalar(0), x);
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

  // Copies the op's region, which computes the gradients; missing incoming gradients are zeros.
  void walk_custom(const Op& op, const std::vector<Expr>& incoming, Adjoints& adjoints) {
    const size_t count = op.results.size();
    const auto is_wanted = [&](const Value& v) { return is_active(v); };
    if (std::none_of(op.operands.begin() + static_cast<long>(count), op.operands.end(), is_wanted)) return;
    const Block& region = *op.regions[0];
    Copies copies;
    for (size_t i = 0; i < count; ++i) {
      copies[region.arguments[i]->result()] = (incoming[i] ? incoming[i] : found_or_zeros({}, op.operands[i])).value();
    }
    for (const Op* inner : live_in(region)) copied(*inner, copies);
    for (size_t i = 0; i < region.results.size(); ++i) {
      const Value operand = op.operands[count + i];
      if (is_active(operand)) add_to(adjoints, operand, Expr(graph_, copy_of(region.results[i], copies)));
    }
  }

  // A region that is abandoned if an op in it has no gradient.
  struct OpenRegion {
    explicit OpenRegion(Graph& graph, const std::vector<Type>& types = {})
        : graph(graph), arguments(graph.open_region(types)) {}
    ~OpenRegion() {
      if (!closed) graph.abandon_region();
    }
    std::unique_ptr<Block> close(std::vector<Value> results) {
      closed = true;
      return graph.close_region(std::move(results));
    }

    Graph& graph;
    std::vector<Value> arguments;
    bool closed = false;
  };

  // The gradient of a conditional is a conditional with the same predicate. Each branch differentiates the original
  // branch and returns the gradients of the captured values.
  void walk_branches(Op* op, const std::vector<Expr>& incoming, Adjoints& adjoints) {
    std::vector<Value> captured = captures(*op);
    std::erase_if(captured, [&](Value v) { return !is_active(v); });
    if (captured.empty()) return;
    std::vector<std::unique_ptr<Block>> branches;
    std::vector<bool> reached(captured.size());  // by a gradient in any branch
    for (const auto& region : op->regions) {
      OpenRegion open(graph_);
      Adjoints inner;
      for (size_t i = 0; i < incoming.size(); ++i) {
        if (incoming[i]) add_to(inner, region->results[i], incoming[i]);
      }
      walk(live_in(*region), inner);
      std::vector<Value> gradients;
      for (size_t i = 0; i < captured.size(); ++i) {
        reached[i] = reached[i] || inner.contains(captured[i]);
        gradients.push_back(found_or_zeros(inner, captured[i]).value());
      }
      branches.push_back(open.close(std::move(gradients)));
    }
    const auto keep_reached = [&](std::vector<Value>& values) {
      size_t i = 0;
      std::erase_if(values, [&](Value) { return !reached[i++]; });
    };
    keep_reached(captured);
    for (const auto& branch : branches) keep_reached(branch->results);
    if (captured.empty()) {
      for (auto& branch : branches) graph_.abandon(std::move(branch));
      return;
    }
    for (size_t k = 0; k < branches.size(); ++k) borrow(*branches[k], op, k);
    label(*op);
    Op* made = graph_.add(op->code, op->operands, {}, std::move(branches));
    for (uint32_t i = 0; i < captured.size(); ++i) add_to(adjoints, captured[i], Expr(graph_, {made, i}));
  }

  // Makes the values of branch `k` that its gradient uses available as results of the conditional.
  void borrow(Block& block, Op* conditional, size_t k) {
    const auto lend = [&](Value& v) {
      if (v.op->block == conditional->regions[k].get()) v = graph_.lend(conditional, k, v);
    };
    for (auto& op : block.ops) {
      for (Value& v : op->operands) lend(v);
      for (auto& region : op->regions) borrow(*region, conditional, k);
    }
    for (Value& v : block.results) lend(v);
  }

  // ---- counted loops ----

  // A value that each iteration takes from outside the loop: gather(whole, index) along the first axis with a single
  // index. The loop stacks its gradients, and they are added to the whole's gradient after the loop.
  struct Slice {
    Value whole, index, part;
  };

  static bool is_slice(const Op& op, const Block& region) {
    return op.code == OpCode::gather && op.operands[0].op->block != &region && op.operands[1].shape() == Shape() &&
           op.attributes.integer(Attr::kAxis) == 0 && op.attributes.integer(Attr::kBatchDims) == 0;
  }

  // The values whose gradients the reverse loop computes.
  struct Reverse {
    std::vector<uint32_t> carried;  // indices of the loop's carried values that get a gradient
    std::vector<Value> shared;      // captured values that get a gradient: the reverse loop carries their sums
    std::vector<Slice> slices = {};
  };

  // The gradient of a counted loop is a loop with as many iterations, in reverse order. Each iteration computes the
  // original iteration again, from its carried values, which the original loop stacks for this, and differentiates it.
  void walk_loop(Op* op, const std::vector<Expr>& incoming, Adjoints& adjoints) {
    if (!std::all_of(op->operands.begin(), op->operands.begin() + 3, is_made_of_shapes)) {
      op->fail(
          "A loop has a gradient only if it is known before the run how often it runs: if its bounds and its step "
          "are constants, or are made of shapes");
    }
    if (iterations(*op) == 0) {
      for (size_t i = 0; i + 3 < op->operands.size(); ++i) {
        if (incoming[i] && is_active(op->operands[i + 3])) add_to(adjoints, op->operands[i + 3], incoming[i]);
      }
      return;
    }
    Reverse reverse = what_to_carry(*op);
    const Expr index = stacked(op, op->regions[0]->arguments[0]->result());
    const Expr count = squeeze(slice(apply(OpCode::shape_of, {index}), 0, 0, 1), {0});
    std::vector<Value> operands = {count.scalar(0).value(), count.value(), count.scalar(1).value()};
    for (uint32_t i : reverse.carried) {
      const Expr x(graph_, op->result(i));
      operands.push_back((incoming[i] ? incoming[i] : broadcast_like(x.scalar(0), x)).value());
    }
    for (Value v : reverse.shared) operands.push_back(found_or_zeros({}, v).value());
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(reverse_iteration(op, incoming, operands, reverse));
    label(*op);
    Op* made = graph_.add(OpCode::for_loop, operands, {}, std::move(regions));
    uint32_t next = 0;
    const auto result = [&] { return Expr(graph_, {made, next++}); };
    for (uint32_t i : reverse.carried) {
      const Expr gradient = result();
      if (is_active(op->operands[i + 3])) add_to(adjoints, op->operands[i + 3], gradient);
    }
    for (Value v : reverse.shared) add_to(adjoints, v, result());
    for (const Slice& slice : reverse.slices) {
      const Expr parts = result(), places = expand_dims(result(), {-1});
      add_to(adjoints, slice.whole,
             apply(OpCode::scatter_nd, {parts, places, Expr(graph_, slice.whole)}, {{Attr::kBatchDims, int64_t{0}}}));
    }
  }

  Expr stacked(Op* loop, Value inner) { return Expr(graph_, graph_.stack(loop, inner)); }

  Reverse what_to_carry(const Op& op) const {
    const Block& region = *op.regions[0];
    Reverse reverse;
    for (uint32_t i = 0; i + 3 < op.operands.size(); ++i) {
      if (is_active(region.arguments[i + 1]->result())) reverse.carried.push_back(i);
    }
    std::unordered_set<Value, ValueHash> used(region.results.begin(), region.results.end());
    for (const Op* inner : live_in(region)) {
      for (const Value& v : used_values(*inner)) {
        if (!is_slice(*inner, region)) used.insert(v);
      }
    }
    for (Value v : captures(op)) {
      if (used.contains(v) && is_active(v) && kind(v.dtype()) == DTypeKind::kFloating) reverse.shared.push_back(v);
    }
    return reverse;
  }

  // Makes the region of the reverse loop. Also lists the slices that get a gradient; after its carried values, the
  // region returns the gradient and the index of each.
  std::unique_ptr<Block> reverse_iteration(Op* op, const std::vector<Expr>& incoming,
                                           const std::vector<Value>& operands, Reverse& reverse) {
    Block& region = *op->regions[0];
    OpenRegion open(graph_, argument_types(OpCode::for_loop, operands, {}));
    const Expr step(graph_, open.arguments[0]), last = Expr(graph_, operands[1]) - 1.0, iteration = last - step;
    const auto at = [&](Expr stack) { return gather(stack, iteration, 0); };
    Copies copies;
    for (const auto& argument : region.arguments) {
      copies[argument->result()] = at(stacked(op, argument->result())).value();
      if (is_active(argument->result())) active_.insert(copies[argument->result()]);
    }
    const std::vector<Op*> again = compute_again(op, at, copies, reverse);
    mark(again);
    Adjoints inner;
    size_t next = 1;
    for (uint32_t i : reverse.carried) {
      add_to(inner, copy_of(region.results[i], copies), Expr(graph_, open.arguments[next++]));
    }
    for (uint32_t i = static_cast<uint32_t>(op->operands.size()) - 3; i < incoming.size(); ++i) {
      if (incoming[i]) add_to(inner, copy_of(region.results[i], copies), at(incoming[i]));
    }
    walk(again, inner);
    std::vector<Value> results;
    for (uint32_t i : reverse.carried) {
      results.push_back(found_or_zeros(inner, copies.at(region.arguments[i + 1]->result())).value());
    }
    for (Value v : reverse.shared) {
      const Expr sum(graph_, open.arguments[next++]);
      results.push_back((inner.contains(v) ? sum + inner.at(v) : sum).value());
    }
    std::erase_if(reverse.slices, [&](const Slice& slice) { return !inner.contains(slice.part); });
    for (const Slice& slice : reverse.slices) {
      results.push_back(inner.at(slice.part).value());
      results.push_back(slice.index);
    }
    return open.close(std::move(results));
  }

  static Value copy_of(Value v, const Copies& copies) {
    const auto found = copies.find(v);
    return found == copies.end() ? v : found->second;
  }

  // Copies the ops of an iteration into the current block; `copies` holds the copies of the iteration's arguments and
  // receives the others. A value that would differ if computed again is stacked by the loop instead. Slices that get a
  // gradient are added to `reverse`; the other copies are returned.
  template <class At>
  std::vector<Op*> compute_again(Op* loop, const At& at, Copies& copies, Reverse& reverse) {
    const Block& region = *loop->regions[0];
    std::vector<Op*> again;
    for (Op* op : live_in(region)) {
      if (!is_repeatable(*op)) {
        for (uint32_t i = 0; i < op->results.size(); ++i) {
          copies[op->result(i)] = at(stacked(loop, op->result(i))).value();
        }
        continue;
      }
      if (op->info().facts.effect) continue;  // an effect happens only once
      require_repeatable(*op);
      Op* const copy = copied(*op, copies);
      if (is_slice(*op, region) && is_active(op->operands[0])) {
        reverse.slices.push_back({op->operands[0], copy->operands[1], copy->result()});
        active_.insert(copy->result());
      } else {
        again.push_back(copy);
      }
    }
    return again;
  }

  // True if the op gives the same value if it is computed again later.
  static bool is_repeatable(const Op& op) { return op.code != OpCode::read_variable && !op.info().facts.fresh; }

  void require_repeatable(const Op& op) {
    if (!is_repeatable(op)) {
      op.fail(
          "The gradient of a loop needs this value again, which may be another one then; compute it in the loop "
          "itself, outside of conditionals and loops in it");
    }
    if (op.info().facts.regions.run == RegionRun::kBackwards) return;  // its region has not run before
    for (const auto& region : op.regions) {
      for (const Op* inner : live_in(*region)) require_repeatable(*inner);
    }
  }

  // Copies an op and the ops that its regions need, without their effects.
  Op* copied(const Op& op, Copies& copies) {
    std::vector<Value> operands;
    for (const Value& v : op.operands) operands.push_back(copy_of(v, copies));
    std::vector<std::unique_ptr<Block>> regions;
    for (const auto& region : op.regions) {
      OpenRegion open(graph_, argument_types(op.code, operands, regions, op.attributes));
      for (size_t i = 0; i < open.arguments.size(); ++i) copies[region->arguments[i]->result()] = open.arguments[i];
      for (const Op* inner : live_in(*region)) {
        if (!inner->info().facts.effect) copied(*inner, copies);
      }
      std::vector<Value> results;
      for (const Value& v : region->results) results.push_back(copy_of(v, copies));
      regions.push_back(open.close(std::move(results)));
    }
    label(op);
    Op* made = graph_.add(op.code, std::move(operands), op.attributes, std::move(regions));
    for (uint32_t i = 0; i < op.results.size(); ++i) copies[op.result(i)] = made->result(i);
    return made;
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
  // Restores the graph's name and location after the gradients are added.
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

Value overlooked(const std::vector<Value>& results, const std::vector<Value>& operands) {
  std::unordered_set<Value, ValueHash> seen(operands.begin(), operands.end());
  for (const Value& v : operands) {  // arithmetic on complex numbers uses their parts
    if (v.op->code == OpCode::view_as_complex) seen.insert(v.op->operands[0]);
  }
  std::vector<Value> waiting = results;
  while (!waiting.empty()) {
    const Value v = waiting.back();
    waiting.pop_back();
    const bool is_smooth = kind(v.dtype()) == DTypeKind::kFloating || kind(v.dtype()) == DTypeKind::kComplex;
    if (!seen.insert(v).second || !is_smooth) continue;
    const Op& op = *v.op;
    if (op.code == OpCode::placeholder || op.code == OpCode::variable || op.code == OpCode::argument) return v;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (passes_gradient(op, i)) waiting.push_back(op.operands[i]);
    }
    for (const Value& captured : op.regions.empty() ? std::vector<Value>() : captures(op)) waiting.push_back(captured);
  }
  return {};
}

Expr adjoint(Expr g, Expr x, const std::function<Expr(Expr)>& f) {
  Graph& graph = x.graph();
  const Value y = f(x).value();
  if (g.value().dtype() != y.dtype() || !unify(g.shape(), y.shape())) {
    y.op->fail("Expected an incoming gradient " + to_string(y.type()) + ", got " + to_string(g.value().type()));
  }
  const Value gradient = gradients(graph, y, {x.value()}, g.value())[0];
  if (!gradient) return broadcast_like(x.scalar(0), x);
  return gradient == g.value() ? identity(g) : Expr(graph, gradient);  // must be an op of its own
}

Expr rounded_adjoint(Expr g, Expr x, const std::function<Expr(Expr)>& f) {
  return rounded_once([&](Expr wide_g, Expr wide_x) { return adjoint(wide_g, wide_x, f); }, g, x);
}

}  // namespace alloy::ir
