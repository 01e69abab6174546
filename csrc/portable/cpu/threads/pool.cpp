#include "cpu/threads/pool.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "cpu/threads/parallel.h"
#include "host/signals.h"

namespace alloy::cpu {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// A worker that has nothing to do spins for this long before it sleeps: longer than most pauses between the loops of a
// step, and than a user's program takes between two steps. Waking it takes some 50 microseconds.
constexpr microseconds kIdleSpin(200);
// A worker whose own share is done looks for other shares when the loop takes longer than this. A look takes cache
// lines from the threads that compute.
constexpr microseconds kBeforeHelp(2);
// The caller waits for a claimed share for this long before it sleeps, which lets the share's thread have its core.
constexpr microseconds kCallerSpin(50);

// Spins until done(), at most that long. Returns done().
template <class Done>
bool spin(microseconds most, const Done& done) {
  constexpr int kPausesPerLook = 16;
  const auto end = Clock::now() + most;
  do {
    for (int i = 0; i < kPausesPerLook; ++i) {
      if (done()) return true;
      hwy::Pause();
    }
  } while (Clock::now() < end);
  return done();
}

}  // namespace

void Pool::resize(int threads) noexcept {
  threads = std::min(threads, most_);
  if (threads == threads_.load(std::memory_order_relaxed)) return;
  const int before = threads_.exchange(threads, std::memory_order_seq_cst);
  if (threads < before) {
    // A loop without shares, so that every worker looks.
    const uint64_t loop = (posted_.load(std::memory_order_relaxed) >> kShareBits) + 1;
    posted_.store(loop << kShareBits, std::memory_order_seq_cst);
    for (int i = threads; i < before; ++i) {
      slots_[i].asleep.store(0, std::memory_order_seq_cst);
      slots_[i].asleep.notify_one();
      if (slots_[i].worker.joinable()) slots_[i].worker.join();  // the system may not have started it
    }
  }
  const host::BlockSignals blocked;  // they are for the program's own threads
  for (int i = before; i < threads; ++i) {
    try {
      slots_[i].worker = std::thread([this, i, posted = posted_.load(std::memory_order_relaxed)] { work(i, posted); });
    } catch (const std::exception&) {
      most_ = std::max(i / 2, 1);
      return resize(most_);
    }
  }
}

bool Pool::claim(int share, uint64_t loop) {
  uint64_t last = slots_[share].claimed.load(std::memory_order_relaxed);
  return last < loop && slots_[share].claimed.compare_exchange_strong(last, loop, std::memory_order_acq_rel);
}

void Pool::run_share(int share, uint64_t loop) {
  body_(context_, share);
  slots_[share].done.store(loop, std::memory_order_seq_cst);
  if (caller_sleeps_.load(std::memory_order_seq_cst) != 0) {
    caller_sleeps_.store(0, std::memory_order_seq_cst);
    caller_sleeps_.notify_one();
  }
}

void Pool::run_unclaimed(int first, int shares, uint64_t loop) {
  for (int i = first; i < shares; ++i) {
    if (claim(i, loop)) run_share(i, loop);
  }
}

// Wakes the workers below this one in a binary tree, so that no thread wakes all.
void Pool::wake_after(int number, int shares) {
  for (int i = 2 * number + 1; i <= 2 * number + 2 && i < shares; ++i) {
    if (slots_[i].asleep.load(std::memory_order_seq_cst) == 0) continue;
    slots_[i].asleep.store(0, std::memory_order_seq_cst);
    slots_[i].asleep.notify_one();
  }
}

void Pool::wait_for(int share, uint64_t loop) {
  const auto done = [&] { return slots_[share].done.load(std::memory_order_seq_cst) == loop; };
  if (done() || spin(kCallerSpin, done)) return;
  for (;;) {
    caller_sleeps_.store(1, std::memory_order_seq_cst);
    if (done()) break;
    caller_sleeps_.wait(1, std::memory_order_seq_cst);
  }
  caller_sleeps_.store(0, std::memory_order_relaxed);
}

void Pool::run(int shares, Body body, const void* context) noexcept {
  body_ = body;
  context_ = context;
  const uint64_t loop = (posted_.load(std::memory_order_relaxed) >> kShareBits) + 1;
  slots_[0].claimed.store(loop, std::memory_order_relaxed);
  posted_.store(loop << kShareBits | static_cast<uint64_t>(shares), std::memory_order_seq_cst);
  wake_after(0, shares);
  body(context, 0);
  run_unclaimed(1, shares, loop);
  for (int i = 1; i < shares; ++i) wait_for(i, loop);
}

// Returns what is posted once that differs from `before`.
uint64_t Pool::wait_for_loop(int number, uint64_t before, bool has_worked) {
  const auto changed = [&] { return posted_.load(std::memory_order_acquire) != before; };
  if (has_worked) spin(kIdleSpin, changed);
  std::atomic<uint32_t>& asleep = slots_[number].asleep;
  while (!changed()) {
    asleep.store(1, std::memory_order_seq_cst);
    if (posted_.load(std::memory_order_seq_cst) != before) break;
    asleep.wait(1, std::memory_order_seq_cst);
  }
  asleep.store(0, std::memory_order_relaxed);
  return posted_.load(std::memory_order_acquire);
}

void Pool::work(int number, uint64_t posted) noexcept {
  flush_denormals();
  bool has_worked = true;
  for (;;) {
    posted = wait_for_loop(number, posted, has_worked);
    if (number >= threads_.load(std::memory_order_seq_cst)) return;
    const uint64_t loop = posted >> kShareBits;
    const int shares = static_cast<int>(posted & ((1 << kShareBits) - 1));
    has_worked = number < shares;
    if (!has_worked) continue;
    wake_after(number, shares);
    if (claim(number, loop)) run_share(number, loop);
    const auto next = [&] { return posted_.load(std::memory_order_acquire) != posted; };
    if (spin(kBeforeHelp, next)) continue;
    run_unclaimed(number + 1, shares, loop);
    run_unclaimed(1, number, loop);
  }
}

}  // namespace alloy::cpu
