// Tests the passes: text in, text out where that shows the pass best; and random graphs, whose results a pass must not
// change.
#include "compiler/passes.h"
#include "cpu/device.h"
#include "cpu/passes/pointwise.h"

#include <algorithm>

#include "ir/grammar.h"
#include "ir/text/text.h"
#include "ir/transform/rewrite.h"
#include "random_graph.h"

namespace alloy::compiler {
namespace {

using namespace test;

// The text of a body over placeholders %0 = float32(2, 3) and %1 = float32(3,).
std::string graph_text(const std::string& body) {
  return "graph {\n"
         "  %0 = placeholder() {shape = (2, 3), dtype = float32} : float32(2, 3)\n"
         "  %1 = placeholder() {shape = (3,), dtype = float32} : float32(3,)\n" +
         body + "}\n";
}

std::string resolved(const std::string& body) { return print(*resolve_shapes(*parse(graph_text(body)))); }

// ---- resolve_shapes ----

TEST(ResolveShapes, DropsCopies) {
  EXPECT_EQ(resolved("  %2 = identity(%0) : float32(2, 3)\n"
                     "  %3 = stop_gradient(%2) : float32(2, 3)\n"
                     "  %4 = cast(%3) {dtype = float32} : float32(2, 3)\n"
                     "  %5 = reshape(%4) {shape = (?, 3)} : float32(2, 3)\n"
                     "  %6 = reduce_like(%5, %0) : float32(2, 3)\n"
                     "  %7 = broadcast_like(%6, %0) : float32(2, 3)\n"
                     "  %8 = broadcast_to(%7) {shape = (2, 3)} : float32(2, 3)\n"
                     "  return (%8, %1)\n"),
            graph_text("  return (%0, %1)\n"));
}

TEST(ResolveShapes, TurnsLikesIntoAttributes) {
  EXPECT_EQ(resolved("  %2 = broadcast_like(%1, %0) : float32(2, 3)\n"
                     "  %3 = reshape_like(%1, %1) : float32(3,)\n"
                     "  %4 = transpose(%0) {permutation = [1, 0]} : float32(3, 2)\n"
                     "  %5 = reshape_like(%0, %4) : float32(3, 2)\n"
                     "  %6 = reduce_like(%0, %1) : float32(3,)\n"
                     "  return (%2, %3, %5, %6)\n"),
            graph_text("  %2 = broadcast_to(%1) {shape = (2, 3)} : float32(2, 3)\n"
                       "  %3 = transpose(%0) {permutation = [1, 0]} : float32(3, 2)\n"
                       "  %4 = reshape(%0) {shape = (3, 2)} : float32(3, 2)\n"
                       "  %5 = empty() {shape = (3,), dtype = float32} : float32(3,)\n"
                       "  %6 = reduce_like(%0, %5) : float32(3,)\n"
                       "  return (%2, %1, %4, %6)\n"));
}

TEST(ResolveShapes, EvaluatesShapes) {
  const Rewriter::Rule copy = [](Rewriter&, const Op&, const std::vector<Value>&) { return std::nullopt; };
  auto needed = [&](const std::string& body) {
    return print(*Rewriter(copy).run(*resolve_shapes(*parse(graph_text(body)))));
  };
  EXPECT_EQ(needed("  %2 = shape_of(%0) : int32(2,)\n"
                   "  %3 = slice(%2) {starts = [1], ends = [2], strides = [1]} : int32(1,)\n"
                   "  %4 = constant() {value = int32(1,)[-1]} : int32(1,)\n"
                   "  %5 = concat(%3, %4) {axis = 0} : int32(2,)\n"
                   "  %6 = shaped(%5) {dtype = float32} : float32(3, ?)\n"
                   "  %7 = reshape_like(%0, %6) : float32(3, 2)\n"
                   "  return (%1, %7)\n"),
            graph_text("  %2 = reshape(%0) {shape = (3, 2)} : float32(3, 2)\n  return (%1, %2)\n"));
  // A length that only a run knows gives no shape, even if only one shape would fit.
  EXPECT_EQ(error_of([&] {
              resolved(
                  "  %2 = cast(%1) {dtype = int32} : int32(3,)\n"
                  "  %3 = slice(%2) {starts = [0], ends = [1], strides = [1]} : int32(1,)\n"
                  "  %4 = shaped(%3) {dtype = float32} : float32(?,)\n"
                  "  %5 = broadcast_like(%1, %4) : float32(3,)\n"
                  "  return (%0, %5)\n");
            }),
            "[shaped] Expected a shape made of constants and shapes, got one that only a run knows.");
}

TEST(ResolveShapes, MakesReshapesOfSqueezes) {
  EXPECT_EQ(resolved("  %2 = expand_dims(%1) {axes = [0]} : float32(1, 3)\n"
                     "  %3 = squeeze(%2) {axes = [0]} : float32(3,)\n"
                     "  return (%0, %3)\n"),
            graph_text("  %2 = reshape(%1) {shape = (1, 3)} : float32(1, 3)\n"
                       "  %3 = reshape(%2) {shape = (3,)} : float32(3,)\n"
                       "  return (%0, %3)\n"));
}

TEST(ResolveShapes, MakesConstantsOfCounts) {
  EXPECT_EQ(resolved("  %2 = count(%0) {axes = [-1, 1, 0]} : float32()\n"
                     "  %3 = shape_of(%0) : int32(2,)\n"
                     "  %4 = count(%0) {axes = []} : float32()\n"
                     "  return (%1, %2, %3, %4)\n"),
            graph_text("  %2 = constant() {value = float32()[6]} : float32()\n"
                       "  %3 = constant() {value = int32(2,)[2 3]} : int32(2,)\n"
                       "  %4 = constant() {value = float32()[1]} : float32()\n"
                       "  return (%1, %2, %3, %4)\n"));
}

const char* const kWindow =
    "{strides = [1, 1], dilations = [1, 1], groups = 1, padding = [0, 0, 0, 0], padding_style = same, "
    "data_layout = NHWC, weights_layout = HWIO}";

TEST(ResolveShapes, LendsShapesWithoutContents) {
  const std::string images =
      "graph {\n"
      "  %0 = placeholder() {shape = (2, 5, 5, 1), dtype = float32} : float32(2, 5, 5, 1)\n"
      "  %1 = placeholder() {shape = (3, 3, 1, 4), dtype = float32} : float32(3, 3, 1, 4)\n"
      "  %2 = placeholder() {shape = (2, 5, 5, 4), dtype = float32} : float32(2, 5, 5, 4)\n";
  const std::string window = kWindow;
  EXPECT_EQ(print(*resolve_shapes(*parse(images + "  %3 = conv2d_data_gradient(%2, %1, %0) " + window +
                                         " : float32(2, 5, 5, 1)\n" + "  %4 = conv2d_weights_gradient(%2, %0, %1) " +
                                         window + " : float32(3, 3, 1, 4)\n  return (%3, %4)\n}\n"))),
            images + "  %3 = empty() {shape = (2, 5, 5, 1), dtype = float32} : float32(2, 5, 5, 1)\n" +
                "  %4 = conv2d_data_gradient(%2, %1, %3) " + window + " : float32(2, 5, 5, 1)\n" +
                "  %5 = empty() {shape = (3, 3, 1, 4), dtype = float32} : float32(3, 3, 1, 4)\n" +
                "  %6 = conv2d_weights_gradient(%2, %0, %5) " + window +
                " : float32(3, 3, 1, 4)\n  return (%4, %6)\n}\n");
  EXPECT_EQ(
      resolved("  %2 = slice(%0) {starts = [0, 0], ends = [1, 3], strides = [1, 1]} : float32(1, 3)\n"
               "  %3 = slice_gradient(%2, %0) {starts = [0, 0], ends = [1, 3], strides = [1, 1]} : float32(2, 3)\n"
               "  return (%3, %1)\n"),
      graph_text("  %2 = slice(%0) {starts = [0, 0], ends = [1, 3], strides = [1, 1]} : float32(1, 3)\n"
                 "  %3 = empty() {shape = (2, 3), dtype = float32} : float32(2, 3)\n"
                 "  %4 = slice_gradient(%2, %3) {starts = [0, 0], ends = [1, 3], strides = [1, 1]} : float32(2, 3)\n"
                 "  return (%4, %1)\n"));
}

TEST(ResolveShapes, GoesIntoRegions) {
  const std::string flag = "  %2 = placeholder() {shape = (), dtype = bool} : bool()\n";
  EXPECT_EQ(
      resolved(flag + "  %3 = if_else(%2) : float32(2, 3)\n  region {\n    %4 = broadcast_like(%1, %0) : float32(2, "
                      "3)\n    return (%4)\n  }\n"
                      "  region {\n    %5 = identity(%0) : float32(2, 3)\n    return (%5)\n  }\n  return (%3)\n"),
      graph_text(flag + "  %3 = if_else(%2) : float32(2, 3)\n  region {\n    %4 = broadcast_to(%1) {shape = "
                        "(2, 3)} : float32(2, 3)\n    return (%4)\n  }\n"
                        "  region {\n    return (%0)\n  }\n  return (%3)\n"));
}

TEST(ResolveShapes, RefusesWhatIsNotKnown) {
  Graph graph;
  const Value x = placeholder(graph, f32({U, 3}));
  graph.location = "model.py:7";
  graph.body().results = {graph.value(OpCode::exp, {x})};
  EXPECT_EQ(error_of([&] { resolve_shapes(graph); }),
            "[placeholder] The result float32(?, 3) is not of a known shape.");
}

// ---- lower_convolutions ----

std::string pointwise(const std::string& strides, const std::string& body) {
  std::string text =
      "graph {\n"
      "  %0 = placeholder() {shape = (2, 3, 3, 4), dtype = float32} : float32(2, 3, 3, 4)\n"
      "  %1 = placeholder() {shape = (1, 1, 4, 5), dtype = float32} : float32(1, 1, 4, 5)\n" +
      body + "}\n";
  const std::string conv = "{strides = " + strides +
                           ", dilations = [1, 1], groups = 1, padding = [0, 0, 0, 0], padding_style = same, "
                           "data_layout = NHWC, weights_layout = HWIO}";
  for (size_t at; (at = text.find("{conv}")) != std::string::npos;) text.replace(at, 6, conv);
  return text;
}

std::string lowered(const std::string& text) { return print(*cpu::lower_convolutions(*parse(text))); }

TEST(LowerConvolutions, MakesProductsOfPointwiseOnes) {
  EXPECT_EQ(lowered(pointwise("[1, 1]",
                              "  %2 = conv2d(%0, %1) {conv} : float32(2, 3, 3, 5)\n"
                              "  %3 = conv2d_data_gradient(%2, %1, %0) {conv} : float32(2, 3, 3, 4)\n"
                              "  %4 = conv2d_weights_gradient(%2, %3, %1) {conv} : float32(1, 1, 4, 5)\n"
                              "  return (%3, %4)\n")),
            pointwise("",
                      "  %2 = reshape(%0) {shape = (18, 4)} : float32(18, 4)\n"
                      "  %3 = reshape(%1) {shape = (4, 5)} : float32(4, 5)\n"
                      "  %4 = matmul(%2, %3) {transpose_a = false, transpose_b = false} : float32(18, 5)\n"
                      "  %5 = reshape(%4) {shape = (2, 3, 3, 5)} : float32(2, 3, 3, 5)\n"
                      "  %6 = reshape(%5) {shape = (18, 5)} : float32(18, 5)\n"
                      "  %7 = reshape(%1) {shape = (4, 5)} : float32(4, 5)\n"
                      "  %8 = matmul(%6, %7) {transpose_a = false, transpose_b = true} : float32(18, 4)\n"
                      "  %9 = reshape(%8) {shape = (2, 3, 3, 4)} : float32(2, 3, 3, 4)\n"
                      "  %10 = reshape(%9) {shape = (18, 4)} : float32(18, 4)\n"
                      "  %11 = reshape(%5) {shape = (18, 5)} : float32(18, 5)\n"
                      "  %12 = matmul(%10, %11) {transpose_a = true, transpose_b = false} : float32(4, 5)\n"
                      "  %13 = reshape(%12) {shape = (1, 1, 4, 5)} : float32(1, 1, 4, 5)\n"
                      "  return (%9, %13)\n"));
}

TEST(LowerConvolutions, TakesThePositionsOfStrides) {
  EXPECT_EQ(lowered(pointwise("[2, 3]",
                              "  %2 = conv2d(%0, %1) {conv} : float32(2, 2, 1, 5)\n"
                              "  %3 = conv2d_data_gradient(%2, %1, %0) {conv} : float32(2, 3, 3, 4)\n"
                              "  return (%3)\n")),
            pointwise("",
                      "  %2 = slice(%0) {starts = [0, 0, 0, 0], ends = [2, 3, 1, 4], strides = [1, 2, 3, 1]} : "
                      "float32(2, 2, 1, 4)\n"
                      "  %3 = reshape(%2) {shape = (4, 4)} : float32(4, 4)\n"
                      "  %4 = reshape(%1) {shape = (4, 5)} : float32(4, 5)\n"
                      "  %5 = matmul(%3, %4) {transpose_a = false, transpose_b = false} : float32(4, 5)\n"
                      "  %6 = reshape(%5) {shape = (2, 2, 1, 5)} : float32(2, 2, 1, 5)\n"
                      "  %7 = reshape(%6) {shape = (4, 5)} : float32(4, 5)\n"
                      "  %8 = reshape(%1) {shape = (4, 5)} : float32(4, 5)\n"
                      "  %9 = matmul(%7, %8) {transpose_a = false, transpose_b = true} : float32(4, 4)\n"
                      "  %10 = reshape(%9) {shape = (2, 2, 1, 4)} : float32(2, 2, 1, 4)\n"
                      "  %11 = slice_gradient(%10, %0) {starts = [0, 0, 0, 0], ends = [2, 3, 1, 4], strides = [1, 2, "
                      "3, 1]} : float32(2, 3, 3, 4)\n"
                      "  return (%11)\n"));
}

TEST(LowerConvolutions, SumsNothingWhereThereAreNoChannels) {
  Graph graph;
  const Value x = placeholder(graph, f32({2, 3, 3, 0})), w = placeholder(graph, f32({1, 1, 0, 5}));
  graph.body().results = {graph.value(OpCode::conv2d, {x, w}, convolution())};
  const std::unique_ptr<Graph> lowered = cpu::lower_convolutions(graph);
  EXPECT_EQ(verify(*lowered), std::vector<std::string>{});
  EXPECT_EQ(lowered->body().results[0].type(), f32({2, 3, 3, 5}));
  const Value product = lowered->body().results[0].op->operands[0];
  EXPECT_EQ(product.op->code, OpCode::matmul);
  EXPECT_EQ(product.op->operands[0].shape(), Shape({18, 0}));
}

TEST(LowerConvolutions, LeavesOtherConvolutions) {
  struct Other {
    Shape source, weights;
    std::pair<Attr, ir::AttrValue> change;
  };
  const Other others[] = {
      {{2, 3, 3, 4}, {1, 1, 4, 5}, {Attr::kPadding, Dims{0, 1, 0, 0}}},
      {{2, 4, 3, 3}, {1, 1, 4, 5}, {Attr::kDataLayout, std::string("NCHW")}},
      {{2, 3, 3, 4}, {5, 4, 1, 1}, {Attr::kWeightsLayout, std::string("OIHW")}},
      {{2, 3, 3, 4}, {2, 1, 4, 5}, {Attr::kGroups, int64_t{1}}},
      {{2, 3, 3, 4}, {1, 1, 2, 6}, {Attr::kGroups, int64_t{2}}},
  };
  for (const Other& other : others) {
    Graph graph;
    auto placeholder = [&](const Shape& shape) {
      return graph.value(OpCode::placeholder, {}, {{Attr::kShape, shape}, {Attr::kDtype, ir::DType::float32}});
    };
    Attributes attributes{{Attr::kStrides, Dims{1, 1}},
                          {Attr::kDilations, Dims{1, 1}},
                          {Attr::kGroups, int64_t{1}},
                          {Attr::kPadding, Dims{0, 0, 0, 0}},
                          {Attr::kPaddingStyle, std::string("explicit")},
                          {Attr::kDataLayout, std::string("NHWC")},
                          {Attr::kWeightsLayout, std::string("HWIO")}};
    attributes.set(other.change.first, other.change.second);
    const Value x = placeholder(other.source), w = placeholder(other.weights);
    graph.body().results = {graph.value(OpCode::conv2d, {x, w}, attributes)};
    EXPECT_EQ(print(*cpu::lower_convolutions(graph)), print(graph));
  }
}

// ---- every pass keeps the results ----

// The results and the variables' values after a run of a graph without effects whose first results are the
// feeds.
std::vector<Array> meaning(const Graph& graph, size_t feed_count, const std::vector<std::pair<Value, Array>>& feeds) {
  std::vector<std::pair<Value, Array>> own;
  for (size_t i = 0; i < feed_count; ++i) own.emplace_back(graph.body().results[i], feeds[i].second);
  return Interpreter().run(own, graph.body().results, {});
}

void expect_same(const std::vector<Array>& a, const std::vector<Array>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].dims, b[i].dims) << "result " << i;
    // Constants are folded in single precision.
    for (size_t k = 0; k < a[i].size(); ++k) {
      ASSERT_NEAR(a[i].values[k], b[i].values[k], 1e-5) << "result " << i << ", element " << k;
    }
  }
}

