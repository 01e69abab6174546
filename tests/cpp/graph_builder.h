// Functions with which the tests build graphs. Uses only ir and GoogleTest.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/native.h"
#include "ir/transform/regions.h"
#include "ir/transform/rewrite.h"

namespace alloy::test {

using namespace ir;

inline constexpr int64_t U = kUnknown;

inline Type f32(Shape shape) { return {DType::float32, std::move(shape)}; }
inline Type i32(Shape shape) { return {DType::int32, std::move(shape)}; }
inline Type bools(Shape shape) { return {DType::boolean, std::move(shape)}; }

inline Value placeholder(Graph& graph, const Type& type) {
  return graph.value(OpCode::placeholder, {}, {{Attr::kShape, type.shape}, {Attr::kDtype, type.dtype}});
}

inline Value variable(Graph& graph, const Type& type, double initial = 0) {
  return graph.value(OpCode::variable, {}, {{Attr::kValue, Literal::splat(type, initial)}});
}

inline Value read(Graph& graph, Value variable) { return graph.value(OpCode::read_variable, {variable}); }

inline Op* assign(Graph& graph, Value variable, Value value) { return graph.add(OpCode::assign, {variable, value}); }

// Attributes of a convolution with 3x3 weights or of a 2x2 pooling in NHWC; tests change them.
inline Attributes convolution(const std::string& style = "same", int64_t groups = 1) {
  return {{Attr::kStrides, Dims{1, 1}},
          {Attr::kDilations, Dims{1, 1}},
          {Attr::kPadding, Dims{0, 0, 0, 0}},
          {Attr::kPaddingStyle, style},
          {Attr::kGroups, groups},
          {Attr::kDataLayout, std::string("NHWC")},
          {Attr::kWeightsLayout, std::string("HWIO")}};
}

inline Attributes pooling(const std::string& style = "valid") {
  return {{Attr::kWindow, Dims{2, 2}},        {Attr::kStrides, Dims{2, 2}}, {Attr::kDilations, Dims{1, 1}},
          {Attr::kPadding, Dims{0, 0, 0, 0}}, {Attr::kPaddingStyle, style}, {Attr::kDataLayout, std::string("NHWC")}};
}

// The same for volumes in NDHWC, and for (2, 2, 1, 3) windows over the last four axes.
inline Attributes convolution_3d(const std::string& style = "same", int64_t groups = 1) {
  return {{Attr::kStrides, Dims{1, 1, 1}},
          {Attr::kDilations, Dims{1, 1, 1}},
          {Attr::kPadding, Dims(6, 0)},
          {Attr::kPaddingStyle, style},
          {Attr::kGroups, groups},
          {Attr::kDataLayout, std::string("NDHWC")},
          {Attr::kWeightsLayout, std::string("DHWIO")}};
}

inline Attributes pooling_4d(const std::string& style = "valid") {
  return {{Attr::kWindow, Dims{2, 2, 1, 3}},
          {Attr::kStrides, Dims{1, 2, 1, 1}},
          {Attr::kDilations, Dims(4, 1)},
          {Attr::kPadding, Dims(8, 0)},
          {Attr::kPaddingStyle, style}};
}

inline Attributes slicing(Dims starts, Dims ends, Dims strides) {
  return {{Attr::kStarts, std::move(starts)}, {Attr::kEnds, std::move(ends)}, {Attr::kStrides, std::move(strides)}};
}

// Random numbers with a mean of 0.5 and a standard deviation of 2.
inline Attributes random_attributes(const std::string& distribution, double low, double high,
                                    const std::string& sampling = "inverse_cdf") {
  return {{Attr::kDistribution, distribution},
          {Attr::kSampling, sampling},
          {Attr::kLow, low},
          {Attr::kHigh, high},
          {Attr::kMean, 0.5},
          {Attr::kDeviation, 2.0}};
}

inline Attributes with(Attributes attributes, Attr attr, AttrValue value) {
  attributes.set(attr, std::move(value));
  return attributes;
}

// The message of the Error that `work` throws, or "no error".
inline std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Two branches with one assignment or value each.
inline Op* if_else(Graph& graph, Value predicate, const std::function<std::vector<Value>()>& yes,
                   const std::function<std::vector<Value>()>& no) {
  std::vector<std::unique_ptr<Block>> regions;
  for (const auto& branch : {yes, no}) {
    graph.open_region();
    std::vector<Value> results = branch();
    regions.push_back(graph.close_region(std::move(results)));
  }
  return graph.add(OpCode::if_else, {predicate}, {}, std::move(regions));
}

using Pass = std::function<std::vector<Value>(const std::vector<Value>& arguments)>;

// `before` returns the predicate and further values; `after` returns the values for the next iteration.
inline Op* while_loop(Graph& graph, const std::vector<Value>& initial, const Pass& before, const Pass& after) {
  std::vector<std::unique_ptr<Block>> regions;
  for (const Pass& part : {before, after}) {
    std::vector<Value> results = part(graph.open_region(argument_types(OpCode::while_loop, initial, regions)));
    regions.push_back(graph.close_region(std::move(results)));
  }
  return graph.add(OpCode::while_loop, initial, {}, std::move(regions));
}

// `body` takes the index and the carried values, and returns the next carried values, then the values to stack.
inline Op* for_loop(Graph& graph, const std::vector<Value>& bounds, const std::vector<Value>& initial,
                    const Pass& body) {
  std::vector<Value> operands = bounds;
  operands.insert(operands.end(), initial.begin(), initial.end());
  std::vector<std::unique_ptr<Block>> regions;
  std::vector<Value> results = body(graph.open_region(argument_types(OpCode::for_loop, operands, regions)));
  regions.push_back(graph.close_region(std::move(results)));
  return graph.add(OpCode::for_loop, std::move(operands), {}, std::move(regions));
}

// A library's function for which only types matter: the result has the first operand's type.
class Halved : public NativeFunction {
 public:
  Halved(std::string called, int count, std::string of_gradient) {
    name = std::move(called);
    operands = count;
    gradient = std::move(of_gradient);
  }
  std::vector<Type> infer(const std::vector<Type>& given, std::string&) const override { return {given[0]}; }
};

// Adds ops, and remembers their results and the arithmetic of each, counted by hand as ir/rules/cost.h says.
class OpAdder {
 public:
  explicit OpAdder(Graph& graph) : graph_(graph) {}

