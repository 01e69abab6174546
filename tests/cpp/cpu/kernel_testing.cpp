#include "cpu/kernel_testing.h"

#include "cpu/machine.h"

namespace alloy::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Targets, Simd, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& info) { return std::string(hwy::TargetName(info.param)); });

std::vector<int64_t> targets_of_products() {
  std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  if (machine().tiles) targets.push_back(0);  // all there is
  return targets;
}

INSTANTIATE_TEST_SUITE_P(Targets, Products, testing::ValuesIn(targets_of_products()), [](const auto& info) {
  return info.param == 0 ? "Tiles" : std::string(hwy::TargetName(info.param));
});

}  // namespace
}  // namespace alloy::test