TEST(Passes, KeepTheMeaningOfRandomGraphs) {
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGraph random(seed);
    ASSERT_EQ(verify(random.graph), std::vector<std::string>{});
    const auto feeds = random.random_feeds();
    Interpreter interpreter;
    std::vector<Array> expected = interpreter.run(feeds, random.results, random.effects);

    Specialized special = specialize(random.feeds, random.results, random.effects);
    auto& outputs = special.graph->body().results;
    outputs.insert(outputs.begin(), special.feeds.begin(), special.feeds.end());
    const Pure without = remove_effects(*special.graph);
    const std::unique_ptr<Graph> resolved = resolve_shapes(*without.graph);
    const std::unique_ptr<Graph> lowered = cpu::lower_convolutions(*resolved),
                                 simple = simplify(*lowered, cpu::cpu_device()),
                                 fused = fuse(*simple, cpu::cpu_device().fusion_policy());
    std::vector<Array> all;
    for (const auto& [placeholder, array] : feeds) all.push_back(array);
    all.insert(all.end(), expected.begin(), expected.end());
    for (int64_t slot : without.slots) all.push_back(interpreter.state.at(slot));
    for (const Graph* graph : {without.graph.get(), resolved.get(), lowered.get(), simple.get(), fused.get()}) {
      SCOPED_TRACE(print(*graph));
      ASSERT_EQ(verify(*graph), std::vector<std::string>{});
      expect_same(meaning(*graph, feeds.size(), feeds), all);
      if (HasFatalFailure()) return;
    }
    // A variable that is not assigned keeps its value.
    for (const auto& [slot, array] : interpreter.state) {
      if (std::find(without.slots.begin(), without.slots.end(), slot) != without.slots.end()) continue;
      for (const auto& op : random.graph.body().ops) {
        if (op->code != OpCode::variable || op->attributes.integer(Attr::kSlot) != slot) continue;
        for (double v : array.values) EXPECT_EQ(v, op->attributes.get<LiteralRef>(Attr::kValue)->at(0));
      }
    }
  }
}

}  // namespace
}  // namespace alloy::compiler
