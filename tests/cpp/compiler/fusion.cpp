// Tests the rules of fuse: text in, text out. Tests on random graphs in compiler/resolve.cpp show that fusing does not
// change results.
#include "compiler/passes.h"
#include "cpu/device.h"
#include "cpu/elementwise/elementwise.h"
#include "graph_builder.h"
#include "graph_lines.h"
#include "ir/grammar.h"
#include "ir/text/text.h"

namespace alloy::compiler {
namespace {

using namespace test;

std::unique_ptr<Graph> fused_for_cpu(const std::string& text) {
  return fuse(*parse(text), cpu::cpu_device().fusion_policy());
}

void expect_fused(const Lines& ops, const std::string& results, const Lines& fused_ops,
                  const std::string& fused_results) {
  const std::unique_ptr<Graph> fused = fused_for_cpu(graph_of(ops, results));
  EXPECT_EQ(verify(*fused), std::vector<std::string>{});
  EXPECT_EQ(print(*fused), graph_of(fused_ops, fused_results));
}

void expect_unfused(const Lines& ops, const std::string& results) { expect_fused(ops, results, ops, results); }

// ---- groups ----

TEST(Fuse, MakesOneOpOfAChain) {
  expect_fused({"add(%0, %1)", "exp(%4)", "multiply(%2, %5)"}, "%6",
               {"fused(%0, %1, %2)", "region {", "add(%0, %1)", "exp(%5)", "multiply(%2, %6)", "return (%7)", "}"},
               "%4");
}

// Also selects, comparisons, casts and clamps, for every element type.
TEST(Fuse, TakesEveryElementwiseOp) {
  expect_fused(
      {"less(%0, %1) : bool(2, 3)", "cast(%4) {dtype = int32} : int32(2, 3)", "select(%5, %0, %2)",
       "clamp(%6, %3, %1)"},
      "%7",
      {"fused(%0, %1, %2, %3)", "region {", "less(%0, %1) : bool(2, 3)", "cast(%5) {dtype = int32} : int32(2, 3)",
       "select(%6, %0, %2)", "clamp(%7, %3, %1)", "return (%8)", "}"},
      "%4");
}

TEST(Fuse, GivesEveryValueThatIsWantedOutside) {
  expect_fused({"exp(%0)", "log(%4)", "sqrt(%5)", "sum(%5) {axes = [0]} : float32(1, 3)"}, "%4, %6, %7",
               {"fused(%0) : float32(2, 3), float32(2, 3), float32(2, 3)", "region {", "exp(%0)", "log(%5)", "sqrt(%6)",
                "return (%5, %6, %7)", "}", "sum(%4#1) {axes = [0]} : float32(1, 3)"},
               "%4, %4#2, %8");
}

TEST(Fuse, LeavesOpsThatStandAlone) {
  expect_unfused({"exp(%0)"}, "%4");
  // Of another shape than what they feed.
  expect_unfused({"exp(%1) : float32(3,)", "log(%0)"}, "%4, %5");
  expect_unfused({"exp(%1) : float32(3,)", "add(%0, %4)"}, "%5");
  // Not elementwise, or between what is.
  expect_unfused({"exp(%0)", "sum(%4) {axes = [0]} : float32(1, 3)", "log(%5) : float32(1, 3)"}, "%6");
  expect_unfused({"exp(%0)", "reshape(%4) {shape = (6,)} : float32(6,)", "log(%5) : float32(6,)"}, "%6");
}

TEST(Fuse, MakesNoCycle) {
  // The sum needs exp and softmax, and softmax needs exp: one op of the first and the last would need itself.
  expect_unfused({"exp(%0)", "softmax(%4) {axis = 1}", "add(%4, %5)"}, "%6");
  expect_unfused({"exp(%0)", "softmax(%4) {axis = 1}", "add(%5, %4)"}, "%6");
  // By way of two ops, and of one in a branch.
  expect_unfused({"exp(%0)", "sum(%4) {axes = [0]} : float32(1, 3)", "sqrt(%5) : float32(1, 3)", "divide(%4, %6)"},
                 "%7");
  expect_unfused({"exp(%0)", "if_else(%3)", "region {", "softmax(%4) {axis = 1}", "return (%6)", "}", "region {",
                  "return (%0)", "}", "add(%4, %5)"},
                 "%7");
  // What merges with one end does not merge with the other.
  expect_fused({"exp(%0)", "softmax(%4) {axis = 1}", "sqrt(%5)", "add(%4, %6)", "log(%4)"}, "%7, %8",
               {"fused(%0) : float32(2, 3), float32(2, 3)", "region {", "exp(%0)", "log(%5)", "return (%5, %6)", "}",
                "softmax(%4) {axis = 1}", "fused(%7, %4)", "region {", "sqrt(%7)", "add(%4, %9)", "return (%10)", "}"},
               "%8, %4#1");
}

// As many ops as there are tiles for: one for each result, one for a truth value and one for the chain's first operand.
TEST(Fuse, TakesNoMoreOpsThanThereAreTiles) {
  const size_t most = cpu::Elementwise::kMostBuffers - 2;
  for (size_t count : {most, most + 1, 2 * most + 5}) {
    Lines chain = {"exp(%0)"};
    while (chain.size() < count) chain.push_back("tanh(%" + std::to_string(chain.size() + 3) + ")");
    const std::unique_ptr<Graph> fused = fused_for_cpu(graph_of(chain, "%" + std::to_string(count + 3)));
    EXPECT_EQ(verify(*fused), std::vector<std::string>{});
    std::vector<size_t> sizes;
    for (const auto& op : fused->body().ops) {
      if (op->code == OpCode::fused) sizes.push_back(op->regions[0]->ops.size());
      else if (op->code != OpCode::placeholder) sizes.push_back(1);
    }
    EXPECT_EQ(sizes, (count == most       ? std::vector<size_t>{most}
                      : count == most + 1 ? std::vector<size_t>{most, 1}
                                          : std::vector<size_t>{most, most, 5}));
  }
}

TEST(Fuse, FusesInEachBranchByItself) {
  const Lines branches = {"if_else(%3)", "region {", "fused(%4, %1)", "region {", "add(%4, %1)", "exp(%7)",
                          "return (%8)", "}",        "return (%6)",   "}",        "region {",    "log(%4)",
                          "return (%9)", "}",        "sqrt(%5)"};
  Lines fused = {"exp(%0)"};
  fused.insert(fused.end(), branches.begin(), branches.end());
  expect_fused({"exp(%0)", "if_else(%3)", "region {", "add(%4, %1)", "exp(%6)", "return (%7)", "}", "region {",
                "log(%4)", "return (%8)", "}", "sqrt(%5)"},
               "%9", fused, "%10");
}

// ---- recomputed values ----

// A value `first` that another group also needs, beside softmax's operand: `%4` of `before`, exp, softmax, product.
Lines reused(const std::string& first, Lines before = {}) {
  const auto n = static_cast<int>(before.size()) + 4;
  auto value = [](int i) { return "%" + std::to_string(i); };
  before.push_back(first);
  before.push_back("exp(" + value(n) + ")");
  before.push_back("softmax(" + value(n + 1) + ") {axis = 1}");
  before.push_back("multiply(" + value(n) + ", " + value(n + 2) + ")");
  return before;
}

TEST(Fuse, ComputesCheapValuesAnew) {
  struct Case {
    std::string op, operands;
  };
  const Case cases[] = {
      {"subtract(%0, %1)", "%0, %1"}, {"multiply(%2, %0)", "%2, %0"}, {"negative(%0)", "%0"},
      {"square(%0)", "%0"},           {"multiply(%0, %0)", "%0"},     {"clamp(%0, %3, %1)", "%0, %3, %1"},
      {"add(%1, %2)", "%1, %2"},
  };
  for (const auto& [op, operands] : cases) {
    expect_fused(reused(op), "%7",
                 {"fused(" + operands + ")", "region {", op, "exp(%5)", "return (%6)", "}", "softmax(%4) {axis = 1}",
                  "fused(" + operands + ", %7)", "region {", op, "multiply(%9, %7)", "return (%10)", "}"},
                 "%8");
  }
}

TEST(Fuse, HandsDearValuesOn) {
  // Functions of floats that both groups use; what has two operands as large as itself.
  const Lines befores[] = {{}, {}, {"softmax(%0) {axis = 0}"}};
  const std::string ops[] = {"tanh(%0)", "relu(%0)", "add(%0, %4)"}, operands[] = {"%0", "%0", "%0, %4"};
  for (size_t i = 0; i < std::size(ops); ++i) {
    const auto n = static_cast<int>(befores[i].size()) + 4;
    auto value = [&](int k) { return "%" + std::to_string(n + k); };
    Lines fused = befores[i];
    for (const std::string& line :
         {"fused(" + operands[i] + ") : float32(2, 3), float32(2, 3)", std::string("region {"), ops[i],
          "exp(" + value(1) + ")", "return (" + value(1) + ", " + value(2) + ")", std::string("}"),
          "softmax(" + value(0) + "#1) {axis = 1}", "multiply(" + value(0) + ", " + value(3) + ")"}) {
      fused.push_back(line);
    }
    expect_fused(reused(ops[i], befores[i]), value(3), fused, value(4));
  }
}

TEST(Fuse, ComputesChainsAnew) {
  expect_fused(
      {"negative(%0)", "multiply(%4, %2)", "exp(%4)", "softmax(%6) {axis = 1}", "multiply(%5, %7)"}, "%8",
      {"fused(%0)", "region {", "negative(%0)", "exp(%5)", "return (%6)", "}", "softmax(%4) {axis = 1}",
       "fused(%0, %2, %7)", "region {", "negative(%0)", "multiply(%9, %2)", "multiply(%10, %7)", "return (%11)", "}"},
      "%8");
}

TEST(Fuse, HandsOnWhatALongChainComputes) {
  for (int count : {4, 5}) {
    Lines ops;
    for (int i = 0; i < count; ++i) ops.push_back("negative(%" + std::to_string(i == 0 ? 0 : 3 + i) + ")");
    const std::string last = "%" + std::to_string(3 + count), end = "%" + std::to_string(6 + count);
    ops.insert(ops.end(), {"exp(" + last + ")", "softmax(%" + std::to_string(4 + count) + ") {axis = 1}",
                           "multiply(" + last + ", %" + std::to_string(5 + count) + ")"});
    const std::unique_ptr<Graph> fused = fused_for_cpu(graph_of(ops, end));
    EXPECT_EQ(verify(*fused), std::vector<std::string>{});
    EXPECT_EQ(fused->body().ops.back()->code, count == 4 ? OpCode::fused : OpCode::multiply);
  }
}

TEST(Fuse, MovesDearValuesToTheOnlyGroupThatUsesThem) {
  const Lines once = {"negative(%0)", "exp(%4)", "tanh(%4)", "softmax(%6) {axis = 1}", "multiply(%5, %7)"};
  expect_fused(once, "%8",
               {"fused(%0)", "region {", "negative(%0)", "tanh(%5)", "return (%6)", "}", "softmax(%4) {axis = 1}",
                "fused(%0, %7)", "region {", "negative(%0)", "exp(%9)", "multiply(%10, %7)", "return (%11)", "}"},
               "%8");
  Lines twice = once;
  twice.insert(twice.end(), {"softmax(%8) {axis = 0}", "multiply(%5, %9)"});
  expect_fused(
      twice, "%10",
      {"fused(%0) : float32(2, 3), float32(2, 3)", "region {", "negative(%0)", "exp(%5)", "tanh(%5)", "return (%6, %7)",
       "}", "softmax(%4#1) {axis = 1}", "multiply(%4, %8)", "softmax(%9) {axis = 0}", "multiply(%4, %10)"},
      "%11");
}

TEST(Fuse, ComputesAnewOnlyFromWhatIsInMemory) {
  // %4 is only within the first group, so nobody else can have %5 from it.
  expect_fused(reused("add(%4, %1)", {"tanh(%0)"}), "%8",
               {"fused(%0, %1) : float32(2, 3), float32(2, 3)", "region {", "tanh(%0)", "add(%5, %1)", "exp(%6)",
                "return (%6, %7)", "}", "softmax(%4#1) {axis = 1}", "multiply(%4, %8)"},
               "%9");
  // Here %4 is read by another op, so it is.
  Lines ops = reused("add(%4, %1)", {"tanh(%0)"});
  ops.push_back("sum(%4) {axes = [0]} : float32(1, 3)");
  expect_fused(ops, "%8, %9",
               {"fused(%0, %1) : float32(2, 3), float32(2, 3)", "region {", "tanh(%0)", "add(%5, %1)", "exp(%6)",
                "return (%5, %7)", "}", "softmax(%4#1) {axis = 1}", "fused(%4, %1, %8)", "region {", "add(%4, %1)",
                "multiply(%10, %8)", "return (%11)", "}", "sum(%4) {axes = [0]} : float32(1, 3)"},
               "%9, %12");
}

TEST(Fuse, WritesWhatOthersReadAllTheSame) {
  // Returned, read by an op that is not elementwise, or by one of another shape: written once, and computed anew only
  // where that is free.
  const Lines anew = {"softmax(%4) {axis = 1}", "fused(%0, %1, %5)", "region {", "add(%0, %1)",
                      "multiply(%7, %5)",       "return (%8)",       "}"};
  Lines fused = {"add(%0, %1)"};
  fused.insert(fused.end(), anew.begin(), anew.end());
  expect_fused({"add(%0, %1)", "softmax(%4) {axis = 1}", "multiply(%4, %5)"}, "%4, %6", fused, "%4, %6");
  expect_unfused({"negative(%1) : float32(3,)", "add(%0, %4)"}, "%5");
  // In a branch.
  expect_unfused(
      {"negative(%0)", "if_else(%3)", "region {", "exp(%4)", "return (%6)", "}", "region {", "return (%0)", "}"}, "%5");
}

TEST(Fuse, DropsWhatEveryoneElseComputesAnew) {
  // %5 stands in the group of %4 but only %7 wants it.
  expect_fused({"exp(%0)", "add(%4, %1)", "softmax(%4) {axis = 1}", "multiply(%5, %6)"}, "%7",
               {"fused(%0)", "region {", "exp(%0)", "return (%5)", "}", "softmax(%4) {axis = 1}", "fused(%4, %1, %6)",
                "region {", "add(%4, %1)", "multiply(%8, %6)", "return (%9)", "}"},
               "%7");
}

TEST(Fuse, CountsWhatIsComputedAnew) {
  // Two tiles for each of the addition and the multiplication, and two as above.
  const size_t most = cpu::Elementwise::kMostBuffers - 5;
  for (size_t count : {most, most + 1}) {
    Lines ops = reused("add(%0, %1)");
    for (size_t i = 1; i < count; ++i) ops.push_back("tanh(%" + std::to_string(ops.size() + 3) + ")");
    const std::unique_ptr<Graph> fused = fused_for_cpu(graph_of(ops, "%" + std::to_string(ops.size() + 3)));
    EXPECT_EQ(verify(*fused), std::vector<std::string>{});
    const Op& last = *fused->body().ops.back();
    ASSERT_EQ(last.code, OpCode::fused);
    EXPECT_EQ(last.regions[0]->ops.size(), most + 1);
    EXPECT_EQ(last.regions[0]->ops.front()->code, count == most ? OpCode::add : OpCode::multiply);
  }
}

// ---- optimizers ----

// An update is fused into the op that computes its gradient, with the ops between them.
TEST(Fuse, TakesOptimizers) {
  expect_fused({"multiply(%0, %3)", "sgd(%3, %0, %4)"}, "%5",
               {"fused(%0, %3)", "region {", "multiply(%0, %3)", "sgd(%3, %0, %5)", "return (%6)", "}"}, "%4");
  expect_fused(
      {"multiply(%0, %3)", "adam(%3, %3, %3, %3, %0, %0, %0, %4) : float32(2, 3), float32(2, 3), float32(2, 3)"},
      "%5, %5#1, %5#2",
      {"fused(%0, %3) : float32(2, 3), float32(2, 3), float32(2, 3)", "region {", "multiply(%0, %3)",
       "adam(%3, %3, %3, %3, %0, %0, %0, %5) : float32(2, 3), float32(2, 3), float32(2, 3)", "return (%6, %6#1, %6#2)",
       "}"},
      "%4, %4#1, %4#2");
}

// ---- rows ----

// The kinds of the ops, and of the ops in each fused op.
std::vector<std::string> kinds(const std::string& text,
                               const device::FusionPolicy& policy = cpu::cpu_device().fusion_policy()) {
  const std::unique_ptr<Graph> fused = fuse(*parse(text), policy);
  EXPECT_EQ(verify(*fused), std::vector<std::string>{});
  std::vector<std::string> kinds;
  for (const auto& op : fused->body().ops) {
    if (op->code == OpCode::placeholder) continue;
    kinds.emplace_back(op->info().name);
    if (op->code != OpCode::fused) continue;
    for (const auto& inner : op->regions[0]->ops) kinds.back() += " " + std::string(inner->info().name);
  }
  return kinds;
}

// The same of a graph of three placeholders: of the shape, with one element for each row, and of one row. In `ops`,
// WHOLE and ROWS stand for the first two types.
std::vector<std::string> kinds_of_rows(const std::string& shape, const std::string& rows, const std::string& row,
                                       std::string ops, const std::string& results) {
  const auto put = [&](const std::string& name, const std::string& value) {
    for (size_t at = ops.find(name); at != std::string::npos; at = ops.find(name)) ops.replace(at, name.size(), value);
  };
  put("WHOLE", "float32" + shape);
  put("ROWS", "float32" + rows);
  const auto line = [](const std::string& number, const std::string& type) {
    return "  " + number + " = placeholder() {shape = " + type + ", dtype = float32} : float32" + type + "\n";
  };
  return kinds("graph {\n" + line("%0", shape) + line("%1", rows) + line("%2", row) + ops + "  return (" + results +
               ")\n}\n");
}

const char* const kNormalization =
    "  %3 = mean(%0) {axes = [1]} : ROWS\n  %4 = variance(%0) {axes = [-1]} : ROWS\n"
    "  %5 = subtract(%0, %3) : WHOLE\n  %6 = rsqrt(%4) : ROWS\n  %7 = multiply(%5, %6) : WHOLE\n"
    "  %8 = multiply(%7, %2) : WHOLE\n";
using Kinds = std::vector<std::string>;

TEST(FuseRows, FoldsThemWhereTheyAre) {
  const Kinds all = {"fused mean variance subtract rsqrt multiply multiply"};
  EXPECT_EQ(kinds_of_rows("(32, 16)", "(32, 1)", "(16,)", kNormalization, "%8"), all);
  EXPECT_EQ(kinds_of_rows("(48, 100)", "(48, 1)", "(100,)", kNormalization, "%8, %6"), all);
  // A sum of what the group computes, by its axis or by its result's shape, and what needs the sum.
  for (const std::string sum : {"sum(%3) {axes = [1]}", "reduce_like(%3, %1)"}) {
    EXPECT_EQ(kinds_of_rows("(32, 64)", "(32, 1)", "(64,)",
                            "  %3 = exp(%0) : WHOLE\n  %4 = " + sum + " : ROWS\n  %5 = divide(%3, %4) : WHOLE\n", "%5"),
              (Kinds{"fused exp " + sum.substr(0, sum.find('(')) + " divide"}));
  }
  // Values for each row that are no folds.
  EXPECT_EQ(kinds_of_rows("(32, 64)", "(32, 1)", "(64,)", "  %3 = exp(%1) : ROWS\n  %4 = add(%0, %3) : WHOLE\n", "%4"),
            (Kinds{"fused exp add"}));
}

TEST(FuseRows, LeavesTheOthers) {
  // Few rows, short rows, long rows, and a tensor that is no whole number of quanta.
  for (const auto& [shape, rows, row] : {std::array{"(31, 64)", "(31, 1)", "(64,)"},
                                         {"(512, 15)", "(512, 1)", "(15,)"},
                                         {"(64, 4100)", "(64, 1)", "(4100,)"},
                                         {"(33, 16)", "(33, 1)", "(16,)"}}) {
    const Kinds found = kinds_of_rows(shape, rows, row, kNormalization, "%8");
    EXPECT_EQ(std::count(found.begin(), found.end(), "mean"), 1) << shape;
    EXPECT_EQ(std::count(found.begin(), found.end(), "variance"), 1) << shape;
  }
  // Another axis.
  EXPECT_EQ(kinds_of_rows("(32, 64)", "(1, 64)", "(64,)",
                          "  %3 = exp(%0) : WHOLE\n  %4 = sum(%3) {axes = [0]} : ROWS\n"
                          "  %5 = divide(%3, %4) : WHOLE\n",
                          "%5"),
            (Kinds{"exp", "sum", "divide"}));
}

// The group of a value for each row is in memory before another group computes its value anew.
TEST(FuseRows, AreWrittenForThoseWhoComputeAnew) {
  EXPECT_EQ(kinds_of_rows("(32, 64)", "(32, 1)", "(64,)",
                          "  %3 = mean(%0) {axes = [1]} : ROWS\n  %4 = subtract(%0, %3) : WHOLE\n"
                          "  %5 = exp(%4) : WHOLE\n  %6 = softmax(%5) {axis = 1} : WHOLE\n"
                          "  %7 = multiply(%4, %6) : WHOLE\n",
                          "%7"),
            (Kinds{"fused mean subtract exp", "softmax", "fused subtract multiply"}));
}

// ---- products ----

// Sums of few outer products that are too large for a cache are fused with their users, also with another shape.
class FuseProducts : public ::testing::Test {
 protected:
  // Images (n, 1024), errors (n, 512), and their product, the gradient of weights.
  static std::string graph(const std::string& n, const std::string& rest, const std::string& results,
                           bool transposed = true) {
    const std::string left = transposed ? "(" + n + ", 1024)" : "(1024, " + n + ")";
    return "graph {\n  %0 = placeholder() {shape = " + left + ", dtype = float32} : float32" + left +
           "\n  %1 = placeholder() {shape = (" + n + ", 512), dtype = float32} : float32(" + n + ", 512)" +
           "\n  %2 = placeholder() {shape = (1, 1024, 512), dtype = float32} : float32(1, 1024, 512)" +
           "\n  %3 = placeholder() {shape = (), dtype = float32} : float32()" +
           "\n  %4 = matmul(%0, %1) {transpose_a = " + (transposed ? "true" : "false") +
           ", transpose_b = false} : float32(1024, 512)" + rest + "\n  return (" + results + ")\n}\n";
  }
  const std::string reshape_ = "\n  %5 = reshape(%4) {shape = (1, 1024, 512)} : float32(1, 1024, 512)";
  const std::string update_ = reshape_ + "\n  %6 = sgd(%3, %2, %5) : float32(1, 1024, 512)";
};

TEST_F(FuseProducts, GoWithTheUpdateTheyFeed) {
  EXPECT_EQ(kinds(graph("16", update_, "%6")), (Kinds{"fused matmul reshape sgd"}));
  EXPECT_EQ(kinds(graph("16", "\n  %5 = tanh(%4) : float32(1024, 512)", "%5")), (Kinds{"fused matmul tanh"}));
}

TEST_F(FuseProducts, StayWhereTheyAreLongOrNoOuterProducts) {
  EXPECT_EQ(kinds(graph("513", update_, "%6")), (Kinds{"matmul", "reshape", "sgd"}));
  EXPECT_EQ(kinds(graph("16", update_, "%6", false)), (Kinds{"matmul", "reshape", "sgd"}));
}

TEST_F(FuseProducts, StayWhereOthersWantThem) {
  EXPECT_EQ(kinds(graph("16", update_, "%6, %4")), (Kinds{"matmul", "reshape", "sgd"}));
  EXPECT_EQ(kinds(graph("16", update_, "%6, %5")), (Kinds{"matmul", "reshape", "sgd"}));
  EXPECT_EQ(kinds(graph("16", "\n  %5 = tanh(%4) : float32(1024, 512)\n  %6 = sum(%4) {axes = [0]} : float32(1, 512)",
                        "%5, %6")),
            (Kinds{"matmul", "tanh", "sum"}));
}

// A product of a value that the chain itself computes would have to wait for itself.
TEST_F(FuseProducts, AreNotFedByTheirOwnGroup) {
  for (const std::string op : {"tanh", "negative"}) {
    const std::string text =
        "graph {\n  %0 = placeholder() {shape = (64, 64), dtype = float32} : float32(64, 64)"
        "\n  %1 = placeholder() {shape = (64, 2048), dtype = float32} : float32(64, 2048)\n  %2 = " +
        op +
        "(%1) : float32(64, 2048)"
        "\n  %3 = matmul(%0, %2) {transpose_a = true, transpose_b = false} : float32(64, 2048)"
        "\n  %4 = add(%3, %2) : float32(64, 2048)\n  return (%4)\n}\n";
    EXPECT_EQ(kinds(text), (Kinds{op, "fused matmul add"}));
  }
}

// A device that computes what follows a convolution or a product with it.
class Epilogues final : public device::FusionPolicy {
 public:
  bool joins(const Op& op) const override { return op.info().facts.elementwise; }
  size_t most_values() const override { return 16; }
  bool leads(const Op& op) const override { return op.info().facts.products; }
};

TEST(Fuse, AsksThePolicyForConvolutionsToo) {
  const std::string text =
      "graph {\n  %0 = placeholder() {shape = (2, 6, 6, 3), dtype = float32} : float32(2, 6, 6, 3)"
      "\n  %1 = placeholder() {shape = (3, 3, 3, 5), dtype = float32} : float32(3, 3, 3, 5)"
      "\n  %2 = placeholder() {shape = (5,), dtype = float32} : float32(5,)"
      "\n  %3 = conv2d(%0, %1) {strides = [1, 1], dilations = [1, 1], groups = 1, padding = [0, 0, 0, 0], "
      "padding_style = valid, data_layout = NHWC, weights_layout = HWIO} : float32(2, 4, 4, 5)"
      "\n  %4 = add(%3, %2) : float32(2, 4, 4, 5)\n  %5 = relu(%4) : float32(2, 4, 4, 5)\n  return (%5)\n}\n";
  EXPECT_EQ(kinds(text, Epilogues()), (Kinds{"fused conv2d add relu"}));
  EXPECT_EQ(kinds(text), (Kinds{"conv2d", "fused add relu"}));
}

// A device whose reductions lead and gather, too.
class Gathering final : public device::FusionPolicy {
 public:
  bool joins(const Op& op) const override { return op.info().facts.elementwise; }
  size_t most_values() const override { return 16; }
  bool leads(const Op& op) const override { return op.info().facts.products || gathers(op); }
  bool writes_leaders() const override { return true; }
  bool gathers(const Op& op) const override { return op.info().family == ir::Family::kReduction; }
  bool joins_strangers(const ir::Shape& shape) const override { return shape.element_count() == 1; }
};

TEST(Fuse, WritesLeadersForOthers) {
  const std::string text =
      "graph {\n  %0 = placeholder() {shape = (6, 6), dtype = float32} : float32(6, 6)"
      "\n  %1 = matmul(%0, %0) {transpose_a = false, transpose_b = false} : float32(6, 6)"
      "\n  %2 = tanh(%1) : float32(6, 6)"
      "\n  %3 = matmul(%1, %0) {transpose_a = false, transpose_b = false} : float32(6, 6)"
      "\n  %4 = multiply(%2, %1) : float32(6, 6)\n  return (%4, %3)\n}\n";
  EXPECT_EQ(kinds(text, Gathering()), (Kinds{"fused matmul tanh multiply", "matmul"}));
  EXPECT_EQ(kinds(text, Epilogues()), (Kinds{"matmul", "fused tanh multiply", "matmul"}));
  // One that feeds another operand of its user stays alone.
  const std::string cyclic =
      "graph {\n  %0 = placeholder() {shape = (6, 6), dtype = float32} : float32(6, 6)"
      "\n  %1 = matmul(%0, %0) {transpose_a = false, transpose_b = false} : float32(6, 6)"
      "\n  %2 = matmul(%1, %0) {transpose_a = false, transpose_b = false} : float32(6, 6)"
      "\n  %3 = add(%1, %2) : float32(6, 6)\n  return (%3)\n}\n";
  EXPECT_EQ(kinds(cyclic, Gathering()), (Kinds{"matmul", "fused matmul add"}));
}

TEST(Fuse, GathersWhatColumnsSum) {
  const std::string begin =
      "graph {\n  %0 = placeholder() {shape = (6, 5), dtype = float32} : float32(6, 5)"
      "\n  %1 = placeholder() {shape = (5,), dtype = float32} : float32(5,)"
      "\n  %2 = tanh(%0) : float32(6, 5)\n  %3 = sum(%2) {axes = [0]} : float32(1, 5)";
  const std::string sums =
      "\n  %4 = reshape(%3) {shape = (5,)} : float32(5,)\n  %5 = subtract(%1, %4) : float32(5,)"
      "\n  %6 = square(%2) : float32(6, 5)\n  %7 = max(%6) {axes = [0]} : float32(1, 5)\n  return (%5, %7)\n}\n";
  EXPECT_EQ(kinds(begin + sums, Gathering()), (Kinds{"fused tanh sum reshape subtract square max"}));
  // Sums along other axes, and what needs the sums of all columns, are apart.
  const std::string others =
      "\n  %4 = max(%2) {axes = [0, 1]} : float32(1, 1)\n  %5 = subtract(%2, %3) : float32(6, 5)\n  return (%4, "
      "%5)\n}\n";
  EXPECT_EQ(kinds(begin + others, Gathering()).size(), 3);
}

TEST(Fuse, JoinsReductionsOfWhatOneGroupComputes) {
  const std::string begin =
      "graph {\n  %0 = placeholder() {shape = (6, 6), dtype = float32} : float32(6, 6)"
      "\n  %1 = placeholder() {shape = (6,), dtype = float32} : float32(6,)"
      "\n  %2 = matmul(%0, %0) {transpose_a = false, transpose_b = false} : float32(6, 6)"
      "\n  %3 = relu(%2) : float32(6, 6)\n  %4 = square(%2) : float32(6, 6)"
      "\n  %5 = sum(%3) {axes = [0]} : float32(1, 6)";
  const std::string end =
      "\n  %7 = negative(%5) : float32(1, 6)\n  %8 = reshape(%5) {shape = (6,)} : float32(6,)"
      "\n  %9 = add(%8, %1) : float32(6,)\n  %10 = tanh(%6) : float32(1, 6)\n  return (%7, %9, %10, %3)\n}\n";
  const std::string largest = "\n  %6 = max(%4) {axes = [0]} : float32(1, 6)";
  EXPECT_EQ(kinds(begin + largest + end, Gathering()),
            (Kinds{"fused matmul relu square", "fused sum max negative reshape add tanh"}));
  // A group that needs the sums comes behind them.
  const std::string behind =
      "\n  %6 = max(%4) {axes = [0]} : float32(1, 6)\n  %7 = matmul(%5, %0) {transpose_a = false, transpose_b = false} "
      ": float32(1, 6)\n  %8 = add(%6, %7) : float32(1, 6)\n  return (%8)\n}\n";
  EXPECT_EQ(kinds(begin + behind, Gathering()), (Kinds{"fused matmul relu square", "sum", "matmul", "fused max add"}));
}

TEST(Fuse, JoinsNumbersThatDoNotFeedEachOther) {
  const std::string text =
      "graph {\n  %0 = placeholder() {shape = (), dtype = float32} : float32()"
      "\n  %1 = placeholder() {shape = (6, 6), dtype = float32} : float32(6, 6)"
      "\n  %2 = square(%0) : float32()\n  %3 = tanh(%0) : float32()\n  %4 = sum(%1) {axes = [0, 1]} : float32(1, 1)"
      "\n  %5 = reshape(%4) {shape = ()} : float32()\n  %6 = reshape(%3) {shape = (1, 1)} : float32(1, 1)"
      "\n  return (%2, %6, %5)\n}\n";
  EXPECT_EQ(kinds(text, Gathering()).front(), "fused square tanh");
  EXPECT_EQ(kinds(text, Epilogues()).front(), "square");
}

}  // namespace
}  // namespace alloy::compiler