  Value add(OpCode code, std::vector<Value> operands, Attributes attributes = {}, uint64_t count = 0) {
    const Op* op = graph_.add(code, std::move(operands), std::move(attributes));
    for (uint32_t i = 0; i < op->results.size(); ++i) results.push_back(op->result(i));
    flops[op] = count;
    return op->result();
  }

  // The ops of the table's families, of a (2, 3) and a (3,).
  void add_table_ops(Value x, Value y) {
    const Attributes to_integers{{Attr::kDtype, DType::int32}};
    const Value n = graph_.value(OpCode::cast, {x}, to_integers), m = graph_.value(OpCode::cast, {y}, to_integers);
    for (const OpInfo& row : op_table()) {
      switch (row.family) {
        case Family::kUnary:
        case Family::kActivation:
        case Family::kPredicate: add(row.code, {row.types == TypeClass::integer ? n : x}); break;
        case Family::kBinary:
        case Family::kComparison:
        case Family::kActivationGradient:
          if (row.types == TypeClass::integer) add(row.code, {n, m});
          else add(row.code, {x, y});
          break;
        case Family::kTernary: add(row.code, {x, x, y}); break;
        case Family::kReduction:
        case Family::kMoment: add(row.code, {x}, {{Attr::kAxes, Dims{0, -1}}}); break;
        case Family::kArgReduction: add(row.code, {x}, {{Attr::kAxis, int64_t{-1}}}); break;
        case Family::kStructured: break;
      }
    }
  }

