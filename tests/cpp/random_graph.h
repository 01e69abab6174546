// Random legal graphs of float32 and bool, for tests that compare two ways of computing: every kind of result,
// variables read and assigned in all orders, conditionals in conditionals, values used many times or never. The same
// seed gives the same graph. Numbers stay near 1 in magnitude, and no predicate depends on rounding, so single and
// double precision can be compared.
#pragma once

#include <random>

#include "interpreter.h"
#include "ir/transform/rewrite.h"

namespace alloy::test {

class RandomGraph {
 public:
  Graph graph;
  std::vector<Feed> feeds;  // static types
  std::vector<Value> results;
  std::vector<Op*> effects;

  explicit RandomGraph(uint32_t seed) : random_(seed) {
    for (int i = 0; i < 3; ++i) feed(i == 0 ? Shape({3, 4}) : shape());
    flags_.push_back(feed_of(bools(Shape())));
    flags_.push_back(feed_of(bools(Shape({1, 1}))));
    const size_t variables = below(4);
    for (size_t i = 0; i < variables; ++i) {
      const Value v = variable(graph, f32(chance(2) ? Shape({3, 4}) : shape()), 0.25 * static_cast<double>(i) - 0.25);
      variables_.push_back(v);
      know(v, 4);
    }
    pool_ = known_;
    const size_t steps = 3 + below(20);
    for (size_t i = 0; i < steps; ++i) step(2);
    const size_t fetched = below(6);
    for (size_t i = 0; i < fetched; ++i) results.push_back(any());
    if (!results.empty() && chance(3)) results.push_back(results[0]);
    for (Op* op : writes_) {
      if (!chance(5)) effects.push_back(op);
    }
    if (results.empty() && effects.empty()) results.push_back(any());
  }

  // Multiples of 1/8 in [-1, 1], or 0 and 1.
  std::vector<std::pair<Value, Array>> random_feeds() {
    std::vector<std::pair<Value, Array>> out;
    for (const Feed& f : feeds) {
      Array array(f.type.shape.dims());
      for (double& v : array.values) {
        v = f.type.dtype == DType::boolean ? static_cast<double>(below(2)) : (static_cast<double>(below(17)) - 8) / 8;
      }
      out.emplace_back(f.placeholder, array);
    }
    return out;
  }

 private:
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }
  bool chance(size_t in) { return below(in) == 0; }

  Shape shape() {
    static const std::vector<Shape> shapes = {
        Shape({3, 4}),   Shape({3, 4}),   Shape({4}),      Shape({3, 1}), Shape({1}),    Shape(),
        Shape({12}),     Shape({4, 3}),   Shape({2, 6}),   Shape({1, 4}), Shape({0, 4}), Shape({2, 3, 4}),
        Shape({17, 33}), Shape({32, 16}), Shape({32, 16}), Shape({32, 1})};  // rows that fused ops fold
    return shapes[below(shapes.size())];
  }

  Value feed_of(const Type& type) {
    const Value v = placeholder(graph, type);
    feeds.push_back({v, type});
    return v;
  }

  void feed(const Shape& of) {
    const Value v = feed_of(f32(of));
    leaves_.push_back(v);
    know(v, 1);
  }

  // Adds a value with elements of at most `bound` to the pool; a larger one is scaled down first.
  Value know(Value v, double bound) {
    if (bound > 6) {
      v = graph.value(OpCode::tanh, {v});
      bound = 1;
    }
    bounds_[v] = bound;
    known_.push_back(v);
    if (!pool_.empty()) pool_.push_back(v);
    return v;
  }

  double bound(Value v) const { return bounds_.at(v); }

  // Often a recent value, so that chains form.
  Value any() {
    return chance(2) ? pool_[pool_.size() - 1 - below(std::min<size_t>(pool_.size(), 4))] : pool_[below(pool_.size())];
  }

  Value any_of_rank(int64_t least) {
    for (int tries = 0; tries < 20; ++tries) {
      const Value v = any();
      if (v.shape().rank() >= least) return v;
    }
    return leaves_[0];
  }

  // A value of the shape; makes one if necessary.
  Value of_shape(const Shape& wanted) {
    for (int tries = 0; tries < 8; ++tries) {
      const Value v = any();
      if (v.shape() == wanted) return v;
    }
    const Value v = any();
    const auto wider = broadcast(v.shape(), wanted);
    if (wider == wanted) return know(graph.value(OpCode::broadcast_to, {v}, {{Attr::kShape, wanted}}), bound(v));
    if (v.shape().element_count() == wanted.element_count()) {
      return know(graph.value(OpCode::reshape, {v}, {{Attr::kShape, wanted}}), bound(v));
    }
    return know(constant(graph, f32(wanted), 0.125 * static_cast<double>(below(9))), 1);
  }

