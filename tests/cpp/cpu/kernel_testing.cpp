#include "cpu/kernel_testing.h"

#include "cpu/machine.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace alloy::test {

#ifdef __x86_64__
namespace {

// XGETBV with 1 gives the parts of the registers that are not in their initial state.
__attribute__((target("xsave"))) bool read_upper_halves_in_use() {
  constexpr unsigned long long kYmm = 1 << 2, kZmm = 1 << 6;
  return (_xgetbv(1) & (kYmm | kZmm)) != 0;
}

__attribute__((target("avx"))) bool upper_halves_in_use_after_clearing() {
  _mm256_zeroupper();
  return read_upper_halves_in_use();
}

// CPUID says whether XGETBV with 1 is there. A processor may still say that parts are in use when they are clear.
bool knows_parts_in_use() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kOsSaves = 1 << 27, kAvx = 1 << 28, kGivesParts = 1 << 2;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & kOsSaves) != 0 && (c & kAvx) != 0 &&
         __get_cpuid_count(13, 1, &a, &b, &c, &d) && (a & kGivesParts) != 0 && !upper_halves_in_use_after_clearing();
}

}  // namespace

bool upper_halves_in_use() {
  static const bool is_known = knows_parts_in_use();
  return is_known && read_upper_halves_in_use();
}
#else
bool upper_halves_in_use() { return false; }
#endif

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
