// Tests effects turned into values: text in, text out. Tests on random graphs in compiler/resolve.cpp show that results
// do not change.
#include "graph_builder.h"
#include "ir/grammar.h"
#include "ir/text/text.h"
#include "ir/transform/rewrite.h"

namespace alloy::test {
namespace {

// The text of a body over placeholders %0 = float32(2, 3) and %1 = float32(3,).
std::string graph_text(const std::string& body) {
  return "graph {\n"
         "  %0 = placeholder() {shape = (2, 3), dtype = float32} : float32(2, 3)\n"
         "  %1 = placeholder() {shape = (3,), dtype = float32} : float32(3,)\n" +
         body + "}\n";
}

const std::string kState =
    "  %2 = variable() {value = float32(3,)[0 ...], slot = 4} : float32(3,)\n"
    "  %3 = variable() {value = float32(3,)[1 ...], slot = 7} : float32(3,)\n";

struct PureText {
  std::string text;
  std::vector<int64_t> slots;
  bool operator==(const PureText&) const = default;
};
std::ostream& operator<<(std::ostream& out, const PureText& pure) {
  out << pure.text;
  for (int64_t slot : pure.slots) out << "slot " << slot << "\n";
  return out;
}

PureText pure(const std::string& body) {
  const Pure made = remove_effects(*parse(graph_text(kState + body)));
  EXPECT_EQ(verify(*made.graph), std::vector<std::string>{});
  return {print(*made.graph), made.slots};
}

TEST(RemoveEffects, ReadsSeeTheLastAssignmentBeforeThem) {
  EXPECT_EQ(
      pure("  %4 = read_variable(%2) : float32(3,)\n"
           "  %5 = assign(%2, %1)\n"
           "  %6 = read_variable(%2) : float32(3,)\n"
           "  %7 = exp(%1) : float32(3,)\n"
           "  %8 = assign(%2, %7)\n"
           "  %9 = read_variable(%2) : float32(3,)\n"
           "  %10 = read_variable(%3) : float32(3,)\n"
           "  return (%0, %2, %4, %6, %9, %10) do (%5, %8)\n"),
      (PureText{graph_text(kState + "  %4 = exp(%1) : float32(3,)\n  return (%0, %2, %2, %1, %4, %3, %4)\n"), {4}}));
}

TEST(RemoveEffects, OperandsThatAreVariablesKeepTheStart) {
  // x <- x + 1 twice in one run is one increment: both sums take the value at the start.
  EXPECT_EQ(pure("  %4 = add(%2, %1) : float32(3,)\n  %5 = assign(%2, %4)\n  %6 = add(%2, %1) : float32(3,)\n  %7 "
                 "= assign(%2, %6)\n"
                 "  return (%0, %3) do (%5, %7)\n")
                .text,
            graph_text(kState +
                       "  %4 = add(%2, %1) : float32(3,)\n  %5 = add(%2, %1) : float32(3,)\n  return (%0, %3, %5)\n"));
}

TEST(RemoveEffects, SwapsTakeTheOldValues) {
  EXPECT_EQ(pure("  %4 = assign(%2, %3)\n  %5 = assign(%3, %2)\n  return (%0, %1) do (%4, %5)\n"),
            (PureText{graph_text(kState + "  return (%0, %1, %3, %2)\n"), {4, 7}}));
}

TEST(RemoveEffects, UnlistedAssignmentsDoNotHappen) {
  EXPECT_EQ(pure("  %4 = assign(%2, %1)\n  %5 = assign(%3, %1)\n  return (%0, %2) do (%5)\n").slots,
            std::vector<int64_t>{7});
}

TEST(RemoveEffects, AssignmentsThatOnlyComeBeforeSomethingHappen) {
  EXPECT_EQ(pure("  %4 = assign(%2, %1)\n  %5 = identity(%0) after (%4) : float32(2, 3)\n  return (%5, %3)\n"),
            (PureText{graph_text(kState + "  %4 = identity(%0) : float32(2, 3)\n  return (%4, %3, %1)\n"), {4}}));
}

TEST(RemoveEffects, ConditionalAssignmentsBecomeResults) {
  const std::string flag = "  %4 = placeholder() {shape = (), dtype = bool} : bool()\n";
  // One branch assigns slot 4, the other slot 7; later reads, in and after the branches, see the assigned values.
  EXPECT_EQ(pure(flag + "  %5 = assign(%3, %1)\n"
                        "  %6 = if_else(%4) : float32(3,)\n"
                        "  region {\n"
                        "    %7 = exp(%1) : float32(3,)\n"
                        "    %8 = assign(%2, %7)\n"
                        "    %9 = read_variable(%2) : float32(3,)\n"
                        "    return (%9) do (%8)\n"
                        "  }\n"
                        "  region {\n"
                        "    %10 = read_variable(%3) : float32(3,)\n"
                        "    %11 = negative(%10) : float32(3,)\n"
                        "    %12 = assign(%3, %11)\n"
                        "    return (%1) do (%12)\n"
                        "  }\n"
                        "  %13 = read_variable(%2) : float32(3,)\n"
                        "  return (%0, %6, %13) do (%5, %6)\n"),
            (PureText{graph_text(kState + flag +
                                 "  %5 = if_else(%4) : float32(3,), float32(3,), float32(3,)\n"
                                 "  region {\n"
                                 "    %6 = exp(%1) : float32(3,)\n"
                                 "    return (%6, %6, %1)\n"
                                 "  }\n"
                                 "  region {\n"
                                 "    %7 = negative(%1) : float32(3,)\n"
                                 "    return (%1, %2, %7)\n"
                                 "  }\n"
                                 "  return (%0, %5, %5#1, %5#1, %5#2)\n"),
                      {4, 7}}));
}

TEST(RemoveEffects, KeepsTheNameOfAConditional) {
  Graph graph;
  const Value flag = placeholder(graph, bools({})), x = placeholder(graph, f32({2}));
  std::vector<std::unique_ptr<Block>> regions;
  for (int k = 0; k < 2; ++k) {
    graph.open_region();
    graph.name = "inner";
    const Value a = graph.value(OpCode::exp, {x});
    // Inside a region, an op may have to run after another.
    graph.after = {a.op};
    const Value b = graph.value(OpCode::log, {x});
    graph.after.clear();
    regions.push_back(graph.close_region({b}));
  }
  graph.name = "outer";
  graph.location = "model.py:2";
  graph.body().results = {{graph.add(OpCode::if_else, {flag}, {}, std::move(regions)), 0}};
  const std::unique_ptr<Graph> made = remove_effects(graph).graph;
  EXPECT_EQ(made->body().results[0].op->name, "outer");
  EXPECT_EQ(made->body().results[0].op->location, "model.py:2");
  EXPECT_EQ(verify(*made), std::vector<std::string>{});
}

}  // namespace
}  // namespace alloy::test
