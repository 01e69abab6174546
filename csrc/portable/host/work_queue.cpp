// The in-order queues, their state after a fork, and their draining at the end of the process.

#include "host/work_queue.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "host/pause.h"

namespace alloy::host {

struct QueueState : std::enable_shared_from_this<QueueState> {
  std::mutex mutex;
  std::condition_variable work_added;
  std::condition_variable item_finished;
  std::deque<std::function<void()>> items;
  uint64_t given = 0;     // items and direct runs accepted
  uint64_t finished = 0;  // number of those that are done
  bool busy = false;      // an item or a direct run is executing
  bool has_thread = false;
  bool closed = false;  // the WorkQueue is gone
  std::chrono::microseconds awake{0};
  std::atomic<uint64_t> submitted{0};  // items

  void start_thread();
  void serve();
  void look_for_more(uint64_t before) const;
  void finish_one();
  void drain();
};

namespace {

using namespace std::chrono_literals;

using Clock = std::chrono::steady_clock;

// At the end of the process: how long to wait for a queue in which nothing finishes, and for queues that all wait.
constexpr auto kDrainPatience = 10s;
constexpr auto kWaitPatience = 1s;

std::atomic<bool> g_has_run{false};
std::atomic<int> g_locked{0};
std::atomic<bool> g_forked{false};
std::atomic<bool> g_ending{false};
std::atomic<bool> g_ended{false};
std::atomic<int> g_waiting{0};                 // queues whose item waits for others
std::atomic<Clock::time_point> g_last_work{};  // measured at the end of the process

// The queue whose item this thread executes, and the number of queues that wait for that item, nested.
thread_local const QueueState* t_current = nullptr;
thread_local int t_depth = 0;

class CurrentQueue {
 public:
  explicit CurrentQueue(const QueueState* queue) noexcept : previous_(t_current) {
    t_current = queue;
    ++t_depth;
  }
  ~CurrentQueue() {
    t_current = previous_;
    --t_depth;
  }
  CurrentQueue(const CurrentQueue&) = delete;
  CurrentQueue& operator=(const CurrentQueue&) = delete;

 private:
  const QueueState* previous_;
};

// Every queue that may have work. Never destroyed, because queues may outlive static objects.
struct Registry {
  std::mutex mutex;
  std::vector<std::weak_ptr<QueueState>> queues;
};

Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

std::vector<std::shared_ptr<QueueState>> live_queues() {
  std::vector<std::shared_ptr<QueueState>> live;
  std::lock_guard lock(registry().mutex);
  for (const auto& weak : registry().queues) {
    if (auto queue = weak.lock()) {
      live.push_back(std::move(queue));
    }
  }
  return live;
}

bool is_idle(QueueState& queue) {
  std::lock_guard lock(queue.mutex);
  return queue.items.empty() && (!queue.busy || t_current == &queue);
}

void drain_all() {
  g_last_work.store(Clock::now());
  g_ending.store(true);
  // An item may submit work to another queue, so one pass is not enough. Each pass ends in bounded time.
  for (int pass = 0; pass < 8; ++pass) {
    bool all_idle = true;
    for (const auto& queue : live_queues()) {
      if (is_idle(*queue)) continue;
      all_idle = false;
      queue->drain();
    }
    if (all_idle) break;
  }
}

void drain_at_exit() {
  if (g_forked.load()) return;
  drain_all();
  g_ended.store(true);
}

// exit() ends the objects of its own thread before it calls what has been registered with atexit(). Libraries register
// the end of what they make at first use, behind us, so an item that uses them first must be over by then.
struct DrainsBeforeLibrariesEnd {
  ~DrainsBeforeLibrariesEnd() {
    if (g_forked.load()) return;
    drain_all();
    g_ending.store(false);  // what a program has registered may still use the device
  }
};

void after_fork_in_child() {
  if (g_has_run.load() || g_locked.load() > 0) g_forked.store(true);
  g_locked.store(0);
}

void install_process_hooks() {
  static const bool installed = [] {
    pthread_atfork(nullptr, nullptr, after_fork_in_child);
    std::atexit(drain_at_exit);
    if (gettid() == getpid()) {  // others may end before the process
      static thread_local const DrainsBeforeLibrariesEnd drains;
    }
    return true;
  }();
  (void)installed;
}

const char* refusal() noexcept {
  if (g_forked.load(std::memory_order_relaxed)) {
    return "The device cannot be used in a forked child of a process that has used it.";
  }
  if (g_ended.load(std::memory_order_relaxed)) return "The device cannot be used at the end of the process.";
  return nullptr;
}

// A run on the calling thread. The destructor ends the turn, because a dispatched block may raise.
class DirectRun {
 public:
  explicit DirectRun(QueueState& queue) noexcept : queue_(queue), current_(&queue) {}
  ~DirectRun() {
    std::lock_guard lock(queue_.mutex);
    queue_.finish_one();
    if (!queue_.items.empty()) queue_.work_added.notify_one();
  }
  DirectRun(const DirectRun&) = delete;
  DirectRun& operator=(const DirectRun&) = delete;

