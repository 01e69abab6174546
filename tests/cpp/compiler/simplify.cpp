// Tests the rules of simplify: text in, text out. Tests on random graphs in compiler/resolve.cpp show that no rule
// changes results.
#include "compiler/passes.h"
#include "cpu/device.h"
#include "graph_builder.h"
#include "graph_lines.h"
#include "ir/grammar.h"
#include "ir/text/text.h"

namespace alloy::compiler {
namespace {

using namespace test;

void expect_simplified(const Lines& ops, const std::string& results, const Lines& simple_ops,
                       const std::string& simple_results) {
  const std::unique_ptr<Graph> simple = simplify(*parse(graph_of(ops, results)), cpu::cpu_device());
  EXPECT_EQ(verify(*simple), std::vector<std::string>{});
  EXPECT_EQ(print(*simple), graph_of(simple_ops, simple_results));
}

void expect_kept(const Lines& ops, const std::string& results) { expect_simplified(ops, results, ops, results); }

// ---- constants ----

TEST(Simplify, FoldsConstants) {
  expect_simplified({constant_line("float32()", "2"), constant_line("float32(2,)", "3 4"),
                     "multiply(%4, %5) : float32(2,)", "sum(%6) {axes = [0]} : float32(1,)", "add(%0, %7)"},
                    "%8", {constant_line("float32(1,)", "14"), "add(%0, %4)"}, "%5");
  expect_simplified({constant_line("int32()", "7"), constant_line("int32()", "-2"), "divide(%4, %5) : int32()",
                     "less(%4, %5) : bool()"},
                    "%6, %7", {constant_line("int32()", "-3"), constant_line("bool()", "0")}, "%4, %5");
}

TEST(Simplify, FoldsUpTo64Elements) {
  expect_simplified(
      {constant_line("float32(64,)", "2 ..."), "square(%4) : float32(64,)", "mean(%4) {axes = [0]} : float32(1,)"},
      "%6", {constant_line("float32(1,)", "2")}, "%4");
  // A constant or a result with many elements is not computed while compiling.
  expect_kept({constant_line("float32(65,)", "2 ..."), "square(%4) : float32(65,)"}, "%5");
  expect_kept({constant_line("float32(65,)", "2 ..."), "sum(%4) {axes = [0]} : float32(1,)"}, "%5");
  expect_kept({constant_line("float32(1,)", "2"), "broadcast_to(%4) {shape = (65,)} : float32(65,)"}, "%5");
}

TEST(Simplify, LeavesWhatHasNoElements) {
  expect_kept({constant_line("float32(0,)", "1 ..."), "exp(%4) : float32(0,)", "sum(%5) {axes = [0]} : float32(1,)"},
              "%6");
}

TEST(Simplify, FoldsNumbersThatAreNone) {
  expect_simplified(
      {constant_line("float32()", "0"), constant_line("float32()", "1"), "divide(%5, %4) : float32()",
       "multiply(%6, %4) : float32()", "negative(%4) : float32()"},
      "%6, %7, %8",
      {constant_line("float32()", "inf"), constant_line("float32()", "nan"), constant_line("float32()", "-0")},
      "%4, %5, %6");
}

// ---- identities ----

TEST(Simplify, DropsNeutralElements) {
  const std::string one = constant_line("float32()", "1");
  expect_simplified({constant_line("float32()", "0"), "subtract(%0, %4)"}, "%5", {}, "%0");
  expect_simplified({one, "multiply(%0, %4)"}, "%5", {}, "%0");
  expect_simplified({one, "multiply(%4, %0)"}, "%5", {}, "%0");
  expect_simplified({one, "divide(%0, %4)"}, "%5", {}, "%0");
  expect_simplified({constant_line("float32(2, 3)", "1 ..."), "multiply(%0, %4)"}, "%5", {}, "%0");
  expect_simplified({constant_line("float32(1, 1)", "1"), "divide(%0, %4)"}, "%5", {}, "%0");
}

// -0 + 0 is 0 and -0 - -0 is 0: only adding -0 and subtracting 0 change nothing.
TEST(Simplify, KeepsTheSignsOfZeros) {
  const std::string plus = constant_line("float32()", "0"), minus = constant_line("float32()", "-0");
  expect_simplified({minus, "add(%0, %4)"}, "%5", {}, "%0");
  expect_simplified({minus, "add(%4, %0)"}, "%5", {}, "%0");
  expect_kept({plus, "add(%0, %4)"}, "%5");
  expect_kept({minus, "subtract(%0, %4)"}, "%5");
}

TEST(Simplify, KeepsWhatIsNotNeutral) {
  const std::string zero = constant_line("float32()", "0"), one = constant_line("float32()", "1");
  expect_kept({zero, "subtract(%4, %0)"}, "%5");
  expect_kept({one, "divide(%4, %0)"}, "%5");
  expect_kept({one, "add(%0, %4)"}, "%5");
  expect_kept({one, "power(%0, %4)"}, "%5");
  // 0 * x is NaN where x is infinite, and x - x too.
  expect_kept({zero, "multiply(%0, %4)"}, "%5");
  expect_kept({"subtract(%0, %0)", "divide(%0, %0)"}, "%4, %5");
  expect_kept({constant_line("float32(3,)", "1 1 2"), "multiply(%0, %4)"}, "%5");
  // Here the neutral element lends its shape.
  expect_kept({constant_line("float32(2, 3)", "1 ..."), "multiply(%1, %4)"}, "%5");
  expect_kept({constant_line("float32(1, 1)", "1"), "multiply(%1, %4) : float32(1, 3)"}, "%5");
  expect_kept({constant_line("float32(1,)", "1"), "divide(%3, %4) : float32(1,)"}, "%5");
}

// ---- shapes ----

TEST(Simplify, MovesTranspositionsIntoProducts) {
  const std::string turned = "transpose(%0) {permutation = [1, 0]} : float32(3, 2)";
  expect_simplified({turned, "matmul(%4, %0) {transpose_a = false, transpose_b = false} : float32(3, 3)"}, "%5",
                    {"matmul(%0, %0) {transpose_a = true, transpose_b = false} : float32(3, 3)"}, "%4");
  expect_simplified({turned, "matmul(%4, %4) {transpose_a = true, transpose_b = false} : float32(2, 2)"}, "%5",
                    {"matmul(%0, %0) {transpose_a = false, transpose_b = true} : float32(2, 2)"}, "%4");
  // Two of them cancel, and a cast does not hide one.
  expect_simplified({turned, "transpose(%4) {permutation = [1, 0]} : float32(2, 3)",
                     "matmul(%5, %0) {transpose_a = true, transpose_b = false} : float32(3, 3)"},
                    "%6", {"matmul(%0, %0) {transpose_a = true, transpose_b = false} : float32(3, 3)"}, "%4");
  expect_simplified(
      {turned, "cast(%4) {dtype = float16} : float16(3, 2)", "cast(%0) {dtype = float16} : float16(2, 3)",
       "matmul(%5, %6) : float16(3, 3)"},
      "%7", {"cast(%0) {dtype = float16} : float16(2, 3)", "matmul(%4, %4) {transpose_a = true} : float16(3, 3)"},
      "%5");
  expect_simplified({"broadcast_to(%0) {shape = (4, 2, 3)} : float32(4, 2, 3)",
                     "transpose(%4) {permutation = [0, 2, 1]} : float32(4, 3, 2)",
                     "matmul(%5, %0) {transpose_a = false, transpose_b = false} : float32(4, 3, 3)"},
                    "%6",
                    {"broadcast_to(%0) {shape = (4, 2, 3)} : float32(4, 2, 3)",
                     "matmul(%4, %0) {transpose_a = true, transpose_b = false} : float32(4, 3, 3)"},
                    "%5");
  // A transposed product, unless its untransposed value is used, too.
  const std::string product = "matmul(%0, %2) {transpose_a = true, transpose_b = false} : float32(3, 1)",
                    of_product = "transpose(%4) {permutation = [1, 0]} : float32(1, 3)";
  expect_simplified({product, of_product}, "%5",
                    {"matmul(%2, %0) {transpose_a = true, transpose_b = false} : float32(1, 3)"}, "%4");
  expect_kept({product, of_product}, "%4, %5");
  // Nor into a region, which may run many times.
  expect_kept(
      {product, "if_else(%3) : float32(1, 3)", "region {", "transpose(%4) {permutation = [1, 0]} : float32(1, 3)",
       "return (%6)", "}", "region {", "reshape(%1) {shape = (1, 3)} : float32(1, 3)", "return (%7)", "}"},
      "%5");
  // Moves a leading axis.
  expect_kept({"broadcast_to(%0) {shape = (4, 2, 3)} : float32(4, 2, 3)",
               "transpose(%4) {permutation = [1, 0, 2]} : float32(2, 4, 3)",
               "matmul(%5, %0) {transpose_a = false, transpose_b = true} : float32(2, 4, 2)"},
              "%6");
}

TEST(Simplify, MergesReshapesAndRepetitions) {
  expect_simplified({"reshape(%0) {shape = (6,)} : float32(6,)", "reshape(%4) {shape = (3, 2)} : float32(3, 2)"}, "%5",
                    {"reshape(%0) {shape = (3, 2)} : float32(3, 2)"}, "%4");
  expect_simplified({"broadcast_to(%2) {shape = (2, 3)}", "broadcast_to(%4) {shape = (4, 2, 3)} : float32(4, 2, 3)"},
                    "%5", {"broadcast_to(%2) {shape = (4, 2, 3)} : float32(4, 2, 3)"}, "%4");
  expect_kept({"broadcast_to(%1) {shape = (2, 3)}", "reshape(%4) {shape = (6,)} : float32(6,)"}, "%5");
}

TEST(Simplify, RepeatsBehindElementwiseOps) {
  expect_simplified({"broadcast_to(%1) {shape = (2, 3)}", "exp(%4)"}, "%5",
                    {"exp(%1) : float32(3,)", "broadcast_to(%4) {shape = (2, 3)}"}, "%5");
  // The other operand repeats it, or what both are repeated to is all that is left.
  expect_simplified({"broadcast_to(%1) {shape = (2, 3)}", "multiply(%0, %4)"}, "%5", {"multiply(%0, %1)"}, "%4");
  expect_simplified({"broadcast_to(%1) {shape = (4, 2, 3)} : float32(4, 2, 3)",
                     "broadcast_to(%2) {shape = (4, 2, 3)} : float32(4, 2, 3)", "less(%4, %5) : bool(4, 2, 3)"},
                    "%6", {"less(%1, %2) : bool(2, 3)", "broadcast_to(%4) {shape = (4, 2, 3)} : bool(4, 2, 3)"}, "%5");
  expect_simplified({"broadcast_to(%3) {shape = (0, 3)} : float32(0, 3)", "cast(%4) {dtype = int32} : int32(0, 3)"},
                    "%5", {"cast(%3) {dtype = int32} : int32()", "broadcast_to(%4) {shape = (0, 3)} : int32(0, 3)"},
                    "%5");
  // Sums and softmaxes are not elementwise.
  expect_kept({"broadcast_to(%1) {shape = (2, 3)}", "sum(%4) {axes = [0]} : float32(1, 3)"}, "%5");
}

TEST(Simplify, DropsReshapesOfLeadingOnes) {
  expect_simplified({"reshape(%1) {shape = (1, 3)} : float32(1, 3)", "add(%0, %4)"}, "%5", {"add(%0, %1)"}, "%4");
  expect_simplified({"reshape(%1) {shape = (1, 3)} : float32(1, 3)", "reshape(%3) {shape = (1, 1)} : float32(1, 1)",
                     "select(%4, %5, %0)"},
                    "%6", {"select(%1, %3, %0)"}, "%4");
  expect_simplified({"sum(%0) {axes = [0]} : float32(1, 3)", "reshape(%4) {shape = (3,)} : float32(3,)", "add(%0, %5)"},
                    "%6", {"sum(%0) {axes = [0]} : float32(1, 3)", "add(%0, %4)"}, "%5");
}

TEST(Simplify, KeepsReshapesThatCount) {
  // The result would lose or gain an axis.
  expect_kept({"reshape(%1) {shape = (1, 3)} : float32(1, 3)", "exp(%4) : float32(1, 3)"}, "%5");
  expect_kept({"reshape(%1) {shape = (1, 3)} : float32(1, 3)", "add(%4, %1) : float32(1, 3)"}, "%5");
  expect_kept(
      {"sum(%0) {axes = [0]} : float32(1, 3)", "reshape(%4) {shape = (3,)} : float32(3,)", "add(%5, %1) : float32(3,)"},
      "%6");
  // Moved by axes of length 1 behind it.
  expect_kept({"reshape(%2) {shape = (2,)} : float32(2,)", "multiply(%4, %2) : float32(2, 2)"}, "%5");
  expect_kept({"reshape(%1) {shape = (3, 1)} : float32(3, 1)", "add(%4, %1) : float32(3, 3)"}, "%5");
}

// ---- gradients ----

TEST(Simplify, LooksAtRelusResultForItsGradient) {
  expect_simplified({"relu(%0)", "relu_gradient(%1, %0)"}, "%4, %5", {"relu(%0)", "relu_gradient(%1, %4)"}, "%4, %5");
  // Not the incoming gradient's relu, and none that is not there.
  expect_kept({"relu(%0)", "relu_gradient(%0, %1)"}, "%4, %5");
  expect_kept({"relu_gradient(%1, %0)"}, "%4");
}

// ---- sums ----

// A sum is never -0, so its replacement must not be -0 either.
TEST(Simplify, SubtractsSumsOfNegatives) {
  for (const std::string type : {"float32", "int32"}) {
    expect_simplified({"cast(%0) {dtype = " + type + "} : " + type + "(2, 3)", "negative(%4) : " + type + "(2, 3)",
                       "sum(%5) {axes = [1]} : " + type + "(2, 1)"},
                      "%6",
                      {"cast(%0) {dtype = " + type + "} : " + type + "(2, 3)", constant_line(type + "()", "0"),
                       "sum(%4) {axes = [1]} : " + type + "(2, 1)", "subtract(%5, %6) : " + type + "(2, 1)"},
                      "%7");
  }
}

TEST(Simplify, TakesFactorsOutOfSums) {
  expect_simplified({"multiply(%0, %1)", "sum(%4) {axes = [0]} : float32(1, 3)"}, "%5",
                    {"sum(%0) {axes = [0]} : float32(1, 3)", "multiply(%4, %1) : float32(1, 3)"}, "%5");
  expect_simplified({"multiply(%2, %0)", "sum(%4) {axes = [-1]} : float32(2, 1)"}, "%5",
                    {"sum(%0) {axes = [-1]} : float32(2, 1)", "multiply(%4, %2) : float32(2, 1)"}, "%5");
  expect_simplified({"multiply(%0, %3)", "sum(%4) {axes = [0, 1]} : float32(1, 1)"}, "%5",
                    {"sum(%0) {axes = [0, 1]} : float32(1, 1)", "multiply(%4, %3) : float32(1, 1)"}, "%5");
  // One factor after the other.
  expect_simplified(
      {"multiply(%0, %1)", "multiply(%3, %4)", "sum(%5) {axes = [0]} : float32(1, 3)"}, "%6",
      {"sum(%0) {axes = [0]} : float32(1, 3)", "multiply(%4, %1) : float32(1, 3)", "multiply(%5, %3) : float32(1, 3)"},
      "%6");
}

TEST(Simplify, KeepsFactorsThatChangeAlongTheAxes) {
  expect_kept({"multiply(%0, %1)", "sum(%4) {axes = [1]} : float32(2, 1)"}, "%5");
  expect_kept({"multiply(%0, %1)", "sum(%4) {axes = [0, 1]} : float32(1, 1)"}, "%5");
  expect_kept({"multiply(%0, %2)", "sum(%4) {axes = [0]} : float32(1, 3)"}, "%5");
  // Neither factor is as large as the product, or both are.
  expect_kept({"multiply(%1, %2)", "sum(%4) {axes = [0]} : float32(1, 3)"}, "%5");
  expect_kept({"exp(%0)", "multiply(%0, %4)", "sum(%5) {axes = [0]} : float32(1, 3)"}, "%6");
  // max(-x) is not -max(x), and a negative factor swaps the ends.
  expect_kept({"negative(%0)", "max(%4) {axes = [0]} : float32(1, 3)", "multiply(%0, %1)",
               "min(%6) {axes = [0]} : float32(1, 3)"},
              "%5, %7");
}

// ---- equal and unused ops ----

TEST(Simplify, ComputesEqualOpsOnce) {
  expect_simplified({"exp(%0)", "exp(%0)", "add(%4, %5)"}, "%6, %5", {"exp(%0)", "add(%4, %4)"}, "%5, %4");
  expect_simplified({constant_line("float32()", "2"), constant_line("float32()", "2"), "add(%0, %4)", "add(%0, %5)"},
                    "%6, %7", {constant_line("float32()", "2"), "add(%0, %4)"}, "%5, %5");
}

TEST(Simplify, KeepsUnequalOpsApart) {
  expect_kept({"sum(%0) {axes = [0]} : float32(1, 3)", "sum(%0) {axes = [0, 1]} : float32(1, 1)", "subtract(%0, %1)",
               "subtract(%1, %0)", "log(%0)", "sqrt(%0)"},
              "%4, %5, %6, %7, %8, %9");
  // Equal as numbers.
  expect_kept({constant_line("float32()", "0"), constant_line("float32()", "-0"), constant_line("int32()", "0"),
               constant_line("float32(1,)", "0"), "divide(%0, %4)", "divide(%0, %5)"},
              "%6, %7, %8, %9");
}

// A value computed in a region is not visible in another region.
TEST(Simplify, SharesWithinABlock) {
  expect_simplified({"log(%0)", "if_else(%3)", "region {", "exp(%0)", "return (%6)", "}", "region {", "exp(%0)",
                     "exp(%0)", "add(%7, %8)", "return (%9)", "}"},
                    "%4, %5",
                    {"log(%0)", "if_else(%3)", "region {", "exp(%0)", "return (%6)", "}", "region {", "exp(%0)",
                     "add(%7, %7)", "return (%8)", "}"},
                    "%4, %5");
}

TEST(Simplify, DropsWhatNobodyNeeds) {
  expect_simplified({"exp(%0)", "log(%4)", "sqrt(%0)"}, "%6", {"sqrt(%0)"}, "%4");
}

}  // namespace
}  // namespace alloy::compiler
