// Tests the threads of loops, and the number of threads that a process may have.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cpu/kernel_testing.h"
#include "cpu/threads/cores.h"
#include "cpu/threads/parallel.h"

namespace alloy::test {
namespace {

// The number of the process's threads.
int64_t thread_total() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

// Counts how often each share of a loop runs, on as many threads as kernels have.
std::vector<int> shares_of_a_loop() {
  std::vector<std::atomic<int>> runs(kernel_threads());
  parallel_shares(1000, kWorkWorthThreads, [&](int64_t share, int64_t, int64_t) { ++runs[share]; });
  return {runs.begin(), runs.end()};
}

std::vector<int> once(int shares) { return std::vector<int>(shares, 1); }

// Sets the number of threads for a test.
class Threads {
 public:
  explicit Threads(int count) : before_(kernel_threads()) { set_kernel_threads(count); }
  ~Threads() { set_kernel_threads(before_); }

 private:
  const int before_;
};

TEST(Threads, OneIsTheCallers) {
  const Threads one(1);
  std::thread([] {
    const int64_t threads = thread_total();
    const Team team;
    EXPECT_EQ(shares_of_a_loop(), once(1));
    EXPECT_EQ(thread_total(), threads);
  }).join();
}

TEST(Threads, RunEveryShareOnce) {
  for (int turn = 0; turn < 30; ++turn) {
    for (const int count : {2, 7, 3, 64, 5}) {
      const Threads threads(count);
      const Team team;
      for (int loop = 0; loop < 20; ++loop) ASSERT_EQ(shares_of_a_loop(), once(count));
      // So long that the threads sleep.
      if (turn < 2) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      for (int loop = 0; loop < 20; ++loop) ASSERT_EQ(shares_of_a_loop(), once(count));
    }
  }
}

// The caller sleeps while it waits for a long share.
TEST(Threads, WaitForALongShare) {
  const Threads threads(3);
  for (int64_t slow = 0; slow < 3; ++slow) {
    std::atomic<int> runs = 0;
    parallel_shares(3, kWorkWorthThreads, [&](int64_t share, int64_t, int64_t) {
      if (share == slow) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++runs;
    });
    EXPECT_EQ(runs, 3);
  }
}

TEST(Threads, OfManyCallersAreTheirOwn) {
  const Threads threads(4);
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([] {
      for (int turn = 0; turn < 200; ++turn) {
        const Team team;
        for (int loop = 0; loop < 5; ++loop) ASSERT_EQ(shares_of_a_loop(), once(4));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// A team keeps its number, which its kernels were made for, whatever others set.
TEST(Threads, OfATeamDoNotChange) {
  const Threads threads(4);
  const Team team;
  set_kernel_threads(2);
  EXPECT_EQ(shares_of_a_loop(), once(4));
}

TEST(Threads, OfAForkedChildAreNew) {
  const Threads threads(4);
  ASSERT_EQ(shares_of_a_loop(), once(4));
  const pid_t child = fork();
  if (child == 0) {
    for (int loop = 0; loop < 20; ++loop) {
      if (shares_of_a_loop() != once(4)) _exit(1);
    }
    _exit(thread_total() == 4 ? 0 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(shares_of_a_loop(), once(4));
}

#ifndef __SANITIZE_ADDRESS__  // which needs memory for each thread
// A process that may not start threads computes without them.
TEST(Threads, AreNotNeeded) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // without stacks of threads that have ended
  auto compute_without_threads = [] {
    set_kernel_threads(4);
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = 1;
    setrlimit(RLIMIT_AS, &limit);
    for (int loop = 0; loop < 3; ++loop) {
      if (shares_of_a_loop() != once(4)) _exit(1);
    }
    _exit(0);
  };
  EXPECT_EXIT(compute_without_threads(), testing::ExitedWithCode(0), "");
}
#endif

TEST(Threads, DoNotHoldUpTheEndOfTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto end = [](int milliseconds) {
    set_kernel_threads(4);
    shares_of_a_loop();
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    std::exit(0);
  };
  // While they spin, and while they sleep.
  for (int milliseconds : {0, 50}) EXPECT_EXIT(end(milliseconds), testing::ExitedWithCode(0), "");
}

// Files of the system, in a directory of their own: a control group's with a substitute for /proc/self/cgroup, or a
// processor's.
class SystemFiles {
 public:
  SystemFiles() { std::filesystem::create_directories(root_); }
  ~SystemFiles() { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  double quota(const std::string& lines) const {
    write("groups", lines);
    return cpu_quota(root_ / "groups", root_ / "mounted");
  }
  int cores(const std::vector<int>& processors) const { return cores_of(processors, root_); }

 private:
  std::filesystem::path root_ = std::filesystem::temp_directory_path() / ("alloy_system_" + std::to_string(getpid()));
};

TEST(Cores, HaveHyperthreads) {
  const SystemFiles files;
  for (int i = 0; i < 4; ++i) {
    files.write("cpu" + std::to_string(i) + "/topology/thread_siblings_list", i % 2 == 0 ? "0,2\n" : "1,3\n");
  }
  EXPECT_EQ(files.cores({0, 1, 2, 3}), 2);
  EXPECT_EQ(files.cores({0, 2}), 1);
  EXPECT_EQ(files.cores({1, 2}), 2);
  EXPECT_EQ(files.cores({0, 1, 2, 3, 4, 5}), 4);  // two that nothing describes
  files.write("cpu4/topology/thread_siblings_list", "");
  EXPECT_EQ(files.cores({4, 5}), 2);
}

TEST(CpuQuota, IsTheLeastOfTheGroups) {
  const SystemFiles groups;
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
  const SystemFiles groups;
  groups.write("mounted/cpu/cpu.cfs_quota_us", "-1\n");
  groups.write("mounted/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(groups.quota("4:cpuacct,cpu:/\n3:memory:/\n"), INFINITY);
  groups.write("mounted/cpu/docker/cpu.cfs_quota_us", "150000\n");
  groups.write("mounted/cpu/docker/cpu.cfs_period_us", "50000\n");
  EXPECT_EQ(groups.quota("9:name=systemd:/docker\n4:cpuacct,cpu:/docker\n"), 3);
  EXPECT_EQ(groups.quota("4:cpuset:/docker\n"), INFINITY);
}

}  // namespace
}  // namespace alloy::test