  Dims some_axes(const Shape& of) {
    Dims axes;
    for (int64_t i = 0; i < of.rank(); ++i) {
      if (chance(2)) axes.push_back(chance(2) ? i : i - of.rank());
    }
    return axes;
  }

  void step(int depth) {
    switch (below(19)) {
      case 0:
      case 1:
      case 2: return unary();
      case 3:
      case 4:
      case 5:
      case 6: return binary();
      case 7: return selection();
      case 8: return reduction();
      case 9:
      case 10: return moved();
      case 11: return matmul();
      case 12: return optimizer();
      case 13: return softmax();
      case 14:
      case 15:
      case 16: return variables_.empty() ? unary() : state();
      case 17: return depth > 0 ? loop(depth - 1) : unary();
      default: return depth > 0 ? conditional(depth - 1) : binary();
    }
  }

  void unary() {
    static const std::vector<OpCode> codes = {OpCode::tanh, OpCode::relu,     OpCode::sigmoid,      OpCode::negative,
                                              OpCode::abs,  OpCode::identity, OpCode::stop_gradient};
    const Value v = any();
    const OpCode code = codes[below(codes.size())];
    know(graph.value(code, {v}), code == OpCode::tanh || code == OpCode::sigmoid ? 1 : bound(v));
  }

  void binary() {
    static const std::vector<OpCode> codes = {OpCode::add, OpCode::subtract, OpCode::multiply, OpCode::minimum,
                                              OpCode::maximum};
    const Value a = any();
    Value b = chance(4)
                  ? know(constant(graph, f32(chance(2) ? Shape() : a.shape()), static_cast<double>(below(3)) - 1), 1)
                  : any();
    if (!broadcast(a.shape(), b.shape())) b = a;
    const OpCode code = codes[below(codes.size())];
    const double sum = bound(a) + bound(b);
    know(graph.value(code, {a, b}), code == OpCode::multiply ? bound(a) * bound(b) : sum);
  }

  // A predicate that must be computed and waits until a conditional needs it.
  void predicate() {
    const Value p = flags_[below(flags_.size())], q = flags_[below(flags_.size())];
    flags_.push_back(graph.value(chance(2) ? OpCode::not_equal : OpCode::equal, {p, q}));
  }

  void selection() {
    if (chance(3)) return predicate();
    const Value p = leaves_[below(leaves_.size())], q = leaves_[below(leaves_.size())], a = any();
    const bool fits = broadcast(p.shape(), q.shape()).has_value();
    const Value predicate = graph.value(chance(2) ? OpCode::less : OpCode::equal, {p, fits ? q : p});
    if (broadcast(predicate.shape(), a.shape())) {
      know(graph.value(OpCode::select, {predicate, a, graph.value(OpCode::negative, {a})}), bound(a));
    } else {
      know(graph.value(OpCode::cast, {predicate}, {{Attr::kDtype, DType::float32}}), 1);
    }
  }

  void reduction() {
    const Value v = any();
    const Dims axes = some_axes(v.shape());
    // Means and extremes of no elements are NaN.
    const bool empty = v.shape().element_count() == 0;
    const OpCode code = empty || chance(2) ? OpCode::sum : chance(2) ? OpCode::mean : OpCode::max;
    const Value r = graph.value(code, {v}, {{Attr::kAxes, axes}});
    const double count = static_cast<double>(std::max<int64_t>(v.shape().element_count(), 1));
    know(r, code == OpCode::sum ? bound(v) * count : bound(v));
    if (chance(3)) know(graph.value(OpCode::broadcast_like, {r, v}), code == OpCode::sum ? bound(v) * count : bound(v));
    if (chance(4)) know(graph.value(OpCode::reduce_like, {v, r}), bound(v) * count);
  }

