// Gradient rules and the reverse walk. A table op's rule stands in its row of ops.def; a structured op's rule is a
// function here.
#include <algorithm>
#include <span>
#include <unordered_set>

#include "ir/expr.h"
#include "ir/regions.h"
#include "ir/windows.h"

namespace alloy::ir {
namespace {

// One op being differentiated: what flows in, and where the operands' gradients go.
class Rule {
 public:
  Rule(Graph& graph, const Op& op, std::vector<Expr> incoming, std::vector<bool> wanted)
      : graph_(graph),
        op_(op),
        incoming_(std::move(incoming)),
        wanted_(std::move(wanted)),
        outgoing_(op.operands.size()) {}

  const Op& op() const { return op_; }
  Expr g(size_t i = 0) const { return incoming_[i]; }
  Expr x(size_t i = 0) const { return Expr(graph_, op_.operands[i]); }
  Expr y(size_t i = 0) const { return Expr(graph_, {const_cast<Op*>(&op_), static_cast<uint32_t>(i)}); }
  bool wants(size_t i) const { return wanted_[i]; }
  // A gradient of an operand in the operand's shape or in one that broadcasting made of it; none is no gradient.
  void give(size_t i, Expr gradient) {
    if (gradient) outgoing_[i] = reduce_like(gradient, x(i));
  }
  const std::vector<Expr>& outgoing() const { return outgoing_; }