  // Ops that move elements or read shapes; c has the shape of x.
  void add_shape_ops(Value x, Value y, Value c) {
    const Value e = graph_.value(OpCode::empty, {}, {{Attr::kShape, Shape({3, 2})}, {Attr::kDtype, DType::float32}});
    add(OpCode::stop_gradient, {x});
    results.push_back(c);
    add(OpCode::reshape, {x}, {{Attr::kShape, Shape({U, 2})}});
    add(OpCode::reshape_like, {x, e});
    add(OpCode::shaped, {graph_.value(OpCode::shape_of, {x})}, {{Attr::kDtype, DType::float32}});
    const Value tall = add(OpCode::expand_dims, {x}, {{Attr::kAxes, Dims{0, -1}}});
    add(OpCode::squeeze, {tall}, {{Attr::kAxes, Dims{0, 3}}});
    add(OpCode::broadcast_to, {y}, {{Attr::kShape, Shape({4, 2, 3})}});
    add(OpCode::broadcast_like, {y, x});
    add(OpCode::reduce_like, {x, y}, {}, 6);
    const Attributes bounds = slicing({0, INT64_MAX}, {INT64_MAX, INT64_MIN}, {1, -2});
    const Value part = add(OpCode::slice, {x}, bounds);
    add(OpCode::slice_gradient, {part, x}, bounds);
    const Value rows = placeholder(graph_, i32({2, 5}));
    const Value taken = add(OpCode::gather, {x, rows}, {{Attr::kAxis, int64_t{-1}}, {Attr::kBatchDims, int64_t{1}}});
    const Value tuples = add(OpCode::expand_dims, {rows}, {{Attr::kAxes, Dims{-1}}});
    add(OpCode::scatter_nd, {taken, tuples, x}, {{Attr::kBatchDims, int64_t{1}}}, 2 * 5);
    const Value row = graph_.value(OpCode::slice, {x}, slicing({0, 0}, {1, INT64_MAX}, {1, 1}));
    add(OpCode::scatter, {x, row, placeholder(graph_, i32({1}))},
        {{Attr::kAxis, int64_t{0}}, {Attr::kMode, std::string("add")}}, 3);
    add(OpCode::pad, {x, placeholder(graph_, f32({}))}, {{Attr::kPadding, Dims{1, 0, 0, 2}}});
    const Value pairs = placeholder(graph_, i32({4, 2}));
    const Value picked = add(OpCode::gather_nd, {x, pairs}, {{Attr::kBatchDims, int64_t{0}}});
    add(OpCode::scatter_nd_update, {x, picked, pairs},
        {{Attr::kBatchDims, int64_t{0}}, {Attr::kMode, std::string("maximum")}}, 4);
    add(OpCode::argsort, {x}, {{Attr::kAxis, int64_t{-1}}, {Attr::kCount, int64_t{2}}, {Attr::kDescending, true}});
    add(OpCode::accumulate, {x},
        {{Attr::kAxis, int64_t{1}}, {Attr::kOperation, std::string("product")}, {Attr::kReverse, true}}, 6);
    add(OpCode::concat, {x, c, x}, {{Attr::kAxis, int64_t{-1}}});
    add(OpCode::cast, {x}, {{Attr::kDtype, DType::int64}});
    add(OpCode::bitcast, {x}, {{Attr::kDtype, DType::int16}});
    add(OpCode::shape_of, {x});
    add(OpCode::count, {x}, {{Attr::kAxes, Dims{1}}});
  }

