// When the memory of an arena goes back to its device.

#include "device/arena.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/device.h"

namespace alloy::device {
namespace {

// Its actions come late, as from a thread that has yet to wake.
class LateFence final : public host::Fence {
 public:
  bool is_over() override { return over; }
  void wait() override { over = true; }
  void then(std::function<void()> action) override { actions.push_back(std::move(action)); }

  bool over = false;
  std::vector<std::function<void()>> actions;
};

class LateStream final : public Stream {
 public:
  host::Status run(ir::Callable work) override {
    work();
    return {};
  }
  host::Status submit(std::function<void()> work) override { return run(work); }
  host::FenceRef fence() override { return end; }

  const std::shared_ptr<LateFence> end = std::make_shared<LateFence>();
};

struct Arenas : testing::Test {
  std::weak_ptr<Storage> used_by_large() { return large->use(stream).storage(); }

  LateStream stream;
  const std::shared_ptr<Arena> arena = std::make_shared<Arena>(cpu::cpu_device());
  ArenaShare small{arena, 64};
  std::optional<ArenaShare> large{std::in_place, arena, 1 << 20};
};

TEST_F(Arenas, MemoryOfARunInFlightGoesBackBehindIt) {
  const std::weak_ptr<Storage> storage = used_by_large();
  large.reset();
  EXPECT_FALSE(storage.expired());
  stream.end->over = true;
  stream.end->actions.clear();
  EXPECT_TRUE(storage.expired());
}

TEST_F(Arenas, MemoryThatNoRunUsesGoesBackAtOnce) {
  const std::weak_ptr<Storage> storage = used_by_large();
  stream.end->over = true;
  large.reset();
  EXPECT_TRUE(storage.expired());
}

}  // namespace
}  // namespace alloy::device