 private:
  Graph& graph_;
  const Op& op_;
  std::vector<Expr> incoming_;
  std::vector<bool> wanted_;
  std::vector<Expr> outgoing_;
};

// ---- what the rows of ops.def call ----

Expr power_gradient_base(Expr g, Expr a, Expr b) { return select(b == 0.0, 0.0, g * b * power(a, b - 1.0)); }

// At a = 0 the logarithm is not finite, while 0^b does not depend on b > 0.
Expr power_gradient_exponent(Expr g, Expr a, Expr b, Expr y) {
  const Expr vanishes =
      multiply(cast(a == 0.0, a.value().dtype()), cast(greater_equal(b, b.scalar(0.0)), a.value().dtype()));
  return select(vanishes == 1.0, 0.0, g * y * log(a));
}

Expr share_ties(Expr g, Expr x, Expr y, const Dims& axes) {
  const Expr mask = cast(x == y, x.value().dtype());
  return mask * (g / sum(mask, axes));
}

// The product of all other elements: y / x where nothing is 0, and exact where one element is. The one zero that is
// left among them stands there as a factor, for the sake of its own derivative.
Expr product_gradient(Expr g, Expr x, const Dims& axes) {
  const Expr is_zero = x == 0.0;
  const Expr zeros = sum(cast(is_zero, x.value().dtype()), axes), zero = sum(select(is_zero, x, 0.0), axes);
  const Expr filled = select(is_zero, 1.0, x);
  const Expr others = product(filled, axes);
  return g * select(is_zero, others * select(zeros == 1.0, 1.0, select(zeros == 2.0, zero - x, 0.0)),
                    others / filled * select(zeros == 0.0, 1.0, select(zeros == 1.0, zero, 0.0)));
}

// ---- structured ops ----

void gradient_placeholder(Rule&) {}
void gradient_constant(Rule&) {}
void gradient_empty(Rule&) {}
void gradient_argument(Rule&) {}
void gradient_shaped(Rule&) {}
void gradient_variable(Rule&) {}
void gradient_assign(Rule&) {}
void gradient_shape_of(Rule&) {}
void gradient_count(Rule&) {}
void gradient_stop_gradient(Rule&) {}

void gradient_read_variable(Rule& r) { r.give(0, r.g()); }

// The walk differentiates conditionals itself, and refuses loops.
void gradient_if_else(Rule&) {}
void gradient_while_loop(Rule&) {}
void gradient_for_loop(Rule&) {}

void gradient_fused(Rule& r) { r.op().fail("What the compiler has fused has no gradient"); }

void gradient_reshape(Rule& r) { r.give(0, reshape_like(r.g(), r.x())); }
void gradient_reshape_like(Rule& r) { r.give(0, reshape_like(r.g(), r.x())); }
void gradient_squeeze(Rule& r) { r.give(0, reshape_like(r.g(), r.x())); }
void gradient_expand_dims(Rule& r) { r.give(0, reshape_like(r.g(), r.x())); }

void gradient_transpose(Rule& r) {
  const Dims& permutation = r.op().attributes.ints(Attr::kPermutation);
  Dims inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    inverse[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  }
  r.give(0, apply(OpCode::transpose, {r.g()}, {{Attr::kPermutation, inverse}}));
}

void gradient_broadcast_to(Rule& r) { r.give(0, reduce_like(r.g(), r.x())); }
void gradient_broadcast_like(Rule& r) { r.give(0, reduce_like(r.g(), r.x())); }
void gradient_reduce_like(Rule& r) { r.give(0, broadcast_like(r.g(), r.x())); }
void gradient_slice(Rule& r) { r.give(0, apply(OpCode::slice_gradient, {r.g(), r.x()}, r.op().attributes)); }
void gradient_slice_gradient(Rule& r) { r.give(0, apply(OpCode::slice, {r.g()}, r.op().attributes)); }

void gradient_concat(Rule& r) {
  const Shape& shape = r.y().shape();
  if (!shape.ranked()) r.op().fail("The gradient of operands of unknown rank is not available");
  const auto axis = static_cast<size_t>(*normalize_axis(r.op().attributes.integer(Attr::kAxis), shape.rank()));
  int64_t start = 0;
  for (size_t i = 0; i < r.op().operands.size(); ++i) {
    const int64_t extent = r.x(i).shape()[static_cast<int64_t>(axis)];
    if (extent == kUnknown) r.op().fail("The gradient of operands of unknown extent along the axis is not available");
    const auto rank = static_cast<size_t>(shape.rank());
    Dims starts(rank, 0), ends(rank, INT64_MAX), strides(rank, 1);
    starts[axis] = start;
    ends[axis] = start + extent;
    start += extent;
    if (r.wants(i)) {
      r.give(i,
             apply(OpCode::slice, {r.g()}, {{Attr::kStarts, starts}, {Attr::kEnds, ends}, {Attr::kStrides, strides}}));
    }
  }
}

void gradient_cast(Rule& r) {
  if (kind(r.x().value().dtype()) == DTypeKind::kFloating) r.give(0, cast(r.g(), r.x().value().dtype()));
}

Expr transposed(Expr x) {
  if (!x.shape().ranked()) x.value().op->fail("The gradient of a matrix product of unknown rank is not available");
  Dims permutation;
  for (int64_t i = 0; i < x.shape().rank(); ++i) permutation.push_back(i);
  std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
  return apply(OpCode::transpose, {x}, {{Attr::kPermutation, permutation}});
}

void gradient_matmul(Rule& r) {
  const bool ta = r.op().attributes.flag(Attr::kTransposeA), tb = r.op().attributes.flag(Attr::kTransposeB);
  auto product_of = [](Expr a, Expr b) { return apply(OpCode::matmul, {a, b}); };
  const Expr a = ta ? transposed(r.x(0)) : r.x(0), b = tb ? transposed(r.x(1)) : r.x(1);
  if (r.wants(0)) {
    const Expr da = product_of(r.g(), transposed(b));
    r.give(0, ta ? transposed(da) : da);
  }
  if (r.wants(1)) {
    const Expr db = product_of(transposed(a), r.g());
    r.give(1, tb ? transposed(db) : db);
  }
}

void gradient_softmax(Rule& r) {
  const Dims axis = {r.op().attributes.integer(Attr::kAxis)};
  r.give(0, r.y() * (r.g() - sum(r.g() * r.y(), axis)));
}

void gradient_log_softmax(Rule& r) {
  const int64_t axis = r.op().attributes.integer(Attr::kAxis);
  r.give(0, r.g() - softmax(r.x(), axis) * sum(r.g(), {axis}));
}

void gradient_softmax_cross_entropy(Rule& r) {
  const int64_t axis = r.op().attributes.integer(Attr::kAxis);
  const std::string& reduction = r.op().attributes.word(Attr::kReduction);
  if (r.wants(0)) r.give(0, softmax_cross_entropy_gradient(r.g(), r.x(0), r.x(1), axis, reduction));
  if (r.wants(1)) {
    const Expr per_row = -log_softmax(r.x(0), axis) * r.g();
    r.give(1, reduction == "mean" ? per_row / count(r.x(0), all_axes(r.x(0), axis)) : per_row);
  }
}

// conv2d(x, w), its data gradient (g, w, like x) and its weights gradient (g, x, like w) are linear in each other's
// operands.
Expr convolution(OpCode code, const Rule& r, const std::vector<Expr>& operands) {
  return apply(code, operands, r.op().attributes);
}

void gradient_conv2d(Rule& r) {
  if (r.wants(0)) r.give(0, convolution(OpCode::conv2d_data_gradient, r, {r.g(), r.x(1), r.x(0)}));
  if (r.wants(1)) r.give(1, convolution(OpCode::conv2d_weights_gradient, r, {r.g(), r.x(0), r.x(1)}));
}

void gradient_conv2d_data_gradient(Rule& r) {
  if (r.wants(0)) r.give(0, convolution(OpCode::conv2d, r, {r.g(), r.x(1)}));
  if (r.wants(1)) r.give(1, convolution(OpCode::conv2d_weights_gradient, r, {r.x(0), r.g(), r.x(1)}));
}

void gradient_conv2d_weights_gradient(Rule& r) {
  if (r.wants(0)) r.give(0, convolution(OpCode::conv2d, r, {r.x(1), r.g()}));
  if (r.wants(1)) r.give(1, convolution(OpCode::conv2d_data_gradient, r, {r.x(0), r.g(), r.x(1)}));
}

void gradient_max_pool2d(Rule& r) { r.give(0, apply(OpCode::max_pool2d_gradient, {r.g(), r.x()}, r.op().attributes)); }

// One element of a pooling window along one axis, the same in every window: which windows, [first, last), have it
// inside the source, and where the first of those finds it.
struct Tap {
  int64_t first, last, start, stride;
};

std::vector<Tap> taps_of(const Window& w, int64_t windows, int64_t extent) {
  std::vector<Tap> taps;
  for (int64_t k = 0; k < w.size; ++k) {
    const int64_t origin = k * w.dilation - w.before;  // of window 0
    const int64_t first = origin < 0 ? (-origin + w.stride - 1) / w.stride : 0;
    const int64_t last = origin < extent ? std::min((extent - 1 - origin) / w.stride + 1, windows) : 0;
    if (first < last) taps.push_back({first, last, origin + first * w.stride, w.stride});
  }
  return taps;
}

// The op is linear in the incoming gradient. Its adjoint takes, for every window, the element at the place of the
// window's maximum: windows are walked through element by element, all at once, and whenever one is greater, what
// stands at its place is taken.
class AtMaxima {
 public:
  AtMaxima(const Op& op, Expr pooled, Expr source)
      : pooled_(pooled), source_(source), axes_(LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout))) {
    const Shape &x = source.shape(), &y = pooled.shape();
    for (const Shape* s : {&x, &y}) {
      if (s->ranked() && (*s)[axes_.height] != kUnknown && (*s)[axes_.width] != kUnknown) continue;
      op.fail("The gradient of images of unknown height or width is not available");
    }
    height_ = y[axes_.height];
    width_ = y[axes_.width];
    const Dims& window = op.attributes.ints(Attr::kWindow);
    rows_ = taps_of(window_of(op.attributes, 0, window[0], x[axes_.height]), height_, x[axes_.height]);
    columns_ = taps_of(window_of(op.attributes, 1, window[1], x[axes_.width]), width_, x[axes_.width]);
  }