  // Products, softmax and windows.
  void add_sums(Value x, Value c) {
    const Value turned = add(OpCode::transpose, {x}, {{Attr::kPermutation, Dims{1, 0}}});
    // 2 * 2 sums of 3 products.
    add(OpCode::matmul, {turned, turned}, {{Attr::kTransposeA, true}, {Attr::kTransposeB, false}}, 2 * (2 * 2) * 3);
    add(OpCode::inverse, {placeholder(graph_, f32({2, 3, 3}))}, {}, 2 * (2 * 3 * 3) * 3);
    const Value pairs = placeholder(graph_, f32({5, 3, 2}));
    // 5 * 3 complex numbers, in lines of 3 (rounded up to 4) and of 5 (rounded up to 8).
    add(OpCode::fourier_transform, {pairs},
        {{Attr::kAxes, Dims{1, 0}}, {Attr::kInverse, true}, {Attr::kScaling, std::string("unitary")}},
        5 * (5 * 3) * (2 + 3));
    add(OpCode::view_as_real, {graph_.value(OpCode::view_as_complex, {pairs})});
    add(OpCode::softmax, {x}, {{Attr::kAxis, int64_t{1}}}, 5 * 6);
    add(OpCode::log_softmax, {x}, {{Attr::kAxis, int64_t{-2}}}, 5 * 6);
    add(OpCode::softmax_cross_entropy, {x, c}, {{Attr::kAxis, int64_t{1}}, {Attr::kReduction, std::string("mean")}},
        7 * 6);
    // 2 * 2 scores of 3 products each, with the mask and their softmax, which weigh 3 numbers each; the scale comes
    // first.
    add(OpCode::scaled_dot_product_attention, {x, c, x, placeholder(graph_, f32({2, 2}))}, {{Attr::kScale, 0.5}},
        6 + (2 * 2) * (2 * 3 + 1 + 5 + 2 * 3));
    // For each score five products, of 3 numbers each, the softmax, its gradient and the scale, twice.
    add(OpCode::scaled_dot_product_attention_gradient, {x, x, x, c}, {{Attr::kScale, 0.5}},
        (2 * 2) * (5 * 2 * 3 + 5 + 4 + 2));
    const Value image = placeholder(graph_, f32({2, 5, 5, 4})), weights = placeholder(graph_, f32({3, 3, 2, 6}));
    // An element of the result is a sum over 3x3 pixels of 2 of the 4 channels; the gradients are as many products.
    const uint64_t products = 2 * (2 * 5 * 5 * 6) * (3 * 3 * 2);
    const Value convolved = add(OpCode::conv2d, {image, weights}, convolution("same", 2), products);
    add(OpCode::conv2d_data_gradient, {convolved, weights, image}, convolution("same", 2), products);
    add(OpCode::conv2d_weights_gradient, {convolved, image, weights}, convolution("same", 2), products);
    const Attributes ceiled = with(with(pooling("explicit"), Attr::kCeilMode, true), Attr::kPadding, Dims{1, 0, 0, 1});
    // 3x3 windows of 2x2 pixels, of 2 images with 4 channels.
    const uint64_t seen = (2 * 3 * 3 * 4) * (2 * 2);
    const Value pooled = add(OpCode::max_pool2d, {image}, ceiled, seen);
    add(OpCode::max_pool2d_gradient, {pooled, image}, ceiled, seen);
    add(OpCode::avg_pool2d, {image}, with(ceiled, Attr::kIncludePadding, true), seen);
    add(OpCode::avg_pool2d_gradient, {pooled, image}, with(ceiled, Attr::kIncludePadding, true), seen);
    add_windows_of_more_axes(image);
  }

  void add_windows_of_more_axes(Value image) {
    const Value volume = placeholder(graph_, f32({2, 3, 4, 5, 4})), filters = placeholder(graph_, f32({2, 3, 3, 2, 6}));
    const uint64_t products = 2 * (2 * 3 * 4 * 5 * 6) * (2 * 3 * 3 * 2);
    const Value convolved = add(OpCode::conv3d, {volume, filters}, convolution_3d("same", 2), products);
    add(OpCode::conv3d_data_gradient, {convolved, filters, volume}, convolution_3d("same", 2), products);
    add(OpCode::conv3d_weights_gradient, {convolved, volume, filters}, convolution_3d("same", 2), products);
    const Attributes ceiled = with(pooling_4d(), Attr::kCeilMode, true);
    const uint64_t seen = (1 * 3 * 5 * 2) * (2 * 2 * 1 * 3);
    const Value pooled = add(OpCode::max_pool4d, {image}, ceiled, seen);
    add(OpCode::max_pool4d_with_indices, {image}, with(ceiled, Attr::kIndicesMode, std::string("global_3d")), seen);
    add(OpCode::max_pool4d_gradient, {pooled, image}, ceiled, seen);
    add(OpCode::avg_pool4d, {image}, with(ceiled, Attr::kIncludePadding, true), seen);
    add(OpCode::avg_pool4d_gradient, {pooled, image}, with(ceiled, Attr::kIncludePadding, true), seen);
  }

