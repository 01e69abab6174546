// The engine without Python: the dispatch of a tiny executable, and the training step of the digits network.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>

#include "adam.h"
#include "ir/rules/expr.h"

namespace {

using namespace alloy;
using engine::Graph;
using ir::Attr;
using ir::Dims;
using ir::Expr;
using ir::OpCode;
using ir::Shape;

constexpr int64_t kBatch = 32;

Expr placeholder(Graph& graph, Shape shape) {
  return Expr(graph.ir(), graph.ir().value(OpCode::placeholder, {},
                                           {{Attr::kShape, std::move(shape)}, {Attr::kDtype, ir::DType::float32}}));
}

// Glorot-uniform weights (Glorot and Bengio, 2010); biases, of rank 1, are zero.
Expr variable(Graph& graph, const Shape& shape, std::mt19937& random) {
  std::vector<float> values(shape.element_count());
  if (shape.rank() > 1) {
    const int64_t receptive = shape.rank() == 4 ? shape[0] * shape[1] : 1;
    const auto fans = static_cast<float>(receptive * (shape[shape.rank() - 2] + shape[shape.rank() - 1]));
    std::uniform_real_distribution<float> uniform(-std::sqrt(6 / fans), std::sqrt(6 / fans));
    for (float& v : values) v = uniform(random);
  }
  const ir::Type type{ir::DType::float32, shape};
  return Expr(graph.ir(), graph.variable(std::make_shared<ir::Literal>(type, std::as_bytes(std::span(values)))));
}

Expr conv(Graph& graph, Expr x, int64_t in, int64_t out, std::mt19937& random) {
  const Expr y = ir::apply(OpCode::conv2d, {x, variable(graph, {3, 3, in, out}, random)},
                           {{Attr::kStrides, Dims{1, 1}},
                            {Attr::kDilations, Dims{1, 1}},
                            {Attr::kPadding, Dims{0, 0, 0, 0}},
                            {Attr::kPaddingStyle, std::string("same")},
                            {Attr::kGroups, int64_t{1}},
                            {Attr::kDataLayout, std::string("NHWC")},
                            {Attr::kWeightsLayout, std::string("HWIO")}});
  return ir::relu(y + variable(graph, {out}, random));
}

Expr dense(Graph& graph, Expr x, int64_t in, int64_t out, std::mt19937& random) {
  return ir::apply(OpCode::matmul, {x, variable(graph, {in, out}, random)}) + variable(graph, {out}, random);
}

Expr digits_loss(Graph& graph, Expr images, Expr labels) {
  std::mt19937 random(0);
  Expr x = conv(graph, conv(graph, images, 1, 16, random), 16, 32, random);
  x = ir::apply(OpCode::max_pool2d, {x},
                {{Attr::kWindow, Dims{2, 2}},
                 {Attr::kStrides, Dims{2, 2}},
                 {Attr::kDilations, Dims{1, 1}},
                 {Attr::kPadding, Dims{0, 0, 0, 0}},
                 {Attr::kPaddingStyle, std::string("valid")},
                 {Attr::kDataLayout, std::string("NHWC")}});
  x = ir::apply(OpCode::reshape, {x}, {{Attr::kShape, Shape({kBatch, 512})}});
  x = dense(graph, ir::relu(dense(graph, x, 512, 64, random)), 64, 10, random);
  return ir::apply(OpCode::softmax_cross_entropy, {x, labels},
                   {{Attr::kAxis, int64_t{-1}}, {Attr::kReduction, std::string("mean")}});
}

void tiny_dispatch(benchmark::State& state) {
  auto graph = std::make_shared<Graph>();
  const Expr x = placeholder(*graph, {4});
  auto executable = graph->compile({x.value()}, {(x + 1.0).value()}, {});
  const auto step = executable->specialize({Shape({4})});
  float in[4] = {1, 2, 3, 4}, out[4];
  const engine::FeedBytes feeds[] = {{in, nullptr}};
  void* results[] = {out};
  for (auto _ : state) executable->run(step, feeds, results);
  if (out[3] != 5) state.SkipWithError("wrong result");
}
BENCHMARK(tiny_dispatch)->Unit(benchmark::kMicrosecond);

void digits_step(benchmark::State& state) {
  auto graph = std::make_shared<Graph>();
  const Expr images = placeholder(*graph, {kBatch, 8, 8, 1}), labels = placeholder(*graph, {kBatch, 10});
  const Expr loss = digits_loss(*graph, images, labels);
  std::vector<ir::Value> variables;
  for (const auto& v : graph->variables()) variables.push_back(v.value);
  const auto updates = adam_updates(*graph, engine::loss_gradients(*graph, loss.value(), variables));
  auto executable = graph->compile({images.value(), labels.value()}, {loss.value()}, updates);
  const auto step = executable->specialize({images.shape(), labels.shape()});

  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform;
  std::vector<float> x(kBatch * 64), y(kBatch * 10);
  for (float& v : x) v = uniform(random);
  for (int64_t i = 0; i < kBatch; ++i) y[i * 10 + i % 10] = 1;
  float value = 0;
  const engine::FeedBytes feeds[] = {{x.data(), nullptr}, {y.data(), nullptr}};
  void* results[] = {&value};
  for (auto _ : state) executable->run(step, feeds, results);
  if (!std::isfinite(value)) state.SkipWithError("the loss is not finite");
  state.counters["steps/s"] = benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(digits_step)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