  void moved() {
    const Value v = any_of_rank(1);
    const int64_t rank = v.shape().rank(), axis = static_cast<int64_t>(below(static_cast<size_t>(rank)));
    switch (below(6)) {
      case 0: {
        Dims permutation;
        for (int64_t i = 0; i < rank; ++i) permutation.push_back(i);
        std::shuffle(permutation.begin(), permutation.end(), random_);
        know(graph.value(OpCode::transpose, {v}, {{Attr::kPermutation, permutation}}), bound(v));
        return;
      }
      case 1: {
        Dims starts(rank, 0), ends(static_cast<size_t>(rank), INT64_MAX), strides(static_cast<size_t>(rank), 1);
        const auto i = static_cast<size_t>(axis);
        if (chance(2)) starts[i] = INT64_MAX, ends[i] = INT64_MIN, strides[i] = -1 - static_cast<int64_t>(below(2));
        else starts[i] = static_cast<int64_t>(below(3)) - 1, strides[i] = 1 + static_cast<int64_t>(below(2));
        const Attributes bounds = slicing(starts, ends, strides);
        const Value part = graph.value(OpCode::slice, {v}, bounds);
        know(part, bound(v));
        if (chance(3)) know(graph.value(OpCode::slice_gradient, {part, v}, bounds), bound(v));
        return;
      }
      case 2: know(graph.value(OpCode::concat, {v, v}, {{Attr::kAxis, axis}}), bound(v)); return;
      case 3: know(graph.value(OpCode::expand_dims, {v}, {{Attr::kAxes, Dims{axis}}}), bound(v)); return;
      case 4:
        know(graph.value(OpCode::reshape, {v}, {{Attr::kShape, Shape({v.shape().element_count()})}}), bound(v));
        return;
      default: know(of_shape(Shape({3, 4})), 4); return;
    }
  }

  // (3, 4) times (4, 3); each side is given, transposed by an op, by a flag, or by both.
  void matmul() {
    Attributes flags;
    std::vector<Value> operands;
    for (const Attr flag : {Attr::kTransposeA, Attr::kTransposeB}) {
      const bool by_op = chance(2), by_flag = chance(2);
      const bool tall = (flag == Attr::kTransposeB) != (by_op != by_flag);
      Value v = of_shape(tall ? Shape({4, 3}) : Shape({3, 4}));
      if (by_op) v = graph.value(OpCode::transpose, {v}, {{Attr::kPermutation, Dims{1, 0}}});
      if (by_flag || chance(2)) flags.set(flag, by_flag);
      operands.push_back(v);
      bounds_.try_emplace(v, 6);
    }
    know(graph.value(OpCode::matmul, operands, flags), 4 * bound(operands[0]) * bound(operands[1]));
  }

  void optimizer() {
    const Value w = any();
    const Value g = of_shape(w.shape());
    const Value rate = constant(graph, f32({1}), 0.25), half = constant(graph, f32({}), 0.5);
    if (chance(2)) {
      know(graph.value(OpCode::sgd, {rate, w, g}), bound(w) + bound(g));
      return;
    }
    const Value m = of_shape(w.shape()), v = graph.value(OpCode::square, {of_shape(w.shape())});
    Op* op = graph.add(OpCode::adam, {rate, half, half, half, w, m, v, g});
    know({op, 0}, bound(w) + bound(m) + bound(g));
    know({op, 1}, bound(m) + bound(g));
    if (chance(2)) know({op, 2}, 100);
  }

  void softmax() {
    const Value v = any_of_rank(1);
    know(graph.value(OpCode::softmax, {v}, {{Attr::kAxis, int64_t{-1}}}), 1);
  }

  // Reads and writes in all orders; some are requested.
  void state() {
    const Value v = variables_[below(variables_.size())];
    if (!writes_.empty() && chance(3)) graph.after = {writes_[below(writes_.size())]};
    if (chance(2)) {
      const Value seen = read(graph, v);
      graph.after.clear();
      know(seen, 6);
      return;
    }
    const std::vector<Op*> after = std::exchange(graph.after, {});
    Value value = chance(4) ? variables_[below(variables_.size())] : chance(3) ? graph.value(OpCode::tanh, {v}) : any();
    if (value.shape() != v.shape()) value = of_shape(v.shape());
    graph.after = after;
    writes_.push_back(assign(graph, v, value));
    graph.after.clear();
    // Others read the assigned value, with its own or another shape.
    if (!chance(3)) return;
    if (chance(2)) {
      value = graph.value(OpCode::reshape, {value}, {{Attr::kShape, Shape({value.shape().element_count()})}});
    }
    know(graph.value(chance(2) ? OpCode::tanh : OpCode::negative, {value}), 6);
  }