  Expr of(Expr given) {
    // Which windows come to their first element, and which to another one.
    std::vector<float> begins(static_cast<size_t>(height_ * width_)), goes_on = begins;
    std::vector<bool> begun(begins.size(), false);
    Expr greatest, taken;
    for (const Tap& row : rows_) {
      for (const Tap& column : columns_) {
        for (size_t i = 0; i < begins.size(); ++i) {
          const auto y = static_cast<int64_t>(i) / width_, x = static_cast<int64_t>(i) % width_;
          const bool inside = y >= row.first && y < row.last && x >= column.first && x < column.last;
          begins[i] = inside && !begun[i];
          goes_on[i] = inside && begun[i];
          begun[i] = begun[i] || inside;
        }
        const Expr v = seen(source_, row, column), at = seen(given, row, column);
        if (!greatest) {
          greatest = v;
          taken = at;
          continue;
        }
        const auto number = [&](Expr truth) { return cast(truth, v.value().dtype()); };
        const Expr is_new_nan = number(not_equal(v, v)) * number(greatest == greatest);
        const Expr wins = of_windows(begins) + of_windows(goes_on) * (number(v > greatest) + is_new_nan) > 0.0;
        greatest = select(wins, v, greatest);
        taken = select(wins, at, taken);
      }
    }
    return taken;
  }

