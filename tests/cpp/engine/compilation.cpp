// Tests the compilations that the engine requests of the framework: their options, targets and copies, and the errors
// for senseless answers.
#include "engine/device_info.h"
#include "engine/error.h"
#include "engine_testing.h"
#include "ir/transform/rewrite.h"
#include "watch/watch.h"

namespace alloy::test {
namespace {

using engine::VariableStorage;

class Compilation : public testing::TestWithParam<VariableStorage> {
 public:
  std::shared_ptr<engine::Graph> graph = std::make_shared<engine::Graph>(GetParam());
  ir::Graph& ir = graph->ir();
  const Value x = placeholder(ir, f32({4})), v = graph->variable(Literal::splat(f32({4}), 1));
  const Value sum = ir.value(OpCode::add, {x, v});
  Watch watch;

  size_t copies_for(const std::vector<Value>& fetches) {
    const size_t before = watch.copies();
    step_of(*graph->compile({x}, fetches, {}));
    return watch.copies() - before;
  }
};

TEST_P(Compilation, IsOverWhenTheCallReturnsAndAtLevelZero) {
  step_of(*graph->compile({x}, {sum}, {assign(ir, v, sum)}));
  value_of(*graph, graph->variable(Literal::splat(f32({}), 1)));
  EXPECT_GE(watch.compilations(), 1u);
  EXPECT_EQ(watch.at_once(), watch.compilations());
}

TEST_P(Compilation, FetchesAreCopiedOnlyWhereTheyAreNoResultOfAnOpOrAskedForTwice) {
  const Value product = ir.value(OpCode::multiply, {sum, sum});
  EXPECT_EQ(copies_for({sum, product}), 0u);
  EXPECT_EQ(copies_for({sum, sum, product}), 1u);
  EXPECT_EQ(copies_for({x}), 1u);
  EXPECT_EQ(copies_for({v}), 1u);
  EXPECT_EQ(copies_for({constant(ir, f32({}), 1), sum}), 1u);
}

TEST_P(Compilation, OfShapesThatWereForgottenAddsNothingToTheGraph) {
  const Value any = placeholder(ir, {ir::DType::float32, Shape({ir::kUnknown})});
  const auto executable = graph->compile({any}, {any}, {});
  const auto compile = [&] {
    for (int64_t size = 1; size <= 40; ++size) executable->specialize({Shape({size})});
  };
  compile();
  const size_t copies = watch.copies(), compilations = watch.compilations();
  EXPECT_EQ(copies, 40u);
  compile();
  EXPECT_EQ(watch.compilations(), compilations + 40);  // more than are kept
  EXPECT_EQ(watch.copies(), copies);
}

TEST_P(Compilation, HasATargetOnSystemsThatNeedOne) {
  step_of(*graph->compile({x}, {}, {assign(ir, v, sum)}));
  const bool gives_nothing = GetParam() == VariableStorage::kVariable &&
                             !ir::has(engine::device_system(), ir::Quirk::executable_of_no_targets);
  EXPECT_EQ(watch.without_targets(), gives_nothing ? 1u : 0u);
}

TEST_P(Compilation, OfTensorsThatNobodyGaveIsRefused) {
  const auto refusal = [&](Watch::Lie lie) {
    watch.lie(lie);
    try {
      step_of(*graph->compile({x}, {sum}, {}));
    } catch (const engine::DeviceError& error) {
      return std::string(error.what());
    }
    return std::string("no refusal");
  };
  EXPECT_EQ(refusal(Watch::Lie::kTargetLess),
            "[compile] The framework's executable lacks a target tensor that it was given.");
  EXPECT_EQ(refusal(Watch::Lie::kForeign), "[compile] The framework's executable has a tensor that it was not given.");
}

// Apple does not document whether an executable keeps a feed that no target needs.
TEST_P(Compilation, WithoutAFeedThatNothingNeeds) {
  watch.lie(Watch::Lie::kFeedLess);
  EXPECT_NO_THROW(step_of(*graph->compile({x}, {ir.value(OpCode::add, {v, v})}, {})));
}

TEST_P(Compilation, AsksAnLstmForCellsOnlyWhereTheyAreUsed) {
  const Value sums = placeholder(ir, f32({2, 1, 8})), weights = placeholder(ir, f32({8, 2})),
              state = placeholder(ir, f32({1, 2})), cell = placeholder(ir, f32({1, 2}));
  Op* lstm = ir.add(OpCode::lstm, {sums, weights, state, cell}, {{ir::Attr::kActivations, ir::Dims{3, 3, 2, 3, 2}}});
  const auto asked_for = [&](uint32_t result) {
    const size_t before = watch.cells();
    step_of(*graph->compile({sums, weights, state, cell}, {{lstm, result}}, {}));
    return watch.cells() - before;
  };
  EXPECT_EQ(asked_for(0), 0u);
  EXPECT_EQ(asked_for(1), 1u);
}

INSTANTIATE_TEST_SUITE_P(Storages, Compilation, testing::Values(VariableStorage::kVariable, VariableStorage::kBuffers),
                         [](const auto& info) {
                           return info.param == VariableStorage::kVariable ? "variable" : "buffers";
                         });

}  // namespace
}  // namespace alloy::test
