// Threads that run the shares of a caller's loops.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace alloy::cpu {

// A pool serves one caller at a time. A share is claimed by whichever thread is there: a worker that is late, or that
// the system does not let run, costs nothing, because the others run its share.
class Pool {
 public:
  using Body = void (*)(const void* context, int share);

  static constexpr int kMostShares = 512;

  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Starts or ends workers, so that the caller and the workers are `threads` threads. If the system cannot start as
  // many, they are half of what it can: other libraries of the program need threads and memory, too.
  void resize(int threads) noexcept;

  // Calls body(context, share) for every share below `shares`, and returns when all have returned. The caller runs
  // share 0.
  void run(int shares, Body body, const void* context) noexcept;

  Pool* next_idle = nullptr;  // in the list of pools that nobody uses

 private:
  // What a thread writes often has a line of its own.
  static constexpr int kLine = 64;

  struct Slot {
    alignas(kLine) std::atomic<uint64_t> claimed{0};  // the last loop whose share of this number was claimed
    alignas(kLine) std::atomic<uint64_t> done{0};     // the last loop whose share of this number has returned
    alignas(kLine) std::atomic<uint32_t> asleep{0};   // 1 while the worker of this number sleeps
    std::thread worker;
  };

  bool claim(int share, uint64_t loop);
  void run_share(int share, uint64_t loop);
  void run_unclaimed(int first, int shares, uint64_t loop);
  void wake_after(int number, int shares);
  void wait_for(int share, uint64_t loop);
  void work(int number, uint64_t posted) noexcept;
  uint64_t wait_for_loop(int number, uint64_t before, bool has_worked);

  // The loop's number and how many shares it has, in one word, so that both change at once.
  static constexpr int kShareBits = 10;
  alignas(kLine) std::atomic<uint64_t> posted_{0};
  Body body_ = nullptr;
  const void* context_ = nullptr;
  alignas(kLine) std::atomic<uint32_t> caller_sleeps_{0};
  std::atomic<int> threads_{1};
  int most_ = kMostShares;  // that the system can start
  Slot slots_[kMostShares];
};

}  // namespace alloy::cpu