 private:
  // What every window sees of `x` there; 0 where that lies outside.
  Expr seen(Expr x, const Tap& row, const Tap& column) const {
    Dims starts(4, 0), ends(4, kSliceToEnd), strides(4, 1), firsts(4, 0), lasts(4, kSliceToEnd);
    const std::pair<int64_t, const Tap&> axes[] = {{axes_.height, row}, {axes_.width, column}};
    for (const auto& [axis, tap] : axes) {
      const auto i = static_cast<size_t>(axis);
      starts[i] = tap.start;
      ends[i] = tap.start + (tap.last - tap.first - 1) * tap.stride + 1;
      strides[i] = tap.stride;
      firsts[i] = tap.first;
      lasts[i] = tap.last;
    }
    const Attributes from{{Attr::kStarts, starts}, {Attr::kEnds, ends}, {Attr::kStrides, strides}};
    const Attributes to{{Attr::kStarts, firsts}, {Attr::kEnds, lasts}, {Attr::kStrides, Dims(4, 1)}};
    const Expr inside = apply(OpCode::slice, {x}, from);
    const bool everywhere = row.last - row.first == height_ && column.last - column.first == width_;
    return everywhere ? inside : apply(OpCode::slice_gradient, {inside, pooled_}, to);
  }

  Expr of_windows(const std::vector<float>& numbers) const {
    Dims dims(4, 1);
    dims[static_cast<size_t>(axes_.height)] = height_;
    dims[static_cast<size_t>(axes_.width)] = width_;
    const Type type{DType::float32, Shape(dims)};
    const auto literal = std::make_shared<Literal>(type, std::as_bytes(std::span(numbers)));
    Graph& graph = source_.graph();
    return cast(Expr(graph, graph.value(OpCode::constant, {}, {{Attr::kValue, literal}})), source_.value().dtype());
  }

  Expr pooled_, source_;
  LayoutAxes axes_;
  int64_t height_, width_;
  std::vector<Tap> rows_, columns_;
};

void gradient_max_pool2d_gradient(Rule& r) {
  if (r.wants(0)) r.give(0, AtMaxima(r.op(), r.x(0), r.x(1)).of(r.g()));
}

