#include "device/added_devices.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "cpu/device.h"

namespace alloy {
namespace {

TEST(Devices, AreInOrderOfRankAndThenAsTheyWereFound) {
  // Stand for devices; nothing looks into them.
  std::byte places[3];
  const auto at = [&](size_t i) { return reinterpret_cast<device::Device*>(&places[i]); };
  int calls = 0;
  device::add_devices(device::Rank::kCpu, [&] { return std::vector{at(2)}; });
  device::add_devices(device::Rank::kAccelerator, [&]() -> std::vector<device::Device*> {
    ++calls;
    throw std::runtime_error("The driver is too old.");
  });
  device::add_devices(device::Rank::kAccelerator, [&] { return std::vector<device::Device*>(); });
  device::add_devices(device::Rank::kAccelerator, [&] { return std::vector{at(0), at(1)}; });
  EXPECT_EQ(calls, 0);
  device::Device* const cpu = &cpu::cpu_device();
  EXPECT_EQ(device::find_devices(*cpu), (std::vector{at(0), at(1), at(2), cpu}));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace alloy
