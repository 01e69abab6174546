// Tests threads that wait for work, and the number of threads that a process may have.
#include <sys/resource.h>
#include <unistd.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cpu/kernel_testing.h"
#include "cpu/threads/cpu_quota.h"

namespace alloy::test {
namespace {

// The number of the process's threads.
int64_t thread_total() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

// Work that waits for nobody needs no other thread, on any thread of the program.
TEST(Threads, OneIsTheCallers) {
  const int before = kernel_threads();
  set_kernel_threads(1);
  std::thread([] {
    const int64_t threads = thread_total();
    const FlushDenormals mode;
    Team::start();
    set_waiting(Waiting::kSleep);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_LE(thread_total(), threads);
    set_waiting(Waiting::kSpin);
  }).join();
  set_kernel_threads(before);
}

#ifndef __SANITIZE_ADDRESS__  // which needs memory for each thread
// A process that may not start threads works without them.
TEST(Threads, WaitingSurvivesWithoutThreads) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // without stacks of threads that have ended
  auto wait_without_threads = [] {
    set_kernel_threads(2);
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = 1;
    setrlimit(RLIMIT_AS, &limit);
    set_waiting(Waiting::kSleep);
    set_waiting(Waiting::kSpin);
    _exit(0);
  };
  EXPECT_EXIT(wait_without_threads(), testing::ExitedWithCode(0), "");
}
#endif

TEST(Threads, ThoseThatSleepDoNotHoldUpTheEndOfTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto end = [](int milliseconds) {
    set_kernel_threads(2);
    set_waiting(Waiting::kSleep);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    std::exit(0);
  };
  // While they start, and while they sleep.
  for (int milliseconds : {0, 1, 50}) EXPECT_EXIT(end(milliseconds), testing::ExitedWithCode(0), "");
}

// A control group's files, and a substitute for /proc/self/cgroup, in a directory of their own.
class Groups {
 public:
  Groups() { std::filesystem::create_directories(root_); }
  ~Groups() { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  double quota(const std::string& lines) const {
    write("groups", lines);
    return cpu_quota(root_ / "groups", root_ / "mounted");
  }

 private:
  std::filesystem::path root_ = std::filesystem::temp_directory_path() / ("alloy_groups_" + std::to_string(getpid()));
};

TEST(CpuQuota, IsTheLeastOfTheGroups) {
  const Groups groups;
  EXPECT_EQ(cpu_quota("/nowhere", "/nowhere"), INFINITY);
  EXPECT_EQ(groups.quota("0::/\n"), INFINITY);
  groups.write("mounted/cpu.max", "max 100000\n");
  EXPECT_EQ(groups.quota("0::/\n"), INFINITY);
  groups.write("mounted/a/cpu.max", "250000 100000\n");
  groups.write("mounted/a/b/cpu.max", "400000 100000\n");
  EXPECT_EQ(groups.quota("0::/a/b\n"), 2.5);
  EXPECT_EQ(groups.quota("0::/a\n"), 2.5);
  EXPECT_EQ(groups.quota("0::/a/b/of/the/host\n"), 2.5);
}

TEST(CpuQuota, OfVersionOne) {
  const Groups groups;
  groups.write("mounted/cpu/cpu.cfs_quota_us", "-1\n");
  groups.write("mounted/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(groups.quota("4:cpuacct,cpu:/\n3:memory:/\n"), INFINITY);
  groups.write("mounted/cpu/docker/cpu.cfs_quota_us", "150000\n");
  groups.write("mounted/cpu/docker/cpu.cfs_period_us", "50000\n");
  EXPECT_EQ(groups.quota("9:name=systemd:/docker\n4:cpuacct,cpu:/docker\n"), 3);
  EXPECT_EQ(groups.quota("4:cpuset:/docker\n"), INFINITY);
}

TEST(Waiting, ChangesWhileKernelsRun) {
  Random random;
  const Tensor x = random.tensor(Shape({512, 600}));
  double expected = 0;
  for (int64_t i = 0; i < x.size(); ++i) expected += x.at(i);
  for (int turn = 0; turn < 20; ++turn) {
    set_waiting(turn % 3 == 0 ? Waiting::kSleep : Waiting::kSpin);
    expect_close(run(OpCode::sum, {x}, {{Attr::kAxes, Dims{0, 1}}}), [&](int64_t) { return expected; }, 8, 1e-4);
  }
  set_waiting(Waiting::kSpin);
}

}  // namespace
}  // namespace alloy::test