void gradient_avg_pool2d(Rule& r) { r.give(0, apply(OpCode::avg_pool2d_gradient, {r.g(), r.x()}, r.op().attributes)); }
void gradient_avg_pool2d_gradient(Rule& r) { r.give(0, apply(OpCode::avg_pool2d, {r.g()}, r.op().attributes)); }
void gradient_sgd(Rule& r) { r.op().fail("An optimizer's step has no gradient"); }
void gradient_adam(Rule& r) { r.op().fail("An optimizer's step has no gradient"); }

// In a row, both(...) and all_three(...) give each operand its gradient; an expression is only built where it is
// wanted.
#define both(ga, gb)               \
  do {                             \
    if (r.wants(0)) r.give(0, ga); \
    if (r.wants(1)) r.give(1, gb); \
  } while (false)
#define all_three(ga, gb, gc)      \
  do {                             \
    if (r.wants(0)) r.give(0, ga); \
    if (r.wants(1)) r.give(1, gb); \
    if (r.wants(2)) r.give(2, gc); \
  } while (false)

void differentiate(Rule& r) {
  switch (r.op().code) {
#define ALLOY_UNARY(name, stem, types, domain, forward, gradient, doc) \
  case OpCode::name: {                                                 \
    [[maybe_unused]] const Expr g = r.g(), x = r.x(), y = r.y();       \
    return r.give(0, gradient);                                        \
  }
#define ALLOY_ACTIVATION ALLOY_UNARY
#define ALLOY_BINARY(name, stem, types, domain, forward, gradient, doc)       \
  case OpCode::name: {                                                        \
    [[maybe_unused]] const Expr g = r.g(), a = r.x(0), b = r.x(1), y = r.y(); \
    gradient;                                                                 \
    return;                                                                   \
  }
#define ALLOY_COMPARISON(name, ...) \
  case OpCode::name: return;
#define ALLOY_ACTIVATION_GRADIENT(name, stem, types, forward, gradient, doc) \
  ALLOY_BINARY(name, stem, types, , forward, gradient, doc)
#define ALLOY_TERNARY(name, types, forward, gradient, doc)                                \
  case OpCode::name: {                                                                    \
    [[maybe_unused]] const Expr g = r.g(), a = r.x(0), b = r.x(1), c = r.x(2), y = r.y(); \
    gradient;                                                                             \
    return;                                                                               \
  }
#define ALLOY_REDUCTION(name, stem, types, domain, init, combine, gradient, doc) \
  case OpCode::name: {                                                           \
    [[maybe_unused]] const Expr g = r.g(), x = r.x(), y = r.y();                 \
    [[maybe_unused]] const Dims& axes = r.op().attributes.ints(Attr::kAxes);     \
    return r.give(0, gradient);                                                  \
  }
#define ALLOY_MOMENT(name, stem, gradient, doc) ALLOY_REDUCTION(name, stem, , , , , gradient, doc)
#define ALLOY_ARG_REDUCTION(name, ...) \
  case OpCode::name: return;
#define ALLOY_OP(name, ...) \
  case OpCode::name: return gradient_##name(r);
#include "ir/ops.def"
  }
}

#undef both
#undef all_three

// Whether the result's derivative to the operand can differ from zero: not where the op only takes its shape, nor
// through stop_gradient.
bool passes_gradient(const Op& op, size_t operand) { return op.code != OpCode::stop_gradient && reads(op, operand); }

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
      if (regions_of(op->code).is_loop()) reached = reaches(*op);
      for (uint32_t i = 0; i < op->results.size(); ++i) {
        bool active = reached;
        if (regions_of(op->code).run == Run::kEither) {
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
      if (regions_of(op.code).is_loop() && active_.contains({*it, 0})) op.fail("A loop has no gradient");
      if (regions_of(op.code).run == Run::kEither) {
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
    graph_.name = "gradients/" + (op.name.empty() ? std::string(op.info().name) : op.name);
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
          if (is_active({op.get(), i})) return true;
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
    Rule rule(graph_, op, std::move(incoming), wanted);
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

}  // namespace alloy::ir