  // Random numbers of x's type.
  void add_random(Value x) {
    const Value state = add(OpCode::fresh_random_state, {});
    add(OpCode::random, {state, x}, random_attributes("truncated_normal", -1.5, 1e-3));
  }

  // An op of each recurrent kind with its gradient, without and with all optional operands.
  void add_cells() {
    const Value state = placeholder(graph_, f32({3, 2})), mask = placeholder(graph_, f32({3, 2}));
    const auto sequence = [&](int64_t gates) { return placeholder(graph_, f32({4, 3, 2 * gates})); };
    const auto weights = [&](int64_t gates) { return placeholder(graph_, f32({2 * gates, 2})); };
    const auto attributes = [&](Dims activations) {
      return Attributes{{Attr::kActivations, std::move(activations)}, {Attr::kReverse, true}, {Attr::kMasked, true}};
    };
    // 4 steps of 3 sequences: a product of 12 rows by all weights, which are 2 * 2 for a gate.
    const auto products = [](uint64_t gates) { return 2 * (4 * 3) * (gates * 2 * 2); };
    const auto add_cell = [&](OpCode code, std::vector<Value> operands, const Attributes& given, uint64_t gates) {
      const Op* op = graph_.add(code, std::move(operands), with(given, Attr::kTraining, true));
      flops[op] = products(gates);
      return op;
    };
    const Attributes of_rnn = attributes({1});
    const Op* rnn = add_cell(OpCode::rnn, {sequence(1), weights(1), state, mask}, of_rnn, 1);
    results.push_back(rnn->result(0));
    add(OpCode::rnn_gradient, {rnn->result(0), rnn->result(1), weights(1), mask}, of_rnn, products(1));
    const Attributes of_lstm = with(attributes({3, 4, 2, 3, 2}), Attr::kPeephole, true);
    const Value peephole = placeholder(graph_, f32({8})), lstm_weights = weights(4);
    const Op* lstm = add_cell(OpCode::lstm, {sequence(4), lstm_weights, state, state, mask, peephole}, of_lstm, 4);
    results.push_back(lstm->result(1));
    add(OpCode::lstm_gradient,
        {lstm->result(0), lstm->result(2), lstm->result(1), lstm_weights, state, mask, peephole, lstm->result(1)},
        with(of_lstm, Attr::kCellGradient, true), products(4));
    const Attributes of_gru = with(with(attributes({3, 3, 2}), Attr::kResetAfter, true), Attr::kFlipZ, true);
    const Value bias = placeholder(graph_, f32({2})), gru_weights = weights(3);
    const Op* gru = add_cell(OpCode::gru, {sequence(3), gru_weights, state, bias, mask}, of_gru, 3);
    results.push_back(gru->result(0));
    add(OpCode::gru_gradient, {gru->result(0), gru->result(1), gru->result(0), gru_weights, state, mask}, of_gru,
        products(3));
  }

  // A chain, and optimizer steps; v is a variable with the shape of x.
  void add_chain_and_steps(Value x, Value y, Value v) {
    std::vector<std::unique_ptr<Block>> chain;
    graph_.open_region();
    const Value first_link = graph_.value(OpCode::add, {x, y});
    chain.push_back(graph_.close_region({graph_.value(OpCode::exp, {first_link}), first_link}));
    results.push_back({graph_.add(OpCode::fused, {x, y}, {}, std::move(chain)), 1});
    const Value rate = constant(graph_, f32({1}), 0.25);
    add(OpCode::sgd, {rate, v, x}, {}, 2 * 6);
    add(OpCode::adam, {rate, rate, rate, rate, v, x, x, x}, {}, 12 * 6);
    add(OpCode::adam, {rate, rate, rate, rate, v, x, x, x, x}, {}, 13 * 6);
  }