 private:
  QueueState& queue_;
  CurrentQueue current_;
};

}  // namespace

void QueueState::start_thread() {
  if (has_thread) return;
  std::thread([self = shared_from_this()] { self->serve(); }).detach();
  has_thread = true;
}

void QueueState::serve() {
  std::unique_lock lock(mutex);
  for (;;) {
    if (items.empty() && awake.count() > 0) {
      const uint64_t before = submitted.load();
      lock.unlock();
      look_for_more(before);
      lock.lock();
    }
    work_added.wait(lock, [&] { return items.empty() ? closed : !busy; });
    if (items.empty() || g_ended.load()) return;
    std::function<void()> item = std::move(items.front());
    items.pop_front();
    busy = true;
    lock.unlock();
    {
      CurrentQueue current(this);
      item();
      item = nullptr;  // release its captures before anybody learns that it is done
    }
    lock.lock();
    finish_one();
  }
}

void QueueState::look_for_more(uint64_t before) const {
  constexpr int kLooks = 20;
  for (const auto end = Clock::now() + awake; Clock::now() < end;) {
    for (int i = 0; i < kLooks; ++i, pause()) {
      if (submitted.load(std::memory_order_relaxed) != before) return;
    }
  }
}

void QueueState::finish_one() {
  busy = false;
  ++finished;
  item_finished.notify_all();
}

void QueueState::drain() {
  std::unique_lock lock(mutex);
  while (!items.empty() || (busy && t_current != this)) {
    const uint64_t seen = finished;
    const auto has_finished = [&] { return finished != seen; };
    if (item_finished.wait_for(lock, kDrainPatience, has_finished)) continue;
    g_runs_shall_end.store(true);
    if (!item_finished.wait_for(lock, kWaitPatience, has_finished)) return;
  }
}

void drain_before_registered() {
  install_process_hooks();
  std::atexit(drain_at_exit);
}

Status process_status() {
  const char* reason = refusal();
  return reason ? Status{reason} : Status{};
}

Status begin_use() {
  if (const char* reason = refusal()) return {reason};
  if (!g_has_run.load(std::memory_order_relaxed)) g_has_run.store(true);
  return {};
}

LocksAreHeld::LocksAreHeld() noexcept { g_locked.fetch_add(1); }
LocksAreHeld::~LocksAreHeld() { g_locked.fetch_sub(1); }

bool process_is_forked() noexcept { return g_forked.load(std::memory_order_relaxed); }

bool process_is_ending() noexcept { return g_ending.load(std::memory_order_relaxed); }

WaitingForOthers::WaitingForOthers() noexcept { g_waiting.fetch_add(t_depth); }
WaitingForOthers::~WaitingForOthers() { g_waiting.fetch_sub(t_depth); }

bool nothing_is_to_come() {
  if (!process_is_ending()) return false;
  int at_work = 0;
  for (const auto& queue : live_queues()) {
    std::lock_guard lock(queue->mutex);
    at_work += queue->busy || !queue->items.empty();
  }
  const auto now = Clock::now();
  if (at_work > g_waiting.load()) {
    g_last_work.store(now);
    return false;
  }
  // Once a wait has given up, later waits need no patience.
  static std::atomic<bool> has_given_up{false};
  if (now - g_last_work.load() >= kWaitPatience) has_given_up.store(true);
  return has_given_up.load();
}

WorkQueue::WorkQueue(std::chrono::microseconds awake) : state_(std::make_shared<QueueState>()) {
  state_->awake = awake;
  install_process_hooks();
  if (refusal()) return;
  std::lock_guard lock(registry().mutex);
  std::erase_if(registry().queues, [](const auto& queue) { return queue.expired(); });
  registry().queues.push_back(state_);
}

WorkQueue::~WorkQueue() {
  if (refusal()) return;
  std::lock_guard lock(state_->mutex);
  state_->closed = true;
  state_->work_added.notify_one();
}

bool WorkQueue::run_if_idle(ir::Callable work) {
  if (!begin_use().ok()) return false;
  QueueState& state = *state_;
  {
    std::lock_guard lock(state.mutex);
    if (state.busy || !state.items.empty()) return false;
    state.busy = true;
    ++state.given;
  }
  const DirectRun turn(state);
  work();
  return true;
}

Status WorkQueue::run(ir::Callable work) {
  if (Status status = begin_use(); !status.ok()) return status;
  if (is_calling()) {
    work();
    return {};
  }
  if (run_if_idle(work)) return {};
  if (Status status = submit([&work] { work(); }); !status.ok()) return status;
  return wait();
}

Status WorkQueue::submit(std::function<void()>&& work) {
  if (Status status = begin_use(); !status.ok()) return status;
  QueueState& state = *state_;
  std::lock_guard lock(state.mutex);
  try {
    state.start_thread();
  } catch (const std::system_error&) {
    return {"The device could not start a thread."};
  }
  state.items.push_back(std::move(work));
  ++state.given;
  ++state.submitted;
  if (!state.busy) state.work_added.notify_one();
  return {};
}

bool WorkQueue::is_calling() const noexcept { return t_current == state_.get(); }

Status WorkQueue::wait() {
  if (const char* reason = refusal()) return {reason};
  QueueState& state = *state_;
  if (is_calling()) return {};
  std::unique_lock lock(state.mutex);
  const uint64_t target = state.given;
  state.item_finished.wait(lock, [&] { return state.finished >= target; });
  return {};
}

}  // namespace alloy::host
