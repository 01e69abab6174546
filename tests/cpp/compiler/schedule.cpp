// Tests schedule: the order of ops. plan.cpp tests plans of random graphs in this order.
#include "compiler/schedule.h"

#include <gtest/gtest.h>

#include "ir/grammar.h"
#include "ir/graph.h"
#include "ir/text/text.h"

namespace alloy::compiler {
namespace {

// The numbers that the ops have in the text, in the order in which they run, and only those that compute.
std::vector<size_t> order(const std::string& text, const std::vector<int64_t>& slots) {
  const std::unique_ptr<ir::Graph> graph = ir::parse(text);
  EXPECT_EQ(ir::verify(*graph), std::vector<std::string>{});
  std::vector<size_t> numbers;
  for (const ir::Op* op : schedule(*graph, slots)) {
    size_t number = 0;
    while (graph->body().ops[number].get() != op) ++number;
    if (!op->operands.empty()) numbers.push_back(number);
  }
  return numbers;
}

using Order = std::vector<size_t>;

std::string variable(int slot) {
  return "variable() {slot = " + std::to_string(slot) + ", value = float32(4, 4)[0 ...]} : float32(4, 4)\n";
}
// Ops 0 to 3: a placeholder of (4, 4), variables of slots 1 and 2, and a variable of slot 7 of one element.
const std::string kHead =
    "graph {\n  %0 = placeholder() {shape = (4, 4), dtype = float32} : float32(4, 4)\n  %1 = " + variable(1) +
    "  %2 = " + variable(2) + "  %3 = variable() {slot = 7, value = float32()[0]} : float32()\n";

TEST(Schedule, UpdatesComeAsSoonAsTheyCan) {
  EXPECT_EQ(order(kHead + "  %4 = tanh(%0) : float32(4, 4)\n"
                          "  %5 = exp(%4) : float32(4, 4)\n"
                          "  %6 = sgd(%3, %1, %4) : float32(4, 4)\n"
                          "  %7 = sgd(%3, %2, %5) : float32(4, 4)\n"
                          "  return (%5, %6, %7)\n}\n",
                  {1, 2}),
            (Order{4, 6, 5, 7}));
}

TEST(Schedule, UpdatesWaitForReadersOfTheOldValue) {
  EXPECT_EQ(order(kHead + "  %4 = sgd(%3, %1, %0) : float32(4, 4)\n"
                          "  %5 = exp(%0) : float32(4, 4)\n"
                          "  %6 = reshape(%1) {shape = (2, 8)} : float32(2, 8)\n"
                          "  %7 = tanh(%6) : float32(2, 8)\n"
                          "  %8 = sqrt(%5) : float32(4, 4)\n"
                          "  return (%7, %8, %4)\n}\n",
                  {1}),
            (Order{5, 6, 7, 4, 8}));
}

TEST(Schedule, CoefficientsComeFirst) {
  EXPECT_EQ(order(kHead + "  %4 = tanh(%0) : float32(4, 4)\n"
                          "  %5 = exp(%4) : float32(4, 4)\n"
                          "  %6 = negative(%3) : float32()\n"
                          "  %7 = sgd(%6, %1, %4) : float32(4, 4)\n"
                          "  return (%5, %7)\n}\n",
                  {1}),
            (Order{6, 4, 7, 5}));
}

// An update may wait for a number that is computed after everything that the update would free.
TEST(Schedule, NumbersComeAsSoonAsTheyCan) {
  EXPECT_EQ(order(kHead + "  %4 = tanh(%0) : float32(4, 4)\n"
                          "  %5 = sum(%4) {axes = [0, 1]} : float32(1, 1)\n"
                          "  %6 = exp(%4) : float32(4, 4)\n"
                          "  %7 = sqrt(%6) : float32(4, 4)\n"
                          "  %8 = negative(%5) : float32(1, 1)\n"
                          "  %9 = reshape(%8) {shape = ()} : float32()\n"
                          "  %10 = sgd(%9, %1, %4) : float32(4, 4)\n"
                          "  return (%7, %10)\n}\n",
                  {1}),
            (Order{4, 5, 8, 9, 10, 6, 7}));
}

TEST(Schedule, UpdatesThatReadEachOthersVariablesComeLast) {
  EXPECT_EQ(order(kHead + "  %4 = tanh(%2) : float32(4, 4)\n"
                          "  %5 = sgd(%3, %1, %2) : float32(4, 4)\n"
                          "  %6 = sgd(%3, %2, %1) : float32(4, 4)\n"
                          "  %7 = exp(%4) : float32(4, 4)\n"
                          "  return (%7, %5, %6)\n}\n",
                  {1, 2}),
            (Order{4, 7, 5, 6}));
}

TEST(Schedule, ValuesThatOthersUseStayWhereTheyAre) {
  EXPECT_EQ(order(kHead + "  %4 = sgd(%3, %1, %0) : float32(4, 4)\n"
                          "  %5 = tanh(%1) : float32(4, 4)\n"
                          "  %6 = exp(%4) : float32(4, 4)\n"
                          "  return (%5, %6, %4)\n}\n",
                  {1}),
            (Order{4, 5, 6}));
  EXPECT_EQ(order(kHead + "  %4 = sgd(%3, %1, %0) : float32(4, 4)\n"
                          "  %5 = tanh(%1) : float32(4, 4)\n"
                          "  return (%5, %4, %4)\n}\n",
                  {1}),
            (Order{4, 5}))
      << "it is a result too";
}

TEST(Schedule, ValuesThatOthersUseUnderAnotherShapeStayToo) {
  EXPECT_EQ(order(kHead + "  %4 = sgd(%3, %1, %0) : float32(4, 4)\n"
                          "  %5 = reshape(%4) {shape = (2, 8)} : float32(2, 8)\n"
                          "  %6 = tanh(%5) : float32(2, 8)\n"
                          "  %7 = exp(%1) : float32(4, 4)\n"
                          "  return (%6, %7, %4)\n}\n",
                  {1}),
            (Order{4, 5, 6, 7}));
}

TEST(Schedule, BranchesReadOldValuesToo) {
  EXPECT_EQ(order(kHead + "  %4 = sgd(%3, %1, %0) : float32(4, 4)\n"
                          "  %5 = if_else(%3) : float32(4, 4)\n"
                          "  region {\n"
                          "    %6 = tanh(%1) : float32(4, 4)\n"
                          "    return (%6)\n"
                          "  }\n"
                          "  region {\n"
                          "    return (%0)\n"
                          "  }\n"
                          "  return (%5, %4)\n}\n",
                  {1}),
            (Order{5, 4}));
}

}  // namespace
}  // namespace alloy::compiler