  void conditional(int depth) {
    const Value predicate = chance(2) ? flags_.back() : flags_[below(flags_.size())];
    std::vector<Shape> shapes(below(4));
    for (Shape& s : shapes) s = shape();
    const std::vector<Value> outer_pool = pool_;
    const std::vector<Value> outer_flags = flags_;
    const std::vector<Op*> outer_writes = writes_;
    std::vector<std::unique_ptr<Block>> regions;
    std::vector<double> most(shapes.size(), 0);
    for (int k = 0; k < 2; ++k) {
      graph.open_region();
      const size_t steps = below(5);
      for (size_t i = 0; i < steps; ++i) step(depth);
      std::vector<Value> given;
      for (size_t i = 0; i < shapes.size(); ++i) {
        given.push_back(of_shape(shapes[i]));
        most[i] = std::max(most[i], bound(given[i]));
      }
      regions.push_back(graph.close_region(given));
      pool_ = outer_pool;
      flags_ = outer_flags;
      writes_ = outer_writes;
    }
    Op* op = graph.add(OpCode::if_else, {predicate}, {}, std::move(regions));
    for (uint32_t i = 0; i < shapes.size(); ++i) know({op, i}, most[i]);
    if (has_effect(*op)) writes_.push_back(op);
  }

  // The values that a loop's region returns: like `carried`, often its own arguments in another order.
  std::vector<Value> pass(int depth, const std::vector<Value>& arguments, const std::vector<Value>& carried) {
    const std::vector<Value> outer_pool = pool_, outer_flags = flags_;
    const std::vector<Op*> outer_writes = writes_;
    for (const Value& v : arguments) {
      if (v.dtype() == DType::float32) know(v, 6);
      else if (chance(2)) know(graph.value(OpCode::cast, {v}, {{Attr::kDtype, DType::float32}}), 6);
    }
    const size_t steps = below(4);
    for (size_t i = 0; i < steps; ++i) step(depth);
    std::vector<Value> given;
    for (const Value& v : carried) {
      std::vector<Value> alike;
      for (const Value& argument : arguments) {
        if (argument.type() == v.type()) alike.push_back(argument);
      }
      const bool takes_one = !alike.empty() && !chance(3);
      given.push_back(takes_one ? alike[below(alike.size())] : of_shape(v.shape()));
    }
    pool_ = outer_pool;
    flags_ = outer_flags;
    writes_ = outer_writes;
    return given;
  }

  void loop(int depth) {
    std::vector<Value> carried;
    for (size_t i = below(4); i > 0; --i) carried.push_back(any());
    if (carried.size() > 1 && chance(2)) carried[1] = of_shape(carried[0].shape());
    Op* op = chance(2) ? counted(depth, carried) : repeated(depth, carried);
    for (uint32_t i = 0; i < op->results.size(); ++i) know({op, i}, 6);
    if (has_effect(*op)) writes_.push_back(op);
  }

  // Up to four iterations.
  Op* counted(int depth, const std::vector<Value>& carried) {
    const auto number = [&](size_t n) {
      return constant(graph, i32(chance(2) ? Shape() : Shape({1})), static_cast<double>(n));
    };
    const size_t lower = below(3);
    const std::vector<Value> bounds = {number(lower), number(lower + below(5)), number(1 + below(2))};
    return for_loop(graph, bounds, carried,
                    [&](const std::vector<Value>& arguments) { return pass(depth, arguments, carried); });
  }

  // The first value is the number of remaining iterations, at most three.
  Op* repeated(int depth, std::vector<Value> carried) {
    carried.insert(carried.begin(), constant(graph, f32({}), static_cast<double>(below(4))));
    const auto before = [&](const std::vector<Value>& arguments) {
      const Value zero = constant(graph, f32({}), 0), left = arguments[0];
      std::vector<Value> given = pass(depth, arguments, chance(2) ? carried : others(carried));
      given[0] = left;
      given.insert(given.begin(), chance(2) ? graph.value(OpCode::greater, {left, zero}) : left);
      return given;
    };
    const auto after = [&](const std::vector<Value>& arguments) {
      std::vector<Value> given = pass(depth, arguments, carried);
      given[0] = graph.value(OpCode::subtract, {arguments[0], constant(graph, f32({}), 1)});
      return given;
    };
    return while_loop(graph, carried, before, after);
  }

  // Returned values that differ in number and shape from the arguments.
  std::vector<Value> others(std::vector<Value> carried) {
    if (carried.size() > 1) carried.pop_back();
    carried.push_back(any());
    return carried;
  }

  std::mt19937 random_;
  std::vector<Value> leaves_, flags_, variables_, known_;
  std::vector<Value> pool_;  // values that are visible at the current point
  std::vector<Op*> writes_;  // assignments, and conditionals with assignments, likewise
  ValueMap<double> bounds_;
};

}  // namespace alloy::test