  // A custom gradient, an op of a library, and a sum over processes.
  void add_own(Value x, Value y) {
    const Value scaled = graph_.value(OpCode::multiply, {x, y});
    const Attributes one{{Attr::kCount, int64_t{1}}};
    const std::vector<Value> g = graph_.open_region(argument_types(OpCode::custom_gradient, {scaled}, {}, one));
    std::vector<std::unique_ptr<Block>> regions;
    regions.push_back(graph_.close_region({graph_.value(OpCode::multiply, {g[0], x}), y}));
    results.push_back({graph_.add(OpCode::custom_gradient, {scaled, x, y}, one, std::move(regions)), 0});
    add_native_function(std::make_shared<Halved>("test.halved", 1, "test.halved_gradient"));
    add_native_function(std::make_shared<Halved>("test.halved_gradient", 3, ""));
    add(OpCode::native, {x}, {{Attr::kFunction, std::string("test.halved")}});
    add(OpCode::all_reduce, {x});
  }

  // A loop of each kind; the counted loop, which is returned, assigns to v.
  Op* add_loops(Value x, Value y, Value v) {
    const Value rate = constant(graph_, f32({1}), 0.25);
    const Attributes to_int = {{Attr::kDtype, DType::int32}};
    Op* halved = while_loop(
        graph_, {x},
        [&](const std::vector<Value>& a) {
          const Value most = graph_.value(OpCode::max, {a[0]}, {{Attr::kAxes, Dims{0, 1}}});
          return std::vector{graph_.value(OpCode::greater, {most, rate}), a[0],
                             graph_.value(OpCode::cast, {a[0]}, to_int)};
        },
        [&](const std::vector<Value>& a) { return std::vector{graph_.value(OpCode::multiply, {a[0], rate})}; });
    results.push_back({halved, 1});
    const Value zero = constant(graph_, i32({}), 0), three = constant(graph_, i32({}), 3),
                one = constant(graph_, i32({}), 1);
    Op* powers = for_loop(graph_, {zero, three, one}, {x, y}, [&](const std::vector<Value>& a) {
      assign(graph_, v, a[1]);
      return std::vector{graph_.value(OpCode::multiply, {a[1], a[2]}), a[2], a[0]};
    });
    results.push_back({powers, 0});
    results.push_back({powers, 2});
    return powers;
  }

  std::vector<Value> results;
  std::map<const Op*, uint64_t> flops;

 private:
  Graph& graph_;
};

// Adds every op of the table at least once and makes the body's results and effects of them. Returns the arithmetic of
// each as it is counted by hand.
inline std::map<const Op*, uint64_t> add_every_op(Graph& graph) {
  OpAdder ops(graph);
  const Value x = placeholder(graph, f32({2, 3})), y = placeholder(graph, f32({3}));
  const Value flag = placeholder(graph, bools({}));
  ops.add_table_ops(x, y);
  const Value c = constant(graph, f32({2, 3}), 0.5), v = variable(graph, f32({2, 3}), 1.5);
  ops.add(OpCode::read_variable, {v});
  ops.add_shape_ops(x, y, c);
  ops.add_sums(x, c);
  ops.add_random(x);
  ops.add_cells();
  ops.add_chain_and_steps(x, y, v);
  ops.add_own(x, y);

  graph.name = "writes";
  Op* first = assign(graph, v, x);
  graph.name.clear();
  graph.after = {first};
  const Value seen = read(graph, v);
  graph.after.clear();
  Op* second = assign(graph, v, seen);
  Op* branches = if_else(
      graph, flag, [&] { return std::vector{graph.value(OpCode::add, {x, y}), y}; },
      [&] {
        assign(graph, v, c);
        return std::vector{x, graph.value(OpCode::exp, {y})};
      });
  ops.results.push_back({branches, 1});
  Op* counted = ops.add_loops(x, y, v);
  graph.body().results = ops.results;
  graph.body().effects = {second, branches, counted};
  return ops.flops;
}

}  // namespace alloy::test
